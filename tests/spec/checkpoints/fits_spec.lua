-- fits_spec: which shapes and types of a file's tensors fit what a model's weights need.
local helper = require("tests.spec.helper")
local fits = require("checkpoints.fits")

describe("a tensor's shape", function()
  it("fits with ones more or less, and with axes after the first as one", function()
    for _, case in ipairs {
      { { 5, 7 }, { 5, 7 }, true }, { { 7, 5 }, { 5, 7 }, false }, { { 5 }, { 5, 7 }, false },
      { { 1, 5, 7 }, { 5, 7 }, true }, { { 5, 1 }, { 5 }, true }, { { 5 }, { 1, 5 }, true },
      { { 5, 3, 2, 2 }, { 5, 12 }, true }, { { 4, 3, 2, 2 }, { 5, 12 }, false }, { { 5, 3, 2, 2 }, { 5, 13 }, false },
      { { 5, 2 }, { 10 }, false }, { { 5, 12 }, { 5, 3, 2, 2 }, false },
    } do
      assert.equal(case[3], fits.shape(case[1], case[2]), table.concat(case[1], " ") .. "; "
        .. table.concat(case[2], " "))
    end
  end)

  it("has any number of rows where a rule takes one of them", function()
    for _, case in ipairs { { { 3, 7 }, true }, { { 1, 7 }, true }, { { 3, 8 }, false }, { { 7 }, false } } do
      assert.equal(case[2], fits.shape(case[1], { -1, 7 }))
    end
  end)
end)

describe("the tensors of a folder", function()
  -- The lines of the fault of a model of these weights: { names, shape }.
  local function lines_of(weights, tensors)
    local graph = { weights = {}, tensors = {} }
    for i, stored in ipairs(weights) do
      graph.weights[i] = "w" .. i
      graph.tensors["w" .. i] = { from = { stored = { { names = stored[1], shape = stored[2] } } } }
    end
    local fault = helper.fault(fits.check, { graph }, tensors, "f")
    return fault and fault.lines or {}
  end

  it("are of a type that can be read, and there", function()
    local weights = { { { "a", "b" }, { 2, 3 } } }
    for _, dtype in ipairs { "F64", "F32", "F16", "BF16" } do
      assert.same({}, lines_of(weights, { b = { dtype = dtype, shape = { 2, 3 } } }))
    end
    for _, dtype in ipairs { "I64", "I8", "F8_E4M3", "BOOL" } do
      assert.same({ ("f: b: type %s, but F32, F64, F16 or BF16 is expected"):format(dtype) },
        lines_of(weights, { b = { dtype = dtype, shape = { 2, 3 }, expected = "F32, F64, F16 or BF16" } }))
    end
    assert.same({ "f: a: shape [3, 2], but config.json and the command line ask for [2, 3]" },
      lines_of(weights, { a = { dtype = "F32", shape = { 3, 2 } }, b = { dtype = "F32", shape = { 2, 3 } } }))
    assert.equal(1, #lines_of(weights, {}))
    assert.matches("^f: a: missing %(also looked for b%)", lines_of(weights, {})[1])
  end)
end)
