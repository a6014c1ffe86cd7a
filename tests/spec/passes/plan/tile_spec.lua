-- tile_spec: the calls of a tile cover its rows and inputs once, in an order that begins each
-- sum before it adds to it, and fetch each line of the K panels ahead once; the strips of a product in C
-- ask for all lines of a panel ahead.
require("tests.spec.helper")
local divide = require("passes.common.divide")
local tile = require("passes.plan.tile")
local types = require("data.types")

local function parameters(more)
  local all = { k_order = "outer", call_rows = 4096, k_panel = 8192, fetch = 0 }
  for name, value in pairs(more or {}) do all[name] = value end
  return all
end

local function calls(rows, k, block, more)
  return tile.calls(rows, 32, divide.k_blocks(k, block), parameters(more), "f32")
end

describe("the calls of a tile", function()
  it("are one where nothing divides it", function()
    assert.same({ { row = 0, rows = 7, first = 0, size = 30, blocks = 1, beta = 0 } }, calls(7, 30, 64))
    assert.same({ { row = 0, rows = 7, first = 0, size = 64, blocks = 3, beta = 0 } },
      calls(7, 192, 64, { k_order = "reduce" }))
  end)

  it("take K panels, then strips, then K blocks", function()
    local order = {}
    for i, call in ipairs(calls(20, 256, 64, { call_rows = 10, k_panel = 128 })) do
      order[i] = ("%d %d %d"):format(call.row, call.first, call.beta)
    end
    assert.same({ "0 0 0", "0 64 1", "10 0 0", "10 64 1", "0 128 1", "0 192 1", "10 128 1", "10 192 1" }, order)
  end)

  it("cover every row and input once, whatever the parameters, and begin before they add", function()
    local random = 1
    local function draw(list)
      random = random * 48271 % 2147483647
      return list[random % #list + 1]
    end
    for _ = 1, 300 do
      local rows, k = draw { 1, 8, 13, 32, 99, 128 }, draw { 3, 19, 64, 100, 384, 768, 1000 }
      local p = { k_order = draw { "reduce", "outer" }, call_rows = draw { 1, 6, 9, 14, 4096 },
        k_panel = draw { 8, 96, 100, 768, 8192 }, fetch = draw { 0, 1, 3 } }
      local k_blocks = divide.k_blocks(k, draw { 8, 24, 64, 8192 })
      local next_input, fetched, from = {}, 0, nil
      for _, call in ipairs(tile.calls(rows, 32, k_blocks, parameters(p), "f32")) do
        for row = call.row, call.row + call.rows - 1 do
          assert.equal(next_input[row] or 0, call.first)
          assert.equal(call.first == 0 and 0 or 1, call.beta)
          next_input[row] = call.first + call.size * call.blocks
        end
        if call.fetch then
          assert.is_true(call.fetch.lines > 0)
          from = from or call.fetch.from
          assert.equal(from + 64 * fetched, call.fetch.from)
          fetched = fetched + call.fetch.lines
        end
      end
      for row = 0, rows - 1 do assert.equal(k, next_input[row]) end
      assert.equal(p.fetch > 0 and 2 * k or 0, fetched) -- two lines an input
    end
  end)
end)

describe("what a product in C asks for ahead", function()
  -- tile.ahead for a panel of k rows, `lda` floats each; groups and rows: shares of strips.
  local function ahead(k, lda, groups, rows, more)
    local p = { fetch = 1, stream = 8192 }
    for name, value in pairs(more or {}) do p[name] = value end
    return tile.ahead({ k = k, lda = lda, types = types.f32_product }, { groups = groups, strips = rows }, p, 16)
  end

  it("is the panel that is `fetch` ahead, a share a strip", function()
    -- 768 rows of 3 lines, 16 strips: 144 lines each, three at a time, 48 times: every 16 inputs.
    assert.same({ from = 768 * 48 * 4, each = 144 * 64, every = 16, lines = 3 },
      ahead(768, 48, { { count = 1, size = 3 } }, { { count = 16, size = 8 } }))
    assert.equal(3 * 768 * 48 * 4,
      ahead(768, 48, { { count = 1, size = 3 } }, { { count = 16, size = 8 } }, { fetch = 3 }).from)
  end)

  it("is what lies `stream` bytes ahead in the same weights where one strip reads them once", function()
    assert.same({ from = 8192, each = 768 * 3 * 64, every = 1, lines = 3 },
      ahead(768, 48, { { count = 1, size = 3 } }, { { count = 1, size = 8 } }))
    assert.equal(4096, ahead(768, 48, { { count = 1, size = 3 } }, { { count = 1, size = 8 } },
      { fetch = 0, stream = 4096 }).from)
  end)

  it("is nothing where the parameter is 0", function()
    assert.is_false(ahead(768, 48, { { count = 1, size = 3 } }, { { count = 16, size = 8 } }, { fetch = 0 }))
    assert.is_false(ahead(768, 48, { { count = 1, size = 3 } }, { { count = 1, size = 8 } }, { stream = 0 }))
  end)

  it("leaves no line out, whatever the strips, and asks for few twice", function()
    for _, k in ipairs { 1, 3, 19, 64, 100, 768, 3072 } do
      for _, lines in ipairs { 1, 2, 3, 5, 8 } do
        for vectors = 1, 5 do
          for groups = 1, 3 do
            for _, strips in ipairs { 1, 2, 5, 16, 39 } do
              local found = ahead(k, 16 * lines, { { count = groups, size = vectors } },
                { { count = strips, size = 5 } })
              local share, panel, times = found.each // 64, k * lines, (k + found.every - 1) // found.every
              local function wrong(how)
                error(("k %d, %d lines, %d x %d vectors, %d strips: %s"):format(k, lines, groups, vectors, strips, how))
              end
              if share * groups * strips < panel or times * found.lines < share then wrong("leaves lines out") end
              if times * found.lines - share >= math.max(times, share) then wrong("asks for too many") end
              if found.lines < 1 or found.every < 1 or found.every > k then wrong("asks never") end
            end
          end
        end
      end
    end
  end)

  it("counts cache lines of other numbers, and asks at whole groups of inputs", function()
    for _, of in ipairs { types.product("bf16"), types.product("i8") } do
      for _, k in ipairs { 5, 64, 767, 768 } do
        local shape = { k = k, lda = 48, types = of }
        local found = tile.ahead(shape, { groups = { { count = 1, size = 3 } }, strips = { { count = 16, size = 8 } } },
          { fetch = 1, stream = 8192 }, 16)
        local panel, group = types.panel_bytes(k, 48, of.a), types.group(of.a)
        assert.equal(panel, found.from)
        assert.equal(0, found.every % group)
        local asks = math.max(1, (k // group * group + found.every - 1) // found.every)
        assert.is_true(16 * asks * found.lines * 64 >= panel)
      end
    end
  end)
end)
