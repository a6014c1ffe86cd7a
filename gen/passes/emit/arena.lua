-- arena.lua: writes the map of a program's arena as lines of a comment: place, length and lifetime of each tensor.
-- Lifetimes are counted in steps of the emitted text. A tensor that several layers have at one place has one line, with
-- the steps of the first layer.
local c = require("common.c")
local programs = require("passes.common.programs")
local types = require("data.types")

local arena = {}

-- Returns the rows of a program's buffers: { key: place, length and name without the number of a layer; own, offset,
-- bytes, first, last, name, layer: its number, or 0 }.
local function rows_of(program)
  local first, last = programs.steps_of(program)
  local rows = {}
  for _, item in ipairs(program.items) do
    for _, span in ipairs(item.spans) do
      for _, name in ipairs(span.names) do
        local before, layer, after = ("." .. name):match("^(.*%.l)(%d+)(%..+)$")
        local row = { own = item.own and 1 or 0, offset = program.offsets[name], bytes = program.buffers[name].bytes,
          first = first[span.first], last = last[span.last], name = name, layer = tonumber(layer or 0) }
        row.key = ("%d %d %d %s"):format(row.own, row.offset, row.bytes, layer and before .. after or name)
        rows[#rows + 1] = row
      end
    end
  end
  return rows
end

-- Sorts rows by the values of some fields, the first of which counts most.
local function sort_by(rows, keys)
  table.sort(rows, function(x, y)
    for _, key in ipairs(keys) do if x[key] ~= y[key] then return x[key] < y[key] end end
    return false
  end)
end

-- Returns one row for those that differ only in their layer, where the numbers of the layers have one distance.
local function merged(rows)
  local list = {}
  sort_by(rows, { "key", "layer" })
  for _, row in ipairs(rows) do
    local known = list[#list]
    local distance = known and known.key == row.key and row.layer - (known.final or known).layer
    if distance and distance == (known.distance or distance) then
      known.distance, known.final = distance, row
    else
      list[#list + 1] = row
    end
  end
  sort_by(list, { "own", "offset", "first", "name" })
  return list
end

--- Returns a program's buffers as lines, by offset: those that all workers share follow a, and those of each worker
--- follow p.
function arena.map(program)
  local lines = {}
  for i, row in ipairs(merged(rows_of(program))) do
    local others = row.final and (" to %s%s"):format(row.final.name,
      row.distance > 1 and (", every %d layers"):format(row.distance) or "") or ""
    lines[i] = ("%s + %-10d %11d  %6d to %-6d  %s"):format(row.own == 1 and "p" or "a",
      types.elements(row.offset, "f32"), row.bytes, row.first, row.last, c.comment(row.name .. others))
  end
  return lines
end

return arena
