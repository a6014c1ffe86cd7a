-- search_spec: which candidates `tune` tries in the model, each once; their number and names; how times are judged.
require("tests.spec.helper")
local candidates = require("passes.plan.candidates")
local search = require("commands.tune.search")

describe("the search", function()
  local product = { key = "p", main = "p", least_panel = 32, outputs = 64, inputs = 256, rows = 32 }
  local rule = { kernels = "c", panel = 64, token_block = 128, call_rows = 4096, fetch = 0, stream = 0 }

  it("proposes what comes to something new, once", function()
    local seen = { [search.signature(product, rule)] = true }
    local found = {}
    for _, round in ipairs(search.rounds) do
      for _, each in ipairs(search.moves(round, product, rule, {}, seen)) do
        local signature = search.signature(product, each)
        assert.is_nil(seen[signature])
        found[signature] = (found[signature] or 0) + 1
      end
      for signature in pairs(found) do seen[signature] = true end
    end
    for _, count in pairs(found) do assert.equal(1, count) end
    assert.truthy(next(found))
  end)

  it("leaves alone what the description decides", function()
    for _, round in ipairs(search.rounds) do
      for _, each in ipairs(search.moves(round, product, rule, { panel = 48, fetch = 1 }, {})) do
        assert.equal(48, each.panel)
        assert.equal(1, each.fetch)
      end
    end
  end)

  it("goes through the candidates that the bound is timed with", function()
    local rows = { key = "p", main = "p", least_panel = 32, outputs = 256, inputs = 768, rows = 256 }
    local names = { "kernels", "stream", "panel", "call_rows", "fetch" }
    local function form(each)
      local parts = {}
      for i, name in ipairs(names) do parts[i] = tostring(each[name]) end
      return table.concat(parts, " ")
    end
    local known, tried = {}, 0
    for _, kernels in ipairs { "c", "libxsmm" } do
      for _, each in ipairs(candidates.of(rows, kernels)) do known[form(each)] = true end
    end
    for _, round in ipairs(search.rounds) do
      for _, each in ipairs(search.moves(round, rows, rule, {}, {})) do
        assert.is_true(known[form(each)], form(each))
        tried = tried + 1
      end
    end
    assert.is_true(tried > 20)
  end)

  it("moves a token block only of the product that decides it", function()
    local member = { key = "p", main = "q", least_panel = 32, outputs = 64, inputs = 256, rows = 256 }
    assert.same({}, search.moves("token_blocks", member, rule, {}, {}))
  end)

  it("counts what it will try: token blocks once more, for the regions that they are compared with", function()
    for rows, more in pairs { [256] = 1, [32] = 0 } do -- 32 rows are one block
      local of = setmetatable({ rows = rows, fixed = {} }, { __index = product })
      local best = setmetatable({ stream = 3072 }, { __index = rule })
      local seen, sum, blocks = { [search.signature(of, best)] = true }, 0, nil
      for _, name in ipairs { "in_c", "libxsmm", "token_blocks" } do
        blocks = #search.moves(name, of, best, {}, seen)
        sum = sum + blocks
      end
      assert.equal(more == 1, blocks > 0)
      assert.equal(sum + more, search.count({ of }, { p = best }, { p = seen }))
    end
  end)

  it("names each candidate as no other one", function()
    for _, size in ipairs { { 256, 256, 128 }, { 384, 1536, 8 }, { 30, 77, 14 }, { 2, 384, 1 } } do
      local shape, texts = { outputs = size[1], inputs = size[2], rows = size[3] }, {}
      for _, list in ipairs { candidates.of(shape, "c"), candidates.of(shape, "libxsmm") } do
        for _, each in ipairs(list) do
          local text = search.text(shape, each)
          assert.is_nil(texts[text], text)
          texts[text] = true
        end
      end
    end
  end)

  it("gives the rate of the times that were measured, and not of a ratio to faster ones", function()
    assert.equal(2, search.rate(2e6, { 2, 1, 4 }))
    assert.equal(0, search.rate(2e6, {}))
    assert.equal(0, search.rate(2e6, { 0 }))
  end)

  it("judges by median and quartiles", function()
    assert.is_nil(search.spread {})
    local median, spread = search.spread { 1, 1, 1, 1, 100 }
    assert.equal(1, median)
    assert.equal(0, spread)
    median, spread = search.spread { 4, 1, 3, 2 }
    assert.equal(2.5, median)
    assert.is_true(math.abs(spread - 1.5 / 1.349) < 1e-12)
  end)
end)
