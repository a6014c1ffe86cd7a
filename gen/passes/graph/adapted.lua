-- adapted.lua: adds what LoRA adapters (Hu et al. 2021) change in a linear layer, W x + scale B A x, or in a table of
-- embeddings, where adapters are kept next to the weights. The factors of all adapters of a layer are two weights. One
-- has the rows of each adapter's A, the other the columns of its B times the scale, one adapter after another. So
-- adapters of any ranks go together.
local adapter = require("checkpoints.adapter")
local sources = require("checkpoints.sources")
local words = require("common.words")

local adapted = {}

-- Makes the weight of all adapters' factors. shape: [ranks][width]; from: the tensors and views.
local function factors(self, path, shape, deviation, from)
  if self.graph.tensors[path] then return self.graph.tensors[path] end
  self.graph.weights[#self.graph.weights + 1] = path
  return self:tensor { name = path, kind = "weight", type = "f32", shape = shape, source = {}, mean = 0,
    deviation = deviation, from = from }
end

-- Adds an adapter's tensor to a weight's, and its views by view(box).
local function add(from, owner, name, boxes, view)
  from.stored[#from.stored + 1] = { names = { owner.name .. "/" .. name }, shape = owner.tensors[name].shape }
  for _, box in ipairs(boxes) do
    local made = view(box)
    made.stored = #from.stored
    from.views[#from.views + 1] = made
  end
end

-- Returns the view of an adapter's B, [columns][rank], which starts at a row of the weight: `count` of its columns from
-- `at` on, which are first, first + step, ... of the changed tensor's.
local function view_of_outputs(change, row, at, count, place, factor)
  return { row = row, rows = change.rank, column = at, columns = count, first = place.first * change.rank, row_step = 1,
    column_step = place.step * change.rank, factor = change.scale * factor }
end

-- Adds one adapter's factors to the tensors and views of both weights. row: the number of its first row in these.
local function add_change(change, owner, boxes, stored, inputs, outputs, row)
  local width = stored.shape[stored.is_transposed and 1 or 2]
  -- all boxes have the same inputs, so one of them tells which
  local of_inputs = words.filter(boxes, function(box) return box.view.row == boxes[1].view.row end)
  add(inputs, owner, change.inputs, of_inputs, function(box)
    return { row = row, rows = change.rank, column = box.view.column, columns = box.view.columns,
      first = box.inputs.first, row_step = width, column_step = box.inputs.step, factor = 1.0 }
  end)
  local of_outputs = words.filter(boxes, function(box) return box.view.column == 0 end)
  add(outputs, owner, change.outputs, of_outputs, function(box)
    return view_of_outputs(change, row, box.view.row, box.view.rows, box.out, box.view.factor)
  end)
end

-- Adds one adapter's factors of a table of embeddings, whose rows are tokens: A, [rank][tokens], is looked up.
local function add_looked_up(change, owner, boxes, stored, inputs, outputs, row)
  add(inputs, owner, change.inputs, boxes, function(box)
    return { row = box.view.row, rows = box.view.rows, column = row, columns = change.rank, first = box.out.first,
      row_step = box.out.step, column_step = stored.shape[1], factor = 1.0 }
  end)
  add(outputs, owner, change.outputs, { boxes[1] }, function(box)
    return view_of_outputs(change, row, 0, box.view.columns, box.inputs, box.view.factor)
  end)
end

-- Returns a weight's changes by all adapters: { first = the first row of each, then their number, inputs, outputs =
-- where the factors are read }, or nil. is_table: of a table of embeddings; add_one: add_change, or another function.
local function changes(self, weight, is_table, add_one)
  local made, total = { first = { 0 }, inputs = { stored = {}, views = {} }, outputs = { stored = {}, views = {} } }, 0
  for i, owner in ipairs(self.adapters or {}) do
    local from = adapter.place_of(weight, owner.scheme)
    local stored = from and from.stored[1]
    local change = stored and adapter.change_of(owner, stored, is_table)
    local boxes = change and #from.stored == 1 and sources.boxes(from, stored)
    if is_table and boxes and #boxes > 1 then boxes = nil end
    if change and not boxes then
      change.is_refused = true -- the model has the tensor as another kind of layer
    elseif change then
      change.is_used = true
      add_one(change, owner, boxes, stored, made.inputs, made.outputs, total)
      total = total + change.rank
    end
    made.first[i + 1] = total
  end
  return total > 0 and made or nil
end

-- Adds what adapters add to a tensor, rows · A · B.
local function adapt(self, path, made, y, operands)
  return self:op("adapt", path, words.merged(operands, { x = y, adapters = self:of_sequences() }),
    { first = table.concat(made.first, ", ") })
end

-- Returns the deviation of random values of B, by which a sum of products has a sensible size.
local function deviation_of(self, total) return 0.5 / math.sqrt(total // #self.adapters + 1) end

--- Returns a function that adds to a linear layer's result what adapters do, as the tensor `path`; nil if none changes
--- the layer. path: of the layer; operands: its input x, and its weight.
function adapted.change(self, path, operands)
  local weight, x = operands.weight, operands.x
  local made = changes(self, weight, false, add_change)
  if not made then return nil end
  local width, out, own = weight.shape[2], weight.shape[1], self:group_path(path) .. ".adapters"
  local total = made.first[#made.first]
  local a = factors(self, own .. ".inputs", { total, width }, 1 / math.sqrt(width), made.inputs)
  local b = factors(self, own .. ".outputs", { total, out }, deviation_of(self, total), made.outputs)
  return function(y, reader)
    self.graph.adapted[reader] = true
    return adapt(self, path, made, y, { rows = x, inputs = a, outputs = b })
  end
end

--- Returns a function that adds what adapters do to rows of a table of embeddings, as the tensor `path`; nil if none
--- changes the table. A token's row of all adapters' A is looked up, and is itself rows · A for an identity A.
function adapted.looked_up(self, path, ids, weight)
  local made = changes(self, weight, true, add_looked_up)
  if not made then return nil end
  local own, total = self:group_path(path) .. ".adapters", made.first[#made.first]
  local a = factors(self, own .. ".inputs", { weight.shape[1], total }, 1, made.inputs)
  local b = factors(self, own .. ".outputs", { total, weight.shape[2] }, deviation_of(self, total), made.outputs)
  return function(y)
    self.graph.adapted[y] = true
    local rows = self:op("embed", own .. ".rows", { ids = ids, table = a })
    return adapt(self, path, made, y, { rows = rows, outputs = b,
      inputs = self:constant(own .. ".identity", { total, total }, "identity") })
  end
end

return adapted
