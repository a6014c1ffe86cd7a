-- reordered.lua: finds what an adapter changes in tensors that the adapter calls otherwise, or has in other orders of
-- rows: an adapter of PEFT in a GGUF file, or a GGUF adapter in a folder. Both are known for the graph's weights.
-- So the rows of the adapter's tensors are put in the checkpoint's order when the model is built. The runtime merges
-- them as others. In this file, a file is the checkpoint, and a model's row is one of the adapter's scheme.
local faults = require("common.faults")
local sources = require("checkpoints.sources")
local words = require("common.words")

local reordered = {}

-- Returns the boxes of a weight's only tensor, or nil if its columns are not all there, in their order.
local function whole_rows(from)
  local stored = from.stored[1]
  local boxes = #from.stored == 1 and sources.boxes(from, stored)
  for _, box in ipairs(boxes or {}) do
    local inputs, columns = box.inputs, stored.shape[stored.is_transposed and 1 or 2] or 1
    if box.view.columns ~= columns or inputs.first ~= 0 or columns > 1 and inputs.step ~= 1 then return nil end
  end
  return boxes or nil, stored
end

-- Calls take(row of the weight, row of its tensor) for each row of a weight.
local function each_row(boxes, take)
  for _, box in ipairs(boxes) do
    for i = 0, box.view.rows - 1 do take(box.view.row + i, box.out.first + i * box.out.step) end
  end
end

-- Returns an adapter's tensor with its rows in the file's order. from: file's row -> model's row, from 0.
local function tensor_of(self, name, from, count, file)
  local given, pieces = self.tensors[name], {}
  local bytes = given.bytes // given.shape[1]
  for row = 0, count - 1 do
    local at = (given.data and 0 or given.at) + from[row] * bytes
    pieces[row + 1] = (given.data or self.text):sub(at + 1, at + bytes)
  end
  local own, shape = ("%s of %s"):format(name, file), table.move(given.shape, 1, #given.shape, 1, {})
  shape[1] = count
  self.tensors[own] = { dtype = given.dtype, shape = shape, bytes = bytes * count, data = table.concat(pieces) }
  return own
end

-- Adds the rows of one weight to the orders of files' tensors. Returns false if the weight is no plain part of both.
local function add_rows(weight, scheme, orders)
  local in_model = whole_rows(weight.elsewhere[scheme])
  local in_file, stored = whole_rows(weight.from)
  if not in_model or not in_file then return false end
  local order = orders[stored.names[1]]
  if not order then
    order = { stored = stored, rows = {}, factor = in_model[1].view.factor / in_file[1].view.factor }
    orders[stored.names[1]], orders[#orders + 1] = order, order
  end
  local row_of = {}
  each_row(in_model, function(row, model) row_of[row] = model end)
  each_row(in_file, function(row, file) order.rows[file] = row_of[row] end)
  return true
end

--- Returns the rows of attn2c_merge for a change, one for each tensor of the file that has a part of it. self, change:
--- adapter.lua's; weights: of the graph that are read from the changed tensor. New tensors of the adapter have `data`.
--- Faults: usage.
function reordered.rows(self, change, weights)
  local orders, result = {}, {}
  local function refuse(file)
    faults.raise("usage", "%s: adapter: %s is in %s in another form, in which it cannot be changed", self.path,
      change.target, file)
  end
  for _, weight in ipairs(weights) do
    if not add_rows(weight, self.scheme, orders) then refuse(weight.from.stored[1].names[1]) end
  end
  for i, order in ipairs(orders) do
    local stored, file = order.stored, order.stored.names[1]
    local count, same = stored.shape[stored.is_transposed and 2 or 1], true
    for row = 0, count - 1 do
      if not order.rows[row] then refuse(file) end
      same = same and order.rows[row] == row
    end
    if change.is_table and not same or (change.base or change.lengths) and order.factor ~= 1 then refuse(file) end
    local row = words.merged(change, { names = stored.names, scale = (change.scale or 1) * order.factor,
      is_transposed = change.is_table or stored.is_transposed or false })
    for _, part in ipairs(same and {} or { "outputs", "lengths", "base" }) do
      row[part] = row[part] and tensor_of(self, row[part], order.rows, count, file)
    end
    result[i] = row
  end
  return result
end

return reordered
