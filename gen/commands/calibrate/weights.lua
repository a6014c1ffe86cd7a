-- weights.lua: reads weights in f32 from the file that a program's `pack` wrote.
-- There they are in panels, [in][panel]. So every checkpoint that a model takes is read by the one reader of
-- checkpoints.
local checksum = require("common.checksum")
local faults = require("common.faults")
local types = require("data.types")

local weights = {}

local HEADER = 4096 -- bytes before the packed block (runtime/packing/packed_header.h)
local FIRST_ROWS = 16 -- ATTN2C_FACTORS_ROWS
local NUMBER = 4 -- bytes
local WINDOW = 1 << 20 -- bytes that are read at a time
local MOST = 1 << 20 -- numbers of a weight that are read: whole panels, at equal distances

-- Returns the panels of the weight `name` [out][in] of an entry: { at = its place in the file, width, bytes = bytes per
-- input }.
local function panels_of(entry, name)
  local tensor, layout = entry.graph.tensors[name], entry.weights.layouts[name]
  local at, places = HEADER + 1 + entry.weights.offsets[name], {}
  for i, width in ipairs(layout.widths) do
    local bytes = types.panel_bytes(1, types.whole_lines(width, "f32"), "f32")
    places[i] = { at = at, width = width, bytes = bytes }
    at = at + tensor.shape[2] * bytes
  end
  return places
end

--- Returns a function visit(see) for the weight `name` [out][in] of a planned entry. It calls see(inputs) for some of
--- the weight's panels; inputs[j] is the list of the weights of input j. text: the packed file, of weights.open.
function weights.reader(text, entry, name)
  local tensor, places = entry.graph.tensors[name], panels_of(entry, name)
  local inputs = tensor.shape[2]
  local step = math.max(1, math.ceil(tensor.shape[1] * inputs / MOST))
  return function(see)
    for i = 1, #places, step do
      local panel, list = places[i], {}
      local format = "<" .. ("f"):rep(panel.width)
      for j = 1, inputs do
        local at = panel.at + (j - 1) * panel.bytes
        list[j] = { format:unpack(text:sub(at, at + panel.bytes - 1)) }
        list[j][panel.width + 1] = nil -- string.unpack's last result, a position
      end
      see(list)
    end
  end
end

--- Returns the checksum of the first rows of the weight `name`, as in attn2c_factors of runtime/base/descriptor.h. The
--- The arguments are the reader's.
function weights.checksum(text, entry, name)
  local rows, inputs, sum = {}, entry.graph.tensors[name].shape[2], 0
  for _, panel in ipairs(panels_of(entry, name)) do
    for output = 0, math.min(panel.width, FIRST_ROWS - #rows) - 1 do
      local row, at = {}, panel.at + output * NUMBER
      for j = 1, inputs do
        row[j] = text:sub(at, at + NUMBER - 1)
        at = at + panel.bytes
      end
      rows[#rows + 1] = table.concat(row)
    end
  end
  for _, row in ipairs(rows) do sum = checksum.of(sum, row) end
  return sum
end

--- Opens a packed file. Returns { sub = as for a string }, which keeps a part of the file only. Faults: io.
function weights.open(path)
  local file = io.open(path, "rb") or faults.raise("io", path .. ": cannot be read")
  local first, part = 1, ""
  return { sub = function(_, from, to)
    if from < first or to >= first + #part then
      file:seek("set", from - 1)
      first, part = from, file:read(math.max(to - from + 1, WINDOW)) or ""
    end
    return part:sub(from - first + 1, to - first + 1)
  end }
end

return weights
