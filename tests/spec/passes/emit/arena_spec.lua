-- arena_spec: the map of the arena has one line for the layers that have a tensor at one place; emit_spec holds that
-- each buffer is on a line.
local helper = require("tests.spec.helper")
local arena = require("passes.emit.arena")

describe("the map of the arena", function()
  it("has one line for a tensor that layers have at one place", function()
    local list = arena.map(helper.tiny({ layers = 7, mask = "causal", norm = "pre" }, "memory").programs[1])
    local lines = table.concat(list, "\n")
    assert.matches("l0%.attn%.scores@tile to l6%.attn%.scores@tile\n", lines)
    assert.is_true(select(2, lines:gsub("ff%.sum", "")) <= 6, lines)
  end)

  it("says how many layers a line is for, if not all; other places, lengths and workers have their own", function()
    local items, offsets, buffers, steps = {}, {}, {}, {}
    for i, layer in ipairs { 0, 2, 4, 5, 9, 10, 11 } do
      local name = ("x.l%d.sum"):format(layer)
      items[i] = { spans = { { first = i, last = i, names = { name } } }, own = layer == 10 }
      offsets[name], buffers[name] = layer == 11 and 256 or 64, { bytes = layer == 9 and 8 or 4 }
      steps[i] = { form = "row" }
    end
    local map = arena.map({ items = items, offsets = offsets, buffers = buffers, fused_maps = {},
      segments = { { sections = { { steps = steps } } } } })
    for i, line in ipairs(map) do map[i] = line:match("to %d+ +(%S.*)$") end
    assert.same({ "x.l0.sum to x.l5.sum, 4 layers", "x.l9.sum", "x.l11.sum", "x.l10.sum" }, map)
  end)
end)
