-- panel_loops_spec: parts of a panel loop have the panels that they should, wherever it is cut.
require("tests.spec.helper")
local panel_loops = require("passes.common.panel_loops")

local function step_of(panels)
  return { form = "product", unit = 7, panels = panels,
    arguments = { a = { buffer = "w", class = "weight", offset = 100, terms = { panel = 64, b = 8 } },
      b = { buffer = "x", class = "in", offset = 3, terms = { b = 16 } } } }
end

describe("a part of a panel loop", function()
  it("begins at its first panel, and moves on from there", function()
    local step = step_of { count = 6 }
    local part = panel_loops.parts()(step, 2, 3)
    assert.equal(3, panel_loops.count(part))
    assert.equal(9, part.unit)
    assert.equal("product", part.form)
    assert.equal(228, part.arguments.a.offset)
    assert.same({ panel = 64, b = 8 }, part.arguments.a.terms)
    assert.equal(step.arguments.b, part.arguments.b)
    assert.equal(100, step.arguments.a.offset)
  end)

  it("is an ordinary step if it has one panel", function()
    local part = panel_loops.parts()(step_of { count = 6 }, 5, 1)
    assert.equal(1, panel_loops.count(part))
    assert.same({ b = 8 }, part.arguments.a.terms)
    assert.equal(420, part.arguments.a.offset)
    assert.equal(0, panel_loops.stride(part.arguments.a))
  end)

  it("is the step itself if it has all panels, or if the step is in no loop", function()
    local step = step_of { count = 6 }
    assert.equal(step, panel_loops.parts()(step, 0, 6))
    step.panels = nil
    assert.equal(step, panel_loops.parts()(step, 0, 1))
  end)

  it("is in one loop with the same panels of the loop's other steps", function()
    local panels, part = { count = 6 }, panel_loops.parts()
    local one, other, more = part(step_of(panels), 1, 2), part(step_of(panels), 1, 2), part(step_of(panels), 3, 2)
    assert.equal(one.panels, other.panels)
    assert.not_equal(one.panels, more.panels)
    assert.not_equal(one.panels, part(step_of { count = 6 }, 1, 2).panels)
  end)
end)
