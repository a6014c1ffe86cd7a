-- fuse_spec: which product is fused with the step after it, of steps written by hand: models have no step that reads
-- sums later, and none whose map is of another unit.
require("tests.spec.helper")
local fuse = require("passes.fuse")

local function operand(buffer, offset) return { buffer = buffer, offset = offset or 0, class = "arena" } end

-- A product of int8 whose sums a map turns into rows of floats, and steps after it. change: of both steps.
local function joint(change, ...)
  local product = { form = "product", unit = 1, outputs = 16, kernel = { strips = { form = "int8_quads" }, beta = 0,
    types = { a = "i8", b = "i8" }, n = 4, ldc = 16 }, arguments = { a = operand("w"), b = operand("rows"),
    c = operand("sums") } }
  local map = { form = "map", unit = 1, constants = { rows = 4, cols = 16, ld = 16 },
    elementwise = { { kind = "load_integers", argument = "x", ld = 16 } },
    arguments = { y = operand("result"), x = operand("sums") } }
  local program = { buffers = { w = {}, rows = {}, sums = { private = "unit" }, result = {}, other = {} } }
  if change then change(product, map, program) end
  return fuse.joint(program, { product, map, ... }, 1), map
end

-- A step of a unit that reads one buffer and writes another.
local function step(unit, from, to)
  return { form = "map", unit = unit, constants = {}, elementwise = { { kind = "load", argument = "x" } },
    arguments = { y = operand(to), x = operand(from) } }
end

describe("a product and the map after it", function()
  it("are fused, with sums on the stack", function()
    local pair, map = joint()
    assert.same({ map, true }, { pair.map, pair.is_local })
    assert.is_table(joint(nil, step(1, "result", "other")))
  end)

  it("are not if a later step of the unit reads the sums", function()
    assert.is_nil(joint(nil, step(1, "sums", "other")))
    assert.is_nil(joint(nil, step(1, "result", "other"), step(1, "sums", "other")))
    assert.is_table(joint(nil, step(2, "sums", "other")))
    assert.is_table(joint(nil, step(1, "other", "sums")))
  end)

  it("are not if they are of two units, or of other rows, outputs or sums", function()
    for _, change in ipairs {
      function(_, map) map.unit = 2 end, function(_, map) map.constants.rows = 3 end,
      function(_, map) map.constants.cols = 15 end, function(_, map) map.elementwise[1].ld = 32 end,
      function(_, map) map.arguments.x = operand("other") end,
      function(_, map) map.arguments.x = operand("sums", 64) end, function(_, map) map.form = "row" end,
      function(product) product.kernel.beta = 1 end, function(product) product.kernel.types.b = "f32" end,
      function(product) product.kernel.strips.form = "int8_tiles" end,
    } do
      assert.is_nil(joint(change))
    end
  end)

  it("are fused if a call knows the rows of both by one symbol, and no other size", function()
    local function open(product, map)
      product.kernel.open, product.sizes, map.constants.open, map.sizes = "n", { n = "rows" }, "rows", { rows = "rows" }
    end
    assert.is_table(joint(open))
    for _, change in ipairs {
      function(product) product.kernel.open = nil end, function(_, map) map.constants.open = nil end,
      function(_, map) map.sizes.rows = "piece" end, function(product) product.kernel.open = "n k" end,
      function(_, map) map.constants.open = "rows cols" end,
    } do
      assert.is_nil(joint(function(product, map)
        open(product, map)
        change(product, map)
      end))
    end
  end)

  it("are not if others may read the sums, or if the map writes what the product reads", function()
    assert.is_nil(joint(function(_, _, program) program.buffers.sums.private = nil end))
    assert.is_nil(joint(function(_, map) map.arguments.y = operand("rows") end))
    assert.is_nil(joint(function(_, _, program) program.buffers.result.over = "rows" end))
  end)
end)
