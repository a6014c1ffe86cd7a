-- calibrate_spec: the search of factors: what it expects of rounding is what rounding does.
local helper = require("tests.spec.helper")
local search = require("commands.calibrate.search")
local weights = require("commands.calibrate.weights")

local ROWS, WIDTH, OUTPUTS = 64, 24, 20

local function normal() return math.sqrt(-2 * math.log(1 - math.random())) * math.cos(2 * math.pi * math.random()) end

-- Rows of activations and weights [out][in]; large: how large every seventh channel is.
local function made(large)
  math.randomseed(2, 0)
  local rows, matrix = {}, {}
  local function factor(j) return j % 7 == 2 and large or 1 end
  for i = 1, ROWS do
    rows[i] = {}
    for j = 1, WIDTH do rows[i][j] = normal() * factor(j) end
  end
  for o = 1, OUTPUTS do
    matrix[o] = {}
    for j = 1, WIDTH do matrix[o][j] = normal() / factor(j) end
  end
  return rows, matrix
end

local function activations_of(rows)
  local of = { largest = {}, squares = {}, rows = rows }
  for j = 1, WIDTH do
    of.largest[j], of.squares[j] = 0.0, 0.0
    for _, row in ipairs(rows) do
      of.largest[j] = math.max(of.largest[j], math.abs(row[j]))
      of.squares[j] = of.squares[j] + row[j] ^ 2 / #rows
    end
  end
  return of
end

-- As weights.reader gives a matrix.
local function reader_of(matrix)
  return function(see)
    local inputs = {}
    for j = 1, WIDTH do
      inputs[j] = {}
      for o = 1, OUTPUTS do inputs[j][o] = matrix[o][j] end
    end
    see(inputs)
  end
end

-- A row as whole numbers, with its step.
local function quantised(row, powers, way)
  local list, largest = {}, 0
  for j = 1, WIDTH do
    list[j] = row[j] * 2.0 ^ (way * powers[j])
    largest = math.max(largest, math.abs(list[j]))
  end
  for j = 1, WIDTH do list[j] = math.floor(list[j] * 127 / largest + 0.5) end
  return list, largest / 127
end

-- The root of the mean square of what int8 makes wrong of all products.
local function error_of(rows, matrix, powers)
  local sum = 0
  for _, row in ipairs(rows) do
    local x, dx = quantised(row, powers, -1)
    for _, outputs in ipairs(matrix) do
      local w, dw = quantised(outputs, powers, 1)
      local exact, whole = 0, 0
      for j = 1, WIDTH do exact, whole = exact + row[j] * outputs[j], whole + x[j] * w[j] end
      sum = sum + (whole * dx * dw - exact) ^ 2
    end
  end
  return math.sqrt(sum / (ROWS * OUTPUTS))
end

describe("the search of factors", function()
  after_each(helper.clean)

  -- Far above 30 the numbers beside outliers are less than half a step, and what they lose is less than a step's part.
  it("expects of factors what rounding makes of them", function()
    for _, large in ipairs { 4, 10, 30 } do
      local rows, matrix = made(large)
      local found = search.best(activations_of(rows), { reader_of(matrix) })
      local none = {}
      for j = 1, WIDTH do none[j] = 0 end
      local real = error_of(rows, matrix, found.powers) / error_of(rows, matrix, none)
      assert.is_true(real < 0.6 and math.abs(real / found.error - 1) < 0.15, ("%g: %.3f, expected %.3f"):format(large,
        real, found.error))
      assert.is_true(found.powers[2] > found.powers[1])
    end
  end)

  it("leaves channels that are alike as they are, and those of zeros alone", function()
    local rows, matrix = made(1)
    local found = search.best(activations_of(rows), { reader_of(matrix) })
    assert.is_true(found.error > 0.95, tostring(found.error))
    local zeros = {}
    for j = 1, WIDTH do zeros[j] = 0.0 end
    found = search.best(activations_of { zeros }, { reader_of(matrix) })
    assert.same({ 1, nil }, { found.error, found.strength })
  end)

  it("reads weights where they lie in a packed file", function()
    local entry = helper.tiny({ d_model = 48, heads = 2, d_ff = 200 }, "memory")
    local name, inputs, outputs = "l0.ff.up.weight", 48, 200
    local block, at = {}, entry.weights.offsets[name]
    for _, width in ipairs(entry.weights.layouts[name].widths) do
      local ld = (width + 15) // 16 * 16
      for j = 0, inputs - 1 do
        for o = 0, ld - 1 do block[#block + 1] = ("<f"):pack(o < width and 1000 * j + #block % 7 or 0) end
      end
    end
    local seen, sum = 0, 0
    weights.reader(("\0"):rep(4096 + at) .. table.concat(block), entry, name)(function(list)
      assert.equal(inputs, #list)
      for j, each in ipairs(list) do
        seen = seen + #each
        for _, value in ipairs(each) do
          sum = sum + value
          assert.equal(j - 1, value // 1000)
        end
      end
    end)
    assert.equal(inputs * outputs, seen)
  end)
end)
