-- builder: makes the named inputs, weights, constants, ops and outputs of a graph, for the
-- model's stack of layers and for that of an encoder in its memory.
local names = require("checkpoints.names")
local ops = require("data.ops")
local precision = require("data.precision")
local sources = require("checkpoints.sources")
local targets = require("data.targets")

local Builder = {}
Builder.__index = Builder

-- A weight that is another's tensor where the checkpoint has none of its own: the names of its own come first.
local function with_own_names(own, rule)
  if not own or not own.names then return own or rule end
  local joined = {}
  for key, value in pairs(own) do joined[key] = value end
  joined.names = table.move(own.names, 1, #own.names, 1, {})
  for _, name in ipairs(rule.names or {}) do joined.names[#joined.names + 1] = name end
  return joined
end

--- A builder for the entry of a spec. has_pairs: as precision.of_scores takes it.
function Builder.new(spec, entry_name, has_pairs)
  return setmetatable({
    spec = spec, model = spec, batch = spec.batch, prefix = "", input_prefix = "",
    stack_name = "",
    graph = { tensors = {}, order = {}, weights = {} },
    entry = { name = entry_name, ops = {}, inputs = {}, outputs = {}, flops = 0 },
    section = "input", masks = {}, attention_outputs = {}, has_pairs = has_pairs,
  }, Builder)
end

--- A builder of a part of the same graph: another stack's spec. prefix stands before its paths, input_prefix before its
--- inputs, stack_name before its sections.
function Builder:part(spec, prefix, input_prefix, stack_name)
  return setmetatable({
    spec = spec, model = self.model, batch = self.batch, prefix = prefix, input_prefix = input_prefix,
    stack_name = stack_name, graph = self.graph, entry = self.entry, section = "input",
    masks = {}, attention_outputs = self.attention_outputs, layout = self.spec.layout, has_pairs = self.has_pairs,
  }, Builder)
end

--- A builder of one of the stack's layers, whose spec may differ from the stack's.
function Builder:layer(index)
  local each = self.spec.each and self.spec.each[index + 1]
  return each and setmetatable({ spec = each, stack_spec = self.spec }, { __index = self }) or self
end

function Builder:tensor(tensor)
  assert(not self.graph.tensors[tensor.name], tensor.name)
  self.graph.tensors[tensor.name] = tensor
  self.graph.order[#self.graph.order + 1] = tensor.name
  return tensor
end

--- An input of the entry. minimum and limit bound the values of an i32 one. unbatched: it has no batch; axes says what
--- its dimensions are instead.
function Builder:input(member, type, shape, minimum, limit, unbatched, axes)
  member = self.input_prefix .. member
  member = self.model.inputs and self.model.inputs[member] or member
  local tensor = self:tensor { name = "in." .. member, member = member, kind = "input", type = type, shape = shape,
    minimum = minimum or 0, limit = limit or 0, unbatched = unbatched, axes = axes }
  self.entry.inputs[#self.entry.inputs + 1] = tensor.name
  return tensor
end

--- Says which axes of an input or output have the size of a call, a letter each: b of the batch, s of the sequence,
--- k of keys (past, sequence, and what stands behind), "." of none. fill: what stands in padding (emit/lengths.lua).
function Builder:grows(tensor, axes, fill)
  if self.prefix == "" then
    tensor.grows, tensor.fill = axes, fill
  else -- an encoder's sequences have one size
    tensor.grows = axes:gsub("[sk]", ".")
  end
  return tensor
end

--- An input of rows [batch][rows][width]; where the layout is seq_first it comes in as [rows][batch][width]. fixed: a
--- shorter sequence has as many of them.
function Builder:rows_input(member, rows, width, fixed)
  local axis = fixed and "." or "s"
  if (self.layout or self.spec.layout) ~= "seq_first" then
    return self:grows(self:input(member, "f32", { self.batch, rows, width }), "b" .. axis .. ".")
  end
  local x = self:input(member, "f32", { rows, self.batch, width }, nil, nil, true)
  return self:op("swap", self.prefix .. "input." .. member, { x = self:grows(x, axis .. "b.") })
end

--- An input of keys or values as it comes in: [batch][rows][heads head_dim], or where kv_layout says heads_first
--- [batch][heads][rows][head_dim], which `join` takes, too. axes: of its rows, as grows has them.
function Builder:heads_input(member, rows, heads, width, axes)
  local by_head = self.spec.kv_layout == "heads_first"
  local shape = by_head and { self.batch, heads, rows, width // heads } or { self.batch, rows, width }
  return self:grows(self:input(member, "f32", shape), (by_head and "b." or "b") .. axes .. ".")
end

--- The path of a layer's weight. Layers that have the same weights (layer_groups) use the paths of the group.
function Builder:group_path(path)
  local groups = self.spec.layer_groups
  local layer, rest = path:sub(#self.prefix + 1):match("^l(%d+)(%..*)$")
  if not groups or not layer then return path end
  return ("%sl%d%s"):format(self.prefix, groups[math.tointeger(tonumber(layer)) + 1], rest)
end

--- A weight; mean and deviation are those of its random values. source: { rows, first }, where the checkpoint's tensor
--- has more rows than are used; or { like = path }, where it is another weight's tensor; or { shape }, where the
--- checkpoint's has other dimensions of as many elements; or { heads, all, axis }, where of all heads' rows (axis 1) or
--- columns (2) only some are taken.
function Builder:weight(path, shape, mean, deviation, source)
  source = source or {}
  path = self:group_path(path)
  if self.graph.tensors[path] then return self.graph.tensors[path] end
  local rule = names.find(self.model.names, source.like or path, self.model)
  if source.like then rule = with_own_names(names.own(self.model.names, path, self.model), rule) end
  local tensor = self:tensor { name = path, kind = "weight", type = "f32", shape = shape, rule = rule, mean = mean,
    deviation = deviation, source = source }
  tensor.from = sources.of(tensor, rule, self.spec)
  self.graph.weights[#self.graph.weights + 1] = path
  return tensor
end

--- A constant, made by a formula (runtime/weights/constants.c) when a model is opened. values: its numbers, where the
--- compiler needs them.
function Builder:constant(path, shape, formula, values)
  if self.graph.tensors[path] then return self.graph.tensors[path] end
  local tensor = self:tensor { name = path, kind = "constant", type = "f32", shape = shape, formula = formula,
    mean = 0, deviation = 0, values = values }
  self.graph.weights[#self.graph.weights + 1] = path
  return tensor
end

--- Adds an op whose result is the tensor `path`.
function Builder:op(op_name, path, operands, attributes)
  local op = ops.make(op_name, self.section, operands, attributes or {})
  op.result = self:tensor { name = path, kind = "scratch", type = op.type, shape = op.shape,
    unbatched = op.unbatched, wide = op.wide }
  self.entry.ops[#self.entry.ops + 1] = op
  self.entry.flops = self.entry.flops + op.flops
  return op.result
end

-- Where the op stands that makes a tensor; nil where none does.
local function maker_of(list, tensor)
  for i = #list, 1, -1 do if list[i].result == tensor then return i end end
  return nil
end

-- The result of an op that stands behind the one that makes `behind`, to be done with it.
function Builder:op_behind(behind, op_name, path, operands)
  local list, section = self.entry.ops, self.section
  local at = maker_of(list, behind)
  if at then self.section = list[at].section end
  local y = self:op(op_name, path, operands)
  self.section = section
  if at then table.insert(list, at + 1, table.remove(list)) end
  return y
end

--- x rounded to bf16, stored as a type, bf16 or f32; all its readers share it.
function Builder:round(x, type)
  local path = x.name .. (type == "f32" and ".bf16_floats" or ".bf16")
  if self.graph.tensors[path] then return self.graph.tensors[path] end
  local y = self:op_behind(x, "round", path, { x = x })
  y.type = type
  return y
end

--- x as integers, and the scale of each row; all readers share them.
function Builder:quantise(x)
  local path, scale_path = x.name .. ".int8", x.name .. ".scale"
  local known = self.graph.tensors[path]
  if known then return known, self.graph.tensors[scale_path] end
  local scale = self:op_behind(x, "row_scale", scale_path, { x = x })
  return self:op_behind(scale, "quantise", path, { x = x, scale = scale }), scale
end

--- A product with a packed weight, x W^T + b, of the number type that the precision of its part says.
function Builder:product(path, operands)
  local type = precision.of_linear(self.model.precision, self.section, path)
  local weight = operands.weight
  if type == "f32" then return self:op("linear", path, operands) end
  if type == "bf16" then
    operands.x = self:round(operands.x, targets.by_name[self.model.target].bf16_rows)
    weight.type = "bf16"
    return self:op("linear", path, operands)
  end
  local x, row_scale = self:quantise(operands.x)
  weight.type = "i8"
  local scale = self:constant(weight.name .. ".scales", { weight.shape[1] }, "scales " .. weight.name)
  scale.scales_of = weight
  local sums = self:op("linear_integers", path .. ".sums", { x = x, weight = weight })
  return self:op("dequantise", path, { x = sums, row_scale = row_scale, scale = scale, bias = operands.bias })
end

--- x W^T + b. `gain` scales the random weights: what is added to a residual is kept small in deep stacks.
function Builder:linear(path, x, width, bias, gain, source)
  local from = x.shape[#x.shape]
  return self:product(path, {
    x = x,
    weight = self:weight(path .. ".weight", { width, from }, 0, (gain or 1) / math.sqrt(from), source),
    bias = bias and self:weight(path .. ".bias", { width }, 0, 0.1, source and source.axis == 1 and source or nil)
      or nil,
  })
end

--- A norm of the stack's kind.
function Builder:norm(path, x, eps)
  local width = { x.shape[#x.shape] }
  local rms = self.spec.norm_kind == "rms"
  return self:op(rms and "rms_norm" or "layer_norm", path, {
    x = x,
    gain = self:weight(path .. ".weight", width, 1, 0.1),
    bias = self.spec.bias.norm and self:weight(path .. ".bias", width, 0, 0.1) or nil,
  }, { eps = eps or self.spec.eps })
end

--- Makes a tensor an output of this name; one that is an input or an output already is copied. axes: as grows has
--- them. Returns the output.
function Builder:expose(tensor, member, axes)
  if tensor.kind ~= "scratch" then tensor = self:op("copy", "output." .. member, { x = tensor }) end
  tensor.kind, tensor.member = "output", member
  self:grows(tensor, axes)
  self.entry.outputs[#self.entry.outputs + 1] = tensor.name
  return tensor
end

--- Makes a tensor an output that is listed behind those of the output stages.
function Builder:expose_later(tensor, member, axes)
  assert(tensor.kind == "scratch")
  tensor.kind, tensor.member = "output", member
  self:grows(tensor, axes)
  self.attention_outputs[#self.attention_outputs + 1] = tensor.name
end

--- The graph.
function Builder:finish()
  names.check_used(self.model.names)
  for _, name in ipairs(self.attention_outputs) do self.entry.outputs[#self.entry.outputs + 1] = name end
  self.graph.entry = self.entry
  return self.graph
end

return Builder
