-- footprint_spec: bounds, counts and rectangles of an operand's elements, against all of them listed.
require("tests.spec.helper")
local footprint = require("data.footprint")

-- Every element of a list of dimensions, as a set; and how many of them there are.
local function listed(dimensions)
  local all = { [dimensions.first] = true }
  for _, dimension in ipairs(dimensions) do
    local more = {}
    for element in pairs(all) do
      for i = 0, dimension[1] - 1 do more[element + i * dimension[2]] = true end
    end
    all = more
  end
  return all
end

local forms = {
  { first = 3 }, { first = 0, { 4, 1 } }, { first = 5, { 3, 16 }, { 7, 1 } }, { first = 0, { 3, 7 }, { 7, 1 } },
  { first = 9, { 5, -1 }, { 4, 1 } }, { first = 20, { 5, 9 }, { 8, -1 } },
  { first = 0, { 2, 100 }, { 3, 16 }, { 7, 1 } },
  { first = 0, { 4, 8 }, { 3, 40 }, { 8, 1 } }, { first = 0, { 4, 8 }, { 3, 32 }, { 8, 1 } },
  { first = 0, { 2, 48 }, { 3, 16 }, { 7, 1 } }, { first = 2, { 1, 5 }, { 6, 3 } }, { first = 0, { 3, 4 }, { 6, 1 } },
}

describe("a footprint", function()
  it("reaches from its lowest to its highest element", function()
    for i, form in ipairs(forms) do
      local low, high = math.huge, -math.huge
      for element in pairs(listed(form)) do low, high = math.min(low, element), math.max(high, element) end
      assert.same({ low, high }, { footprint.reach(form) }, "form " .. i)
    end
  end)

  it("as rectangles has the same elements", function()
    for i, form in ipairs(forms) do
      local got, expected = {}, {}
      for _, box in ipairs(footprint.boxes(form)) do
        for row = 0, box.rows - 1 do
          for column = 0, box.cols - 1 do got[box.first + row * box.ld + column] = true end
        end
      end
      for element in pairs(listed(form)) do expected[element] = true end
      assert.same(expected, got, "form " .. i)
    end
  end)

  it("of what steps mostly touch is one rectangle", function()
    assert.same({ { first = 5, rows = 3, cols = 7, ld = 16 } }, footprint.boxes({ first = 5, { 3, 16 }, { 7, 1 } }))
    assert.same({ { first = 0, rows = 1, cols = 21, ld = 0 } }, footprint.boxes({ first = 0, { 3, 7 }, { 7, 1 } }))
    -- blocks of a batch side by side, and one after the other
    assert.same({ { first = 0, rows = 3, cols = 32, ld = 40 } },
      footprint.boxes({ first = 0, { 4, 8 }, { 3, 40 }, { 8, 1 } }))
    assert.same({ { first = 0, rows = 6, cols = 7, ld = 16 } },
      footprint.boxes({ first = 0, { 2, 48 }, { 3, 16 }, { 7, 1 } }))
  end)

  it("in bytes has every byte of its elements", function()
    for i, form in ipairs(forms) do
      for _, size in ipairs { 1, 2, 4 } do
        local expected = {}
        for element in pairs(listed(form)) do
          for byte = 0, size - 1 do expected[element * size + byte] = true end
        end
        local got = {}
        for byte in pairs(listed(footprint.in_bytes(form, size))) do got[byte] = true end
        assert.same(expected, got, ("form %d of %d bytes"):format(i, size))
      end
    end
  end)

  it("counts what a product's blocks read", function()
    assert.equal(42, footprint.elements { first = 0, { 2, 48 }, { 3, 16 }, { 7, 1 } })
  end)
end)
