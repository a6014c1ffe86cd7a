-- graph: spec -> graph. *What* is computed: named tensors with shapes, and operations from
-- the declared table. No order beyond what data need, no tiles, no layout.
--
-- Before: state.spec.  After: state.graph = { tensors = name -> tensor, order = names,
-- weights = names, entries = { { name, ops, inputs, outputs, flops } } }.
local names = require("names")
local ops = require("ops")
local words = require("words")

local graph = {}

local Builder = {}
Builder.__index = Builder

local function builder(spec)
  return setmetatable({
    spec = spec,
    graph = { tensors = {}, order = {}, weights = {}, entries = {} },
    entry = { name = "forward", ops = {}, inputs = {}, outputs = {}, flops = 0 },
    section = "input",
  }, Builder)
end

function Builder:tensor(tensor)
  assert(not self.graph.tensors[tensor.name], tensor.name)
  self.graph.tensors[tensor.name] = tensor
  self.graph.order[#self.graph.order + 1] = tensor.name
  return tensor
end

--- An input of the entry. minimum and limit bound the values of an i32 one.
function Builder:input(member, type, shape, minimum, limit)
  local tensor = self:tensor { name = "in." .. member, member = member, kind = "input", type = type, shape = shape,
    minimum = minimum or 0, limit = limit or 0 }
  self.entry.inputs[#self.entry.inputs + 1] = tensor.name
  return tensor
end

--- A weight; mean and deviation are those of its random values.
function Builder:weight(path, shape, mean, deviation)
  local found = names.find(self.spec.names, path)
  local tensor = self:tensor { name = path, kind = "weight", type = "f32", shape = shape,
    names = found, part = found.part, parts = found.parts, mean = mean, deviation = deviation }
  self.graph.weights[#self.graph.weights + 1] = path
  return tensor
end

function Builder:constant(path, shape, formula)
  local tensor = self:tensor { name = path, kind = "constant", type = "f32", shape = shape, formula = formula,
    mean = 0, deviation = 0 }
  self.graph.weights[#self.graph.weights + 1] = path
  return tensor
end

--- Adds an op whose result is the tensor `path`.
function Builder:op(op_name, path, operands, attributes)
  local op = ops.make(op_name, self.section, operands, attributes or {})
  op.result = self:tensor { name = path, kind = "scratch", type = op.type, shape = op.shape }
  self.entry.ops[#self.entry.ops + 1] = op
  self.entry.flops = self.entry.flops + op.flops
  return op.result
end

--- x W^T + b. `gain` scales the random weights: what is added to a residual is kept small in deep stacks.
function Builder:linear(path, x, width, bias, gain)
  local from = x.shape[#x.shape]
  return self:op("linear", path, {
    x = x,
    weight = self:weight(path .. ".weight", { width, from }, 0, (gain or 1) / math.sqrt(from)),
    bias = bias and self:weight(path .. ".bias", { width }, 0, 0.1) or nil,
  })
end

function Builder:layer_norm(path, x, eps)
  local width = { x.shape[#x.shape] }
  return self:op("layer_norm", path, {
    x = x,
    gain = self:weight(path .. ".weight", width, 1, 0.1),
    bias = self.spec.bias.norm and self:weight(path .. ".bias", width, 0, 0.1) or nil,
  }, { eps = eps or self.spec.eps })
end

function Builder:attention(path, x)
  local spec = self.spec
  local width = spec.heads * spec.head_dim
  local mask = {
    heads = spec.heads, causal = spec.mask.causal,
    left = spec.mask.window and spec.mask.window.left or -1, right = spec.mask.window and spec.mask.window.right or -1,
  }
  local q = self:linear(path .. ".q", x, width, spec.bias.qkv)
  local k = self:linear(path .. ".k", x, width, spec.bias.qkv)
  local v = self:linear(path .. ".v", x, width, spec.bias.qkv)
  local scores = self:op("scores", path .. ".scores", { q = q, k = k, lengths = self.lengths }, mask)
  local weights = self:op("softmax", path .. ".weights", { scores = scores }, { scale = spec.scale })
  local context = self:op("context", path .. ".context", { weights = weights, v = v, lengths = self.lengths }, mask)
  return self:linear(path .. ".out", context, spec.d_model, spec.bias.out, 1 / math.sqrt(2 * spec.layers))
end

function Builder:feed_forward(path, x)
  local spec = self.spec
  local up = self:linear(path .. ".up", x, spec.d_ff, spec.bias.ff)
  local hidden = self:op("activate", path .. ".act", { x = up }, { ["function"] = spec.activation })
  return self:linear(path .. ".down", hidden, spec.d_model, spec.bias.ff, 1 / math.sqrt(2 * spec.layers))
end

-- x + part(x), with the norm before the part, after the sum, or nowhere.
function Builder:residual(x, norm_path, sum_path, part)
  local norm = self.spec.norm
  local inner = part(norm == "pre" and self:layer_norm(norm_path, x) or x)
  local sum = self:op("add", sum_path, { a = inner, b = x })
  return norm == "post" and self:layer_norm(norm_path, sum) or sum
end

function Builder:layer(index, x)
  local path = "l" .. index
  self.section = "layer " .. index
  x = self:residual(x, path .. ".norm1", path .. ".attn.sum", function(y) return self:attention(path .. ".attn", y) end)
  return self:residual(x, path .. ".norm2", path .. ".ff.sum",
    function(y) return self:feed_forward(path .. ".ff", y) end)
end

local input_stages = {}

function input_stages.hidden(self, spec)
  return self:input("hidden", "f32", { spec.batch, spec.seq, spec.d_model })
end

function input_stages.linear(self, spec, stage)
  local features = self:input("features", "f32", { spec.batch, spec.seq, stage.from })
  return self:linear("input.linear", features, spec.d_model, stage.bias)
end

function input_stages.tokens(self, spec, stage)
  local ids = self:input("ids", "i32", { spec.batch, spec.seq }, 0, stage.vocab)
  return self:op("embed", "input.embedded",
    { ids = ids, table = self:weight("input.tokens.weight", { stage.vocab, spec.d_model }, 0, 1) })
end

function Builder:positions(x)
  local spec = self.spec
  if spec.positions == "none" then return x end
  local shape = { spec.seq, spec.d_model }
  local table_ = spec.positions == "learned" and self:weight("input.positions.weight", shape, 0, 0.5)
    or self:constant("input.positions.sinusoidal", shape, "sinusoidal")
  return self:op("add", "input.states", { a = x, b = table_ })
end

local output_stages = {}

function output_stages.hidden(_, x) return x end

function output_stages.norm(self, x, stage, path) return self:layer_norm(path .. ".norm", x, stage.eps) end

function output_stages.pool(self, x, stage, path)
  return self:op("pool", path .. ".pool", { x = x, lengths = self.lengths }, { ["function"] = stage.over })
end

function output_stages.linear(self, x, stage, path)
  local y = self:linear(path .. ".linear", x, stage.to, stage.bias)
  if not stage.activation then return y end
  return self:op("activate", path .. "." .. stage.activation, { x = y }, { ["function"] = stage.activation })
end

function output_stages.argmax(self, x, _, path) return self:op("argmax", path .. ".argmax", { x = x }) end

local default_output_names = { hidden = "hidden", norm = "hidden", pool = "pooled", linear = "logits",
  argmax = "label" }

-- Makes a tensor an output of this name; one that is an input or an output already is copied.
function Builder:expose(tensor, member)
  if tensor.kind ~= "scratch" then tensor = self:op("copy", "output." .. member, { x = tensor }) end
  tensor.kind, tensor.member = "output", member
  self.entry.outputs[#self.entry.outputs + 1] = tensor.name
end

function Builder:output(x)
  self.section = "output"
  local stages = self.spec.output
  local taken = {}
  for _, stage in ipairs(stages) do if stage.name then taken[stage.name] = true end end
  for i, stage in ipairs(stages) do
    local path = "output." .. i
    if stage.stage == "linear" or not stage.activation then
      x = output_stages[stage.stage](self, x, stage, path)
    else
      x = self:op("activate", path .. "." .. stage.stage, { x = x }, { ["function"] = stage.activation })
    end
    local member = stage.name
    if not member and (i == #stages or stage.stage == "hidden") then
      member = default_output_names[stage.stage] or "activations"
      while taken[member] do member = member .. "_" .. i end
      taken[member] = true
    end
    if member then self:expose(x, member) end
  end
end

function graph.run(state)
  local spec = state.spec
  local self = builder(spec)
  local x = input_stages[spec.input.stage](self, spec, spec.input)
  if spec.mask.padding then self.lengths = self:input("lengths", "i32", { spec.batch }, 1, spec.seq + 1) end
  x = self:positions(x)
  for i = 0, spec.layers - 1 do x = self:layer(i, x) end
  if spec.final_norm then
    self.section = "output"
    x = self:layer_norm("final_norm", x)
  end
  self:output(x)
  self.graph.entries[1] = self.entry
  state.graph = self.graph
end

local function attributes_text(op)
  local parts = {}
  for _, key in ipairs(words.sorted_keys(op.attributes)) do
    local value = op.attributes[key]
    if math.type(value) == "float" then value = ("%.9g"):format(value) end
    parts[#parts + 1] = key .. "=" .. tostring(value)
  end
  return #parts > 0 and " {" .. table.concat(parts, " ") .. "}" or ""
end

--- Weights, then one line an op: result = op(operands) {attributes}   shape   flops
function graph.dump(state)
  local lines = {}
  local g = state.graph
  for _, name in ipairs(g.weights) do
    local t = g.tensors[name]
    lines[#lines + 1] = ("%s %s %s%s"):format(t.kind, name, words.shape(t.shape),
      t.names and " from " .. t.names[1] .. (t.parts > 1 and (" part %d of %d"):format(t.part, t.parts) or "") or "")
  end
  for _, entry in ipairs(g.entries) do
    lines[#lines + 1] = ("entry %s   %d flops"):format(entry.name, entry.flops)
    for _, name in ipairs(entry.inputs) do
      local t = g.tensors[name]
      lines[#lines + 1] = ("  input %s %s %s%s"):format(name, t.type, words.shape(t.shape),
        t.type == "i32" and (" from %d to %d"):format(t.minimum, t.limit - 1) or "")
    end
    for _, op in ipairs(entry.ops) do
      local operands = {}
      for _, operand in ipairs(ops.table[op.op].operands) do
        if op.operands[operand] then operands[#operands + 1] = op.operands[operand].name end
      end
      lines[#lines + 1] = ("  %s = %s(%s)%s   %s   %d flops"):format(op.result.name, op.op,
        table.concat(operands, ", "),
        attributes_text(op), words.shape(op.result.shape), op.flops)
    end
    for _, name in ipairs(entry.outputs) do
      lines[#lines + 1] = ("  output %s = %s"):format(g.tensors[name].member, name)
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

return graph
