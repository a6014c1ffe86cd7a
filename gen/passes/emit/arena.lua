-- arena.lua: writes the map of a program's arena as lines of a comment: place, length and lifetime of each tensor.
-- Lifetimes are counted in steps of the emitted text. A tensor that several layers have at one place has one line, with
-- the steps of the first layer.
local c = require("common.c")
local programs = require("passes.common.programs")
local types = require("data.types")
local words = require("common.words")

local arena = {}

-- Returns a program's buffers as rows, one for those that differ only in the number of their layer: { own, offset,
-- bytes, first, last, name; final: the name in the last layer; count: of layers; distance: between first and last }.
local function rows_of(program)
  local first, last = programs.steps_of(program)
  local rows, by_key = {}, {}
  for _, item in ipairs(program.items) do
    for _, span in ipairs(item.spans) do
      for _, name in ipairs(span.names) do
        local before, layer, after = ("." .. name):match("^(.*%.l)(%d+)(%..+)$")
        local row = { own = item.own and 1 or 0, offset = program.offsets[name], bytes = program.buffers[name].bytes,
          first = first[span.first], last = last[span.last], name = name, layer = tonumber(layer), count = 1 }
        local key = ("%d %d %d %s"):format(row.own, row.offset, row.bytes, layer and before .. after or name)
        local known = by_key[key]
        if known then
          known.final, known.count, known.distance = name, known.count + 1, row.layer - known.layer
        else
          rows[#rows + 1], by_key[key] = row, row
        end
      end
    end
  end
  return rows
end

--- Returns a program's buffers as lines, by offset: those that workers share follow a, and each worker's p.
function arena.map(program)
  local lines, rows = {}, rows_of(program)
  table.sort(rows, function(x, y)
    for _, key in ipairs { "own", "offset", "first", "name" } do
      if x[key] ~= y[key] then return x[key] < y[key] end
    end
    return false
  end)
  for i, row in ipairs(rows) do
    local others = row.final and (" to %s%s"):format(row.final,
      row.distance >= row.count and ", " .. words.count(row.count, "layer") or "") or ""
    lines[i] = ("%s + %-10d %11d  %6d to %-6d  %s"):format(row.own == 1 and "p" or "a",
      types.elements(row.offset, "f32"), row.bytes, row.first, row.last, c.comment(row.name .. others))
  end
  return lines
end

return arena
