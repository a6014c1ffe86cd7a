-- rectangles_spec: sets of rectangles against the same sets as lists of elements.
require("tests.spec.helper")
local rectangles = require("passes.checks.rectangles")

local SIDE = 8

local function cells_of(set)
  local cells = {}
  for _, r in ipairs(set) do
    for row = r[1], r[2] - 1 do
      for column = r[3], r[4] - 1 do cells[row * SIDE + column] = true end
    end
  end
  return cells
end

local function drawn()
  local top, left = math.random(0, SIDE - 1), math.random(0, SIDE - 1)
  return { top, math.random(top + 1, SIDE), left, math.random(left + 1, SIDE) }
end

describe("rectangles", function()
  it("added, taken out and asked for are as their elements", function()
    math.randomseed(1)
    for _ = 1, 200 do
      local set, cells = {}, {}
      for _ = 1, 8 do
        local r = drawn()
        if math.random() < 0.3 then
          rectangles.remove(set, r)
          for cell in pairs(cells_of { r }) do cells[cell] = nil end
        else
          rectangles.add(set, r)
          for cell in pairs(cells_of { r }) do cells[cell] = true end
        end
        assert.same(cells, cells_of(set))
        local wanted, all = drawn(), true
        for cell in pairs(cells_of { wanted }) do all = all and cells[cell] ~= nil end
        assert.equal(all, rectangles.covers(set, wanted))
      end
    end
  end)

  it("of a buffer's elements follow the ends of its rows", function()
    assert.same({ { 0, 1, 3, 8 }, { 1, 3, 0, 8 }, { 3, 4, 0, 2 } },
      rectangles.of({ { first = 3, rows = 1, cols = 23, ld = 0 } }, 8, 0))
    assert.same({ { 1, 4, 2, 5 } }, rectangles.of({ { first = 4, rows = 3, cols = 3, ld = 8 } }, 8, 6))
    assert.same({ { 0, 2, 5, 7 }, { 1, 2, 1, 3 } },
      rectangles.of({ { first = 1, rows = 3, cols = 2, ld = 4 } }, 8, 4))
    assert.same({ { 0, 1, 0, 2 }, { 1, 2, 1, 3 } }, rectangles.of({ { first = 0, rows = 2, cols = 2, ld = 9 } }, 8, 0))
  end)
end)
