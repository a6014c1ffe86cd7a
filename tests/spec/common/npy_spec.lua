-- npy_spec.lua: headers of .npy files: what is written is read, in both versions of the format, and what is cut or no
-- array is refused.
require("tests.spec.helper")
local npy = require("common.npy")

describe("a file of an array", function()
  it("is read as it was written", function()
    for _, shape in ipairs { {}, { 0 }, { 3 }, { 2, 3, 4 } } do
      local text = npy.file("<f4", shape, "values")
      local found = npy.header(text)
      assert.same({ "<f4", shape, false, "values" }, { found.descr, found.shape, found.is_fortran, text:sub(found.at) })
      assert.equal(1, found.at % 64)
    end
  end)

  it("may have the header of version 2, and may be in Fortran order", function()
    local text = npy.file("<i8", { 2, 5 }, ""):sub(11):gsub("False", "True ")
    local found = npy.header("\x93NUMPY\2\0" .. ("<s4"):pack(text))
    assert.same({ "<i8", { 2, 5 }, true, 10.0 }, { found.descr, found.shape, found.is_fortran, found.count })
  end)

  it("is refused if it is no array, or cut", function()
    local text = npy.file("<f4", { 3 }, "")
    for _, each in ipairs { { "", "complete" }, { "GIF89a", "complete" }, { text:sub(1, 9), "is cut off" },
      { text:sub(1, 40), "complete" }, { (text:gsub("shape", "other")), "complete" } } do
      local found, wrong = npy.header(each[1])
      assert.is_nil(found)
      assert.matches(each[2], wrong)
    end
  end)
end)
