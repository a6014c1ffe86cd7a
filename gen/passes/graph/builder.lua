-- builder.lua: makes the named inputs, weights, constants, ops and outputs of a graph.
-- One builder is for the model's stack of layers, another for that of an encoder in its memory.
local adapted = require("passes.graph.adapted")
local dump = require("common.dump")
local faults = require("common.faults")
local names = require("checkpoints.names")
local normal = require("common.normal")
local ops = require("data.ops")
local precision = require("data.precision")
local scale_blocks = require("data.scale_blocks")
local sounds = require("data.sounds")
local sources = require("checkpoints.sources")
local targets = require("data.targets")
local types = require("data.types")
local words = require("common.words")

local Builder = {}
Builder.__index = Builder

--- Returns the float nearest to a number. An op's factor must be the same in the emitted C, which prints nine digits,
--- and in the reference. Nine digits of a double may be nearer to another float; a float's are not.
function Builder.to_float(value) return (string.unpack("<f", string.pack("<f", value))) end

-- Returns the rule of a weight that uses another's tensor if the checkpoint has none of its own; its own come first.
local function with_own_names(own, rule)
  if not own or not own.names then return own or rule end
  local joined = words.merged(own)
  joined.names = table.move(own.names, 1, #own.names, 1, {})
  for _, name in ipairs(rule.names or {}) do joined.names[#joined.names + 1] = name end
  return joined
end

-- Returns whether a target has an instruction that multiplies pairs of bf16 (precision.of_scores), and whether targets
-- store the rows that products of bf16 read in different types. The graph is the same for all targets.
local function of_targets(list)
  local function stored(name) return targets.rows(name, "bf16") end
  return words.any(list, function(name) return targets.by_name[name].bf16 == "pairs" end),
    words.any(list, function(name) return stored(name) ~= stored(list[1]) end)
end

--- Returns a builder for the entry of a spec. adapters: those that are kept next to the weights, if the entry reads
--- them; else nil. schemes: a set of other naming schemes than the model's, by which adapters call the weights, or nil.
function Builder.new(spec, name, target_names, adapters, schemes)
  local has_pairs, rows_differ = of_targets(target_names)
  return setmetatable({
    adapters = adapters, schemes = schemes or {}, spec = spec, model = spec, batch = spec.batch, prefix = "",
    input_prefix = "", stack_name = "",
    graph = { tensors = {}, order = {}, weights = {}, adapted = {} },
    entry = { name = name, ops = {}, inputs = {}, outputs = {}, flops = 0 },
    section = "input", masks = {}, angles = {}, attention_outputs = {}, has_pairs = has_pairs,
    rows_differ = rows_differ, products = {}, ordered = {}, queries = {}, keys = {},
  }, Builder)
end

--- Returns a builder of a part of the same graph, for another stack's spec. The prefixes are put before its paths
--- (prefix), inputs (input_prefix) and sections (stack_name).
function Builder:part(spec, prefix, input_prefix, stack_name)
  return setmetatable({
    spec = spec, model = self.model, batch = self.batch, prefix = prefix, input_prefix = input_prefix,
    stack_name = stack_name, graph = self.graph, entry = self.entry, section = "input",
    masks = {}, angles = {}, attention_outputs = self.attention_outputs, layout = self.spec.layout,
    adapters = self.adapters, schemes = self.schemes, has_pairs = self.has_pairs, rows_differ = self.rows_differ,
    products = self.products, ordered = self.ordered, keys = {},
  }, Builder)
end

--- Returns a builder of one of the stack's layers, whose spec may differ from the stack's.
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

--- Makes an input of the entry. minimum, limit: bounds of an i32 input's values. unbatched: the input has no batch;
--- axes then names its dimensions.
function Builder:input(member, type, shape, minimum, limit, unbatched, axes)
  member = self.input_prefix .. member
  member = self.model.inputs and self.model.inputs[member] or member
  local tensor = self:tensor { name = "in." .. member, member = member, kind = "input", type = type, shape = shape,
    minimum = minimum or 0, limit = limit or 0, unbatched = unbatched, axes = axes }
  self.entry.inputs[#self.entry.inputs + 1] = tensor.name
  return tensor
end

--- Sets the axes of an input or output whose size a call decides, a letter each: b for the batch, s for the sequence,
--- k for keys (past, sequence, and extra keys after it), "." for none. hides: how an input says which keys are
--- padding (emit/lengths.lua).
function Builder:grows(tensor, axes, hides)
  if self.prefix == "" or self.spec.symbols.rows.is_open then
    tensor.grows, tensor.hides = axes, hides
  else -- sequences of an encoder have one size
    tensor.grows = axes:gsub("[sk]", ".")
  end
  return tensor
end

--- Makes an input of rows [batch][rows][width]; with the layout seq_first it comes in as [rows][batch][width]. fixed:
--- a shorter sequence has the same number of rows.
function Builder:rows_input(member, rows, width, fixed)
  local axis = fixed and "." or "s"
  if (self.layout or self.spec.layout) ~= "seq_first" then
    return self:grows(self:input(member, "f32", { self.batch, rows, width }), "b" .. axis .. ".")
  end
  local x = self:input(member, "f32", { rows, self.batch, width }, nil, nil, true)
  return self:op("swap", self.prefix .. "input." .. member, { x = self:grows(x, axis .. "b.") })
end

--- Makes an input of keys or values: [batch][rows][heads head_dim], or [batch][heads][rows][head_dim] if kv_layout is
--- heads_first; `join` accepts both. axes: the axes of its rows, as for grows.
function Builder:heads_input(member, rows, heads, width, axes)
  local by_head = self.spec.kv_layout == "heads_first"
  local shape = by_head and { self.batch, heads, rows, width // heads } or { self.batch, rows, width }
  return self:grows(self:input(member, "f32", shape), (by_head and "b." or "b") .. axes .. ".")
end

--- Returns the path of a layer's weight. Layers that have the same weights (layer_groups) use the paths of the group.
function Builder:group_path(path)
  local groups = self.spec.layer_groups
  local layer, rest = path:sub(#self.prefix + 1):match("^l(%d+)(%..*)$")
  if not groups or not layer then return path end
  return ("%sl%d%s"):format(self.prefix, groups[math.tointeger(tonumber(layer)) + 1], rest)
end

--- Makes a weight. mean and deviation are for its random values. source: { rows, first } if the checkpoint's
--- tensor has more rows than are used; { like = path } if it is another weight's tensor; { shape } if the
--- checkpoint's has other dimensions with the same number of elements; { taps } if it is a convolution's,
--- [out][in][taps]; { heads, all, axis } if only some of all
--- heads' rows (axis 1) or columns (2) are taken; { experts } if it has the rows of this many experts.
function Builder:weight(path, shape, mean, deviation, source)
  source = source or {}
  path = self:group_path(path)
  if self.graph.tensors[path] then return self.graph.tensors[path] end
  local like = source.like
  local rule = names.find(self.model.names, like or path, self.model)
  if like then rule = with_own_names(names.own(self.model.names, path, self.model), rule) end
  source.like = nil -- a weight is what it is read from, wherever the name comes from
  local tensor = self:tensor { name = path, kind = "weight", type = "f32", shape = shape, rule = rule, mean = mean,
    deviation = deviation, source = source, experts = source.experts }
  tensor.from = sources.of(tensor, rule, self.spec)
  for scheme in pairs(self.schemes) do
    tensor.elsewhere = tensor.elsewhere or {}
    tensor.elsewhere[scheme] = sources.of(tensor, names.elsewhere(scheme, self.model.names, path, self.model, like),
      self.spec)
  end
  self.graph.weights[#self.graph.weights + 1] = path
  return tensor
end

--- Makes a constant, computed by a formula (runtime/weights/constants.c) when a model is opened. values: its numbers,
--- if the compiler needs them.
function Builder:constant(path, shape, formula, values)
  if self.graph.tensors[path] then return self.graph.tensors[path] end
  local tensor = self:tensor { name = path, kind = "constant", type = "f32", shape = shape, formula = formula,
    mean = 0, deviation = 0, values = values }
  self.graph.weights[#self.graph.weights + 1] = path
  return tensor
end

--- Makes a tensor of the state that another entry writes.
function Builder:kept(path, shape, type)
  return self:tensor { name = path, kind = "state", type = type, shape = shape }
end

-- Returns the tensor by which the result of an op is in the order of experts: `groups` of the op, or of its operand.
local function groups_of(op_name, operands)
  local from = operands.x or operands.a
  return op_name ~= "combine" and (operands.groups or from and from.groups) or nil
end

--- Adds an op whose result is the tensor `path`.
function Builder:op(op_name, path, operands, attributes)
  local op = ops.make(op_name, self.section, operands, attributes or {})
  op.result = self:tensor { name = path, kind = "scratch", type = op.type, shape = op.shape,
    unbatched = op.unbatched, wide = op.wide, groups = groups_of(op_name, operands) }
  self.entry.ops[#self.entry.ops + 1] = op
  self.entry.flops = self.entry.flops + op.flops
  return op.result
end

-- Returns the index of the op that makes a tensor, or nil.
local function maker_of(list, tensor)
  for i = #list, 1, -1 do if list[i].result == tensor then return i end end
  return nil
end

-- Returns the result of an op that is inserted after the op that makes the tensor `after`.
function Builder:op_after(after, op_name, path, operands, attributes)
  local list, section = self.entry.ops, self.section
  local at = maker_of(list, after)
  if at then self.section = list[at].section end
  local y = self:op(op_name, path, operands, attributes)
  self.section = section
  if at then table.insert(list, at + 1, table.remove(list)) end
  return y
end

--- Returns x rounded to bf16, stored as a type, bf16 or f32; all its readers share it. suffix: of its path, or nil.
function Builder:round(x, type, suffix)
  local path = x.name .. (suffix or type == "f32" and ".bf16_floats" or ".bf16")
  if self.graph.tensors[path] then return self.graph.tensors[path] end
  local y = self:op_after(x, "round", path, { x = x })
  y.type = type
  return y
end

--- Returns x rounded to bf16 as an attention multiplies it. Products share it, unless some target stores their rows as
--- floats and another does not: then all targets have both.
function Builder:round_for_attention(x) return self:round(x, "bf16", self.rows_differ and ".bf16_pairs" or nil) end

--- Returns x as integers, and the scale of each row, or of each expert's part of it; all readers share them.
function Builder:quantise(x)
  local path, scale_path = x.name .. "." .. types.all[types.quantised].word, x.name .. ".scale"
  local known = self.graph.tensors[path]
  if known then return known, self.graph.tensors[scale_path] end
  local heads = x.groups and { heads = x.groups.shape[#x.groups.shape] }
  local scale = self:op_after(x, "row_scale", scale_path, { x = x }, heads)
  return self:op_after(scale, "quantise", path, { x = x, scale = scale }, heads), scale
end

-- Returns x with its columns in the order of the groups of a product's weight, which then has its inputs in this order.
-- Products that read the same x share one order, unless the key `input_order` gives them their own.
function Builder:in_order(path, weight, x)
  local word = scale_blocks.of_linear(self.model.input_order, self.section, self:group_path(path))
  if not word then return x end
  weight.in_groups = true
  local name = word == "file" and x.name .. ".ordered" or path .. ".own_ordered" -- path may also be an x's name
  local leader = self.ordered[name]
  if leader then
    weight.order_like = leader
    return self.graph.tensors[name]
  end
  self.ordered[name] = weight
  local order = self:constant(weight.name .. ".order", { weight.shape[2] }, "order " .. weight.name)
  order.order_of = weight
  return self:op_after(x, "gather_columns", name, { x = x, order = order })
end

--- Returns x as integers in scale blocks; all readers share them. fine: whether the integers have 15 bits.
function Builder:quantise_blocks(x, fine)
  local path = x.name .. (fine and ".fine_blocks" or ".blocks")
  return self.graph.tensors[path]
    or self:op_after(x, fine and "quantise_blocks_finely" or "quantise_blocks", path, { x = x })
end

--- Returns x as integers with a scale for each head of a row, and the scales. guard: of row_scale, or nil; bits: of the
--- integers, 8 by default.
function Builder:quantise_heads(path, x, heads, guard, bits)
  local attributes = { heads = heads, bits = bits ~= 8 and bits or nil }
  local scale = self:op("row_scale", path .. ".scale", { x = x, guard = guard }, attributes)
  return self:op("quantise", ("%s.int%d"):format(path, bits or 8), { x = x, scale = scale }, attributes), scale
end

-- Returns the constant that the integers of a weight are multiplied with: one number a row.
function Builder:scales_of(weight)
  local scale = self:constant(weight.name .. ".scales", { weight.shape[1] }, "scales " .. weight.name)
  scale.scales_of, scale.experts = weight, weight.experts
  return scale
end

--- Adds an op that looks up rows of a table of embeddings. The table has the number type that the precision says.
function Builder:embed(path, ids, weight)
  local word = scale_blocks.of_table(self.model.weights)
  weight.type = word and types.of_scaled[word] or types.of_word[precision.of_table(self.model.precision)]
  local scale = types.all[weight.type].scales and self:scales_of(weight) or nil
  local change = adapted.looked_up(self, path, ids, weight)
  local y = self:op("embed", change and path .. ".alone" or path, { ids = ids, table = weight, scale = scale })
  return change and change(y) or y
end

-- Gives the weight of a product the number type of its part. Returns x as the product reads it, and the scale of each
-- row if that is integers.
function Builder:converted(path, weight, x)
  local in_blocks = scale_blocks.of_linear(self.model.weights, self.section, self:group_path(path))
  self.products[self:group_path(path)] = true
  if in_blocks then
    local is_fine = scale_blocks.has_fine_inputs(self.section, path, self.spec, self.model.layers)
    weight.type = types.of_scaled[in_blocks]
    return self:quantise_blocks(self:in_order(path, weight, x), is_fine)
  end
  local word = precision.of_linear(self.model.precision, self.section, path)
  local type = types.all[types.of_word[word]]
  if type.rows then weight.type = type.name end
  if type.rows == "round" then return self:round(x, targets.rows(self.model.target, word)) end
  if type.rows == "quantise" then return self:quantise(x) end
  return x
end

--- Returns the input that says which adapter each sequence has, 0: none. An entry that no call with an adapter takes
--- does not read it, but has it, so that callers can give it.
function Builder:of_sequences()
  local graph, count = self.graph, #self.model.adapters
  if not graph.adapters then
    local whole = setmetatable({ input_prefix = "" }, { __index = self }) -- of all stacks
    graph.adapters = self:grows(whole:input("adapters", "i32", { self.batch }, 0, count + 1), "b")
    graph.adapters.zeros = true
  end
  return graph.adapters
end

--- Returns a product with a packed weight, x W^T + b, in its part's number type, with what adapters add to it.
function Builder:product(path, operands)
  local weight, change = operands.weight, adapted.change(self, path, operands)
  local x, row_scale = self:converted(path, weight, operands.x)
  local own = change and path .. ".alone" or path
  local y, sums
  if not row_scale then
    operands.x = x
    y = self:op("linear", own, operands)
  else
    local scale = self:scales_of(weight)
    sums = self:op("linear_integers", path .. ".sums", { x = x, weight = weight })
    y = self:op("dequantise", own, { x = sums, row_scale = row_scale, scale = scale, bias = operands.bias })
  end
  return change and change(y, sums or y) or y
end

-- Returns the type of numbers of a convolution in a part: that of its products, or bf16 in place of integers, as rows
-- with one scale overlap in no way. Numbers that are read in groups must be there in whole groups.
local function type_of_windows(self, path, width)
  local word = precision.of_linear(self.model.precision, self.section, path)
  if types.all[types.of_word[word]].rows == "quantise" then word = "bf16" end
  local group = types.group(types.of_word[word])
  if width % group ~= 0 then word = "f32" end
  return word
end

--- Returns the convolution of x along its rows, each group of columns by itself. lengths: of the sequences, or nil.
function Builder:convolution(path, x, kernel, groups, lengths)
  local width = x.shape[3]
  local each = width // groups
  local inputs = kernel * each
  local weight = self:weight(path .. ".weight", { width, inputs }, 0, 1 / math.sqrt(inputs), { taps = kernel })
  weight.groups = groups
  local word = type_of_windows(self, path, each)
  if types.all[types.of_word[word]].rows == "round" then
    weight.type, x = types.of_word[word], self:round(x, targets.rows(self.model.target, word))
  end
  return self:op("convolve", path, { x = x, weight = weight, bias = self:weight(path .. ".bias", { width }, 0, 0.1),
    lengths = lengths }, { kernel = kernel, groups = groups })
end

--- Returns the weight of a convolution of rows, conv { width, kernel }, of a width.
function Builder:weight_of_taps(path, width, conv)
  local inputs = conv.kernel * width
  return self:weight(path .. ".weight", { conv.width, inputs }, 0, 1 / math.sqrt(inputs), { taps = conv.kernel })
end

-- Channels, of which a convolution that computes two rows with five products in place of six has a multiple. A panel of
-- the sum of two taps is made in each call: 4 rows' worth of products.
local LEAST_CHANNELS = 64

--- Returns a convolution of x along its rows, conv { width, kernel, stride, bias, norm }, without padding: windows of
--- rows, times a weight. is_first: x are samples; the product then is in f32. A norm of each channel right after it
--- removes the bias.
--- is_even: its first row is an even one of the sound in each call. Bits of a row in a pair depend on which of both it
--- is, but not on the rows of a call.
function Builder:strided(path, x, conv, is_first, is_even)
  local weight = self:weight_of_taps(path, x.shape[3], conv)
  local word = is_first and "f32" or type_of_windows(self, path, x.shape[3])
  if types.all[types.of_word[word]].rows == "round" then
    weight.type, x = types.of_word[word], self:round(x, targets.rows(self.model.target, word))
  end
  local rows = self:op("windows", path .. ".windows", { x = x }, { kernel = conv.kernel, stride = conv.stride })
  rows.type = x.type
  local in_pairs = conv.kernel == 3 and conv.stride == 2 and word == "f32" and x.shape[3] % LEAST_CHANNELS == 0
    and is_even and rows.shape[2] > 1
  return self:op("linear", path, { x = rows, weight = weight,
    bias = conv.bias and sounds.moments(conv) ~= "covariance" and self:weight(path .. ".bias", { conv.width }, 0, 0.1)
      or nil,
    pairs = in_pairs and self:op("pair_rows", path .. ".pairs", { x = x }, {}) or nil })
end

--- Returns x W^T + b. `gain` scales the random weights, so that terms added to a residual stay small in deep stacks.
function Builder:linear(path, x, width, bias, gain, source)
  local from = x.shape[#x.shape]
  local of_bias = source and source.axis ~= 1 and { factor = source.factor } or source
  return self:product(path, {
    x = x,
    weight = self:weight(path .. ".weight", { width, from }, 0, (gain or 1) / math.sqrt(from), source or nil),
    bias = bias and self:weight(path .. ".bias", { width }, 0, 0.1, of_bias or nil) or nil,
  })
end

--- Returns a feed-forward's activation of its gate, times up. product(name): makes one of these, "gate" or "up". With
--- gate_sparsity this share of a gate's numbers is cut off, if they are normal (statistical top-k, You et al. 2025).
function Builder:gated(path, product)
  local limit = self.spec.gate_limit and Builder.to_float(self.spec.gate_limit)
  local function within(name, x, only_above)
    return limit and self:op("clamp", ("%s.%s_cut"):format(path, name), { x = x },
      { limit = limit, only_above = only_above }) or x
  end
  local gate, sparsity = within("gate", product("gate"), true), self.spec.gate_sparsity or 0
  if sparsity > 0 then
    gate = self:op("sparsify", path .. ".gate_kept", { x = gate },
      { factor = Builder.to_float(normal.quantile(Builder.to_float(sparsity))) })
  end
  local act = self:op("activate", path .. ".act", { x = gate }, { ["function"] = self.spec.activation })
  return self:op("multiply", path .. ".gated", { a = within("up", product("up")), b = act },
    { plus_one = limit and true or nil })
end

--- Returns the linear layer of a router. Its numbers are floats in all precisions, as the choice of experts is.
function Builder:router(path, x, width, bias)
  local from = x.shape[#x.shape]
  return self:op("linear", path, { x = x, weight = self:weight(path .. ".weight", { width, from }, 0,
    1 / math.sqrt(from)), bias = bias and self:weight(path .. ".bias", { width }, 0, 0.1) or nil })
end

-- Returns x once for each expert of a row, unless it has a part for each already; all readers share it.
function Builder:spread(x, groups)
  if x.groups then return x end
  local path = x.name .. ".spread"
  if self.graph.tensors[path] then return self.graph.tensors[path] end
  local y = self:op("spread", path, { x = x, groups = groups })
  y.type = x.type
  return y
end

--- Returns the products of rows with the weights of their experts. given: { experts: their number, width: outputs of
--- each, bias: whether there are biases, gain: as for linear }.
function Builder:of_experts(path, x, groups, given)
  local from, count = x.shape[#x.shape], given.experts
  if x.groups then from = from // groups.shape[#groups.shape] end
  local source = { experts = count }
  local weight = self:weight(path .. ".weight", { count * given.width, from }, 0,
    (given.gain or 1) / math.sqrt(from), source)
  local bias = given.bias and self:weight(path .. ".bias", { count * given.width }, 0, 0.1, source) or nil
  local rows, row_scale = self:converted(path, weight, x)
  rows, row_scale = self:spread(rows, groups), row_scale and self:spread(row_scale, groups)
  if not row_scale then
    return self:op("linear_experts", path, { x = rows, groups = groups, weight = weight, bias = bias })
  end
  local sums = self:op("linear_experts_integers", path .. ".sums", { x = rows, groups = groups, weight = weight })
  return self:op("dequantise_experts", path, { x = sums, row_scale = row_scale, scale = self:scales_of(weight),
    groups = groups, bias = bias })
end

--- Returns a norm of the stack's kind. given: eps and kind, if they are not the stack's; heads: the number of parts of
--- a row that have a norm by themselves, with one weight; each: they have weights of their own and no bias; factor: of
--- the weight and the bias.
function Builder:norm(path, x, given)
  given = given or {}
  local heads, each = given.heads, given.each or nil
  local width = x.shape[#x.shape] // (heads or 1)
  local shape = each and { heads, width } or { width }
  local rms, source = (given.kind or self.spec.norm_kind) == "rms", { factor = given.factor }
  local has_bias = given.kind == "layer" or given.kind == nil and self.spec.bias.norm and not each
  return self:op(rms and "rms_norm" or "layer_norm", path, {
    x = x,
    gain = self:weight(path .. ".weight", shape, 1, 0.1, source),
    bias = has_bias and self:weight(path .. ".bias", shape, 0, 0.1, source) or nil,
  }, { eps = given.eps or self.spec.eps, heads = heads, each = each })
end

local norm_after = words.set { "sandwich", "res_post" }

--- True if a part's result has a norm before it is added to the residual.
function Builder:has_norm_after() return norm_after[self.spec.norm] == true end

--- Returns the factor residual_scale if it belongs to the weights of the norm after a part (of_norm) or of the part's
--- last product, else nil.
function Builder:residual_factor(of_norm)
  local factor = self.spec.residual_scale
  return factor ~= 1.0 and self:has_norm_after() == of_norm and factor or nil
end

--- Returns the end of the names of this layer's tables of angles: "" for tables by the stack's keys, else one for each
--- combination of keys.
function Builder:variant_of_angles()
  local stack, spec = self.stack_spec or self.spec, self.spec
  local function text(of) return ("%s %s\n%s"):format(of.rope_theta, of.rope_dim, dump.table(of.rope_scaling or {})) end
  local own = text(spec)
  if own == text(stack) then return "" end
  local known = self.angles
  for i, each in ipairs(known) do if each == own then return "_" .. i + 1 end end
  known[#known + 1] = own
  return "_" .. #known + 1
end

--- Makes a tensor an output with a name, and returns the output. An input, or a tensor that is an output already, is
--- copied. axes: as for grows.
function Builder:expose(tensor, member, axes)
  if tensor.kind ~= "scratch" then tensor = self:op("copy", "output." .. member, { x = tensor }) end
  tensor.kind, tensor.member = "output", member
  self:grows(tensor, axes)
  self.entry.outputs[#self.entry.outputs + 1] = tensor.name
  return tensor
end

--- Makes a tensor an output that is listed after the outputs of the output stages.
function Builder:expose_later(tensor, member, axes)
  assert(tensor.kind == "scratch")
  tensor.kind, tensor.member = "output", member
  self:grows(tensor, axes)
  self.attention_outputs[#self.attention_outputs + 1] = tensor.name
end

-- Checks that each path of a key by part is that of a linear layer. products: a set of their paths. Faults: usage.
local function check_paths(self, key, products)
  local lines, layers = {}, self.model.layers
  for _, path in ipairs(scale_blocks.paths(self.model[key])) do
    local layer = tonumber(path:match("^l(%d+)%."))
    if layer and layer >= layers then
      lines[#lines + 1] = ("%s: %s: %s"):format(key, path, layers == 0 and "there are no layers"
        or ("there are %d layers, numbered from 0"):format(layers))
    elseif self:group_path(path) ~= path then
      lines[#lines + 1] = ("%s: %s: the layer has the weights of another one; name %s"):format(key,
        path, self:group_path(path))
    elseif not products[path] then
      lines[#lines + 1] = ("%s: %s: the model has no such linear layer"):format(key, path)
    end
  end
  if #lines > 0 then faults.raise("usage", lines) end
end

-- Checks that the description names weights and linear layers that some entry has. graphs: of all entries.
local function check_names(self, graphs)
  local weights, products = {}, {}
  for _, each in ipairs(graphs) do
    table.move(each.weights, 1, #each.weights, #weights + 1, weights)
    for path in pairs(each.products) do products[path] = true end
  end
  names.check_used(self.model.names, weights)
  check_paths(self, "weights", products)
  check_paths(self, "input_order", products)
end

--- Returns the graph. others: the graphs of all other entries, if this is the last one; else nil. Faults: usage.
function Builder:finish(others)
  local graph = self.graph
  graph.products = self.products
  for _, name in ipairs(self.attention_outputs) do self.entry.outputs[#self.entry.outputs + 1] = name end
  graph.entry = self.entry
  if others then check_names(self, { graph, table.unpack(others) }) end
  return graph
end

return Builder
