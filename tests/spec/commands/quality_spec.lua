-- quality_spec: arrays as programs write them, and what tells two apart.
local helper = require("tests.spec.helper")
local arrays = require("commands.quality.arrays")

describe("two arrays", function()
  local function of(...) return { shape = { select("#", ...) // 2, 2 }, values = { ... } } end

  it("that are the same have the cosine 1 and no difference", function()
    local d = arrays.compare(of(1.0, 2.0, 3.0, -4.0), of(1.0, 2.0, 3.0, -4.0))
    assert.is_true(math.abs(d.cosine - 1) < 1e-12)
    assert.same({ 0.0, 0.0, 1.0 }, { d.relative, d.largest, d.top })
  end)

  it("are compared by length, by their largest difference, and row by row by what is largest", function()
    local d = arrays.compare(of(3.0, 4.0, 0.0, 0.0), of(3.0, 4.5, 0.0, 0.0))
    assert.equal(0.1, d.relative)
    assert.equal(0.5, d.largest)
    assert.equal(1.0, d.top)
    assert.equal(0.5, arrays.compare(of(1.0, 2.0, 1.0, 2.0), of(1.0, 2.0, 2.0, 1.0)).top)
    assert.equal(0.0, arrays.compare(of(1.0, 0.0), of(0.0, 1.0)).cosine)
  end)

  it("of which one has a NaN where the other has a number are apart as far as can be", function()
    for _, odd in ipairs { 0 / 0, math.huge } do
      local d = arrays.compare(of(odd, 1.0), of(1.0, 1.0))
      assert.same({ largest = math.huge, top = d.top }, d) -- no cosine of what is left over
    end
    assert.equal(0.0, arrays.compare(of(0 / 0, 1.0), of(0 / 0, 1.0)).largest)
  end)

  it("of integers are alike where these are", function()
    local a = { shape = { 4 }, values = { 1, 2, 3, 4 }, integers = true }
    local b = { shape = { 4 }, values = { 1, 2, 3, 5 }, integers = true }
    assert.same({ top = 0.75 }, arrays.compare(a, b))
  end)
end)

describe("an array of random values", function()
  teardown(helper.clean)

  it("reads back with its shape and type", function()
    math.randomseed(3, 0)
    local read = arrays.read(helper.file(arrays.random({ 2, 500 }, "f32")))
    assert.same({ 2, 500 }, read.shape)
    local sum, squares = 0.0, 0.0
    for _, value in ipairs(read.values) do sum, squares = sum + value, squares + value * value end
    assert.is_true(math.abs(sum / 1000) < 0.15 and math.abs(squares / 1000 - 1) < 0.15)
    local ids = arrays.read(helper.file(arrays.random({ 64 }, "i32", 3, 6)))
    assert.is_true(ids.integers)
    for _, id in ipairs(ids.values) do assert.is_true(id >= 3 and id < 6) end
  end)
end)
