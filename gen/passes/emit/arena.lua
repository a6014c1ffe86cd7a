-- arena.lua: writes the map of a program's arena as lines of a comment: place, length and lifetime of each tensor.
-- Lifetimes are counted in steps of the emitted text. A tensor of several layers has one line, with the steps of the
-- first layer.
local c = require("common.c")
local programs = require("passes.common.programs")
local types = require("data.types")

local arena = {}

--- Returns a program's buffers as lines, by offset: those that all workers share follow a, and those of each worker
--- follow p.
function arena.map(program)
  local first, last = programs.steps_of(program)
  local rows = {}
  for _, item in ipairs(program.items) do
    local span, final = item.spans[1], item.spans[#item.spans]
    for i, name in ipairs(span.names) do
      local others = #item.spans > 1 and " to " .. (final.names[i] or final.names[1]) or ""
      rows[#rows + 1] = { own = item.own and 1 or 0, offset = program.offsets[name], first = first[span.first],
        last = last[span.last], name = name .. others, bytes = program.buffers[name].bytes }
    end
  end
  table.sort(rows, function(x, y)
    for _, key in ipairs { "own", "offset", "first", "name" } do
      if x[key] ~= y[key] then return x[key] < y[key] end
    end
    return false
  end)
  local lines = {}
  for i, row in ipairs(rows) do
    lines[i] = ("%s + %-10d %11d  %6d to %-6d  %s"):format(row.own == 1 and "p" or "a",
      types.elements(row.offset, "f32"), row.bytes, row.first, row.last, c.comment(row.name))
  end
  return lines
end

return arena
