-- shorter_spec: how many layers stand for a whole model, for which models, and what is worked out from their times.
local helper = require("tests.spec.helper")
local lfs = require("lfs")
local measure = require("commands.tune.measure")
local shorter = require("commands.tune.shorter")
local subject = require("commands.tune.subject")

describe("a model with fewer layers", function()
  after_each(helper.clean)

  it("has weights of twice the largest cache", function()
    local folder = helper.folder()
    for index, size in ipairs { "32K\n", "8192K\n", "3M\n", "all\n" } do
      lfs.mkdir(("%s/index%d"):format(folder, index - 1))
      helper.write(("%s/index%d/size"):format(folder, index - 1), size)
    end
    assert.equal(8 << 20, shorter.cache(folder))
    assert.is_nil(shorter.cache(folder .. "/none"))
    local products = { { count = 24, bytes = 900 }, { count = 12, bytes = 300 }, { count = 1, bytes = 5000 } }
    assert.equal(6, shorter.count(12, products, 300))
    assert.is_nil(shorter.count(12, products, 301)) -- seven layers: two models would cost more than they save
    assert.equal(2, shorter.count(12, products, 1)) -- a layer comes after another one
    assert.is_nil(shorter.count(3, products, 1))
  end)

  it("has the same products, as many in each layer", function()
    local function alike(few) return shorter.is_alike({ p = { count = 12 }, q = { count = 1 } }, few, 2, 6) end
    assert.is_true(alike { p = { count = 4 }, q = { count = 1 } })
    assert.is_false(alike { p = { count = 3 }, q = { count = 1 } })
    assert.is_false(alike { p = { count = 4 } })
    assert.is_false(alike { p = { count = 4 }, q = { count = 1 }, r = { count = 1 } })
  end)

  it("stands for all where layers are alike, and not where one is named", function()
    local usual = shorter.cache
    shorter.cache = function() return 1 end
    local function layers_of(more)
      local path = helper.file("return { name = 'tiny', seq = 8, d_model = 16, heads = 2, layers = 6, target = 'avx512'"
        .. more .. " }")
      local state = require("pipeline").run(helper.root, path, { "layers=8", "threads=1" }, "plan")
      local list, count, bytes = shorter.of(helper.root, { description = path }, { "layers=8", "threads=1" }, state,
        measure.products(state))
      return list and table.concat(list, " "), count, bytes
    end
    assert.same({ "layers=2 threads=1", 2, 2 }, { layers_of("") })
    assert.same({}, { layers_of(", attention_output = { layers = { 5 } }") })
    shorter.cache = usual
  end)

  it("gives times as of all layers", function()
    local whole = { p = { flops = 120 }, q = { flops = 10 } }
    local few = subject.new { products = whole }
    few.rule_built = { products = { p = { flops = 20 }, q = { flops = 10 } } }
    few.last_rule = { ms = 4, of = { p = { own = 2 }, q = { own = 1 } } }
    assert.near(12 / 14, few:part("p"), 1e-9)
    assert.near(1 / 14, few:part("q"), 1e-9)
    local usual = measure.run
    measure.run = function() return { of = { p = { ms = 2 }, q = { ms = 1 } } } end
    local result = few:run(few.rule_built)
    measure.run = usual
    assert.same({ 12, 1 }, { result.of.p.ms, result.of.q.ms })
  end)
end)
