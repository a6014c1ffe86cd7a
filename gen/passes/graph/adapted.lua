-- adapted.lua: adds what LoRA adapters (Hu et al. 2021) change in a linear layer, W x + scale B A x, where adapters are
-- kept next to the weights. The factors of all adapters of a layer are two weights. One has the rows of each adapter's
-- A, the other the columns of its B times the scale, one adapter after another. So adapters of any ranks go together.
local adapter = require("checkpoints.adapter")
local sources = require("checkpoints.sources")

local adapted = {}

-- Makes the weight of all adapters' factors. shape: [ranks][width]; from: the tensors and views.
local function factors(self, path, shape, deviation, from)
  if self.graph.tensors[path] then return self.graph.tensors[path] end
  self.graph.weights[#self.graph.weights + 1] = path
  return self:tensor { name = path, kind = "weight", type = "f32", shape = shape, source = {}, mean = 0,
    deviation = deviation, from = from }
end

-- Adds an adapter's tensor to a weight's, and its views by view(box).
local function add(from, tensors, owner, name, boxes, view)
  from.stored[#from.stored + 1] = { names = { owner .. "/" .. name }, shape = tensors[name].shape }
  for _, box in ipairs(boxes) do
    local made = view(box)
    made.stored = #from.stored
    from.views[#from.views + 1] = made
  end
end

-- Adds one adapter's factors to the tensors and views of both weights. first: the number of its first row in these.
local function add_change(change, owner, boxes, stored, inputs, outputs, first)
  local tensors, rank = owner.tensors, change.rank
  local width = stored.shape[stored.is_transposed and 1 or 2]
  -- all boxes have the same inputs, so one of them tells which
  local of_inputs = {}
  for _, box in ipairs(boxes) do if box.view.row == boxes[1].view.row then of_inputs[#of_inputs + 1] = box end end
  add(inputs, tensors, owner.name, change.inputs, of_inputs, function(box)
    return { row = first, rows = rank, column = box.view.column, columns = box.view.columns, first = box.inputs.first,
      row_step = width, column_step = box.inputs.step, factor = 1.0 }
  end)
  local of_outputs = {}
  for _, box in ipairs(boxes) do if box.view.column == 0 then of_outputs[#of_outputs + 1] = box end end
  add(outputs, tensors, owner.name, change.outputs, of_outputs, function(box)
    return { row = first, rows = rank, column = box.view.row, columns = box.view.rows, first = box.out.first * rank,
      row_step = 1, column_step = box.out.step * rank, factor = change.scale * box.view.factor }
  end)
end

--- Returns a function that adds to a linear layer's result what adapters do, as the tensor `path`; nil if none changes
--- the layer. path: of the layer; operands: its input x, and its weight.
function adapted.change(self, path, operands)
  local weight, x = operands.weight, operands.x
  local from = weight.in_model or weight.from
  local stored = self.adapters and from and from.stored[1]
  if not stored then return nil end
  local first, inputs, outputs, total = { 0 }, { stored = {}, views = {} }, { stored = {}, views = {} }, 0
  for i, owner in ipairs(self.adapters) do
    local change = adapter.change_of(owner, stored)
    local boxes = change and #from.stored == 1 and sources.boxes(from, stored)
    if change and not boxes then
      change.is_used = false -- the model has the tensor as another kind of layer
    elseif change then
      add_change(change, owner, boxes, stored, inputs, outputs, total)
      total = total + change.rank
    end
    first[i + 1] = total
  end
  if total == 0 then return nil end
  local width, out, own = weight.shape[2], weight.shape[1], self:group_path(path) .. ".adapters"
  local a = factors(self, own .. ".inputs", { total, width }, 1 / math.sqrt(width), inputs)
  local b = factors(self, own .. ".outputs", { total, out }, 0.5 / math.sqrt(total // #self.adapters + 1), outputs)
  return function(y)
    return self:op("adapt", path, { x = y, rows = x, inputs = a, outputs = b, adapters = self:of_sequences() },
      { first = table.concat(first, ", ") })
  end
end

return adapted
