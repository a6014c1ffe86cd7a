-- attention.lua: makes the graph operations of one attention, in every form that a description may ask for.
-- These are projections, positions, past and extra keys, scores, terms added to them, masks, weights and the context.
local Builder = require("passes.graph.builder")
local disentangled = require("passes.graph.disentangled")
local masks = require("data.masks")
local precision = require("data.precision")
local rope = require("passes.graph.rope")
local types = require("data.types")
local words = require("common.words")

local attention = {}

local to_float = Builder.to_float

local function array_shape(self, form, keys)
  local spec = self.spec
  if form == 0 then return { self.batch, keys } end
  if form == 1 then return { spec.seq, keys } end
  return { self.batch, spec.heads, spec.seq, keys }
end

-- Returns the rows that are projected to keys: a self-attention's keys without those that bias_kv and zero_attn add.
local function new_keys(spec) return spec.input.stage == "qkv" and spec.key_seq or spec.seq end

local function own_keys(spec) return spec.past + new_keys(spec) end

-- True if a shorter sequence also has fewer keys.
local function keys_grow(spec) return spec.input.stage ~= "qkv" or spec.keys_follow end

local function axes_of_keys(spec, axes) return keys_grow(spec) and axes or (axes:gsub("k", ".")) end

-- Returns a table of the terms of `count` distances from key to query, [heads][count], of which the first is `first`.
local function bucket_table(self, path, formula, first, count)
  local index = self:constant(formula.path, { count }, ("t5_buckets %d %d %d %d"):format(formula.buckets,
    formula.distance, formula.sees_both and 1 or 0, first))
  local weight = self:weight(path .. ".bias.weight", { formula.buckets, self.spec.heads }, 0, 0.5)
  return self:op("bucket_table", path .. ".table", { table = weight, index = index })
end

-- True if rows of a picture follow a sequence's own.
local function joins(spec) return spec.memory and spec.memory.joined end

-- Sets the tables of the terms for differences of boxes. If rows of a picture follow, there is one for places in the
-- sequence, which begin again there: rows have no distance.
local function set_places(self)
  local spec = self.spec
  if not spec.box_buckets then return end
  local path, most = self.prefix .. "places", spec.box_distance
  local formula = { path = path .. ".buckets", buckets = spec.box_buckets, distance = most, sees_both = true }
  self.places = { across = bucket_table(self, path .. ".across", formula, -most, 2 * most + 1),
    down = bucket_table(self, path .. ".down", formula, -most, 2 * most + 1) }
  if not joins(spec) then return end
  local own = spec.t5_distance
  self.places.along = bucket_table(self, self.prefix .. "positions", { path = self.prefix .. "positions.buckets",
    buckets = spec.t5_buckets, distance = own, sees_both = true }, -own, 2 * own + 1)
end

-- Returns a table of the terms that are added at each distance, [heads][queries + keys - 1], or nil. The first column
-- is for the key that is farthest before the query. path: of the table.
local function distances(self, path)
  local spec = self.spec
  if not spec.distances or spec.distances == "disentangled" or joins(spec) then return nil end
  local first = -(spec.seq - 1) - spec.past
  local count = spec.seq + own_keys(spec) - 1
  local shared = self.prefix .. "positions"
  if spec.distances == "alibi" then
    if spec.layers == 0 then return nil end -- nobody reads it
    local is_usual = spec.alibi_max == 8 and spec.alibi_factor == 1
    return self:constant(shared .. ".alibi", { spec.heads, count }, is_usual and "alibi " .. first
      or ("alibi_of %.17g %.17g %d"):format(spec.alibi_max, spec.alibi_factor, first))
  end
  return bucket_table(self, path or shared, { path = shared .. ".buckets", buckets = spec.t5_buckets,
    distance = spec.t5_distance, sees_both = not spec.mask.causal }, first, count)
end

local function have_mask(spec, word)
  return words.any(spec.each or { spec }, function(each) return each.mask[word] end)
end

-- Returns the mask inputs of this layer's mask.
local function arrays_of(self)
  local own = {}
  for word, input in pairs(self.masks) do if self.spec.mask[word] then own[word] = input end end
  return own
end

--- Makes the tensors that all layers' attentions share: arrays of masks, factors of heads, a table of distances.
function attention.inputs(self)
  local spec = self.spec
  if have_mask(spec, "padding") then
    self.lengths = self:grows(self:input("lengths", "i32", { self.batch }, 1, new_keys(spec) + 1), "b",
      keys_grow(spec) and "after" or nil)
  end
  for _, array in ipairs(masks.in_order) do
    if have_mask(spec, array.word) then
      local shape = array_shape(self, array.form, own_keys(spec))
      local limit = array.type == "i32" and 2 or nil
      local input = self:input(array.member, array.type, shape, 0, limit, array.form == 1, "[seq][keys]")
      self.masks[array.word] = self:grows(input, axes_of_keys(spec, masks.axes[array.form]),
        array.type == "i32" and (array.keeps and "zeros" or "ones") or nil)
    end
  end
  if spec.head_mask.kind == "input" and spec.layers > 0 then
    self.factors = self:grows(self:input("head_mask", "f32", { spec.layers, spec.heads }, nil, nil, true,
      "[layers][heads]"), "..")
  end
  self.distances = not spec.t5_by_layer and distances(self) or nil
  set_places(self)
end

-- Rotates queries or keys [B][rows][heads head_dim] by their positions. of_queries: true for queries, which may have a
-- table of their own.
local function rotate(self, path, x, heads, of_queries)
  local spec = self.spec
  if spec.rope_dim == 0 then return x end
  local shape, own = { x.shape[2], spec.rope_dim // 2 }, self:variant_of_angles()
  local grows = of_queries and rope.grows(spec)
  if grows then own = own .. "_grown" end
  local function angles(name)
    local formula = ("rope_%s %.17g %d"):format(name, spec.rope_theta, spec.past)
    if spec.rope_scaling then formula = rope.formula(name, spec, spec.past, x.shape[2], grows) end
    if spec.rope_patches then formula = rope.of_patches(name, spec) end
    return self:constant(("%spositions.%s_%d%s"):format(self.prefix, name, x.shape[2], own), shape, formula)
  end
  return self:op("rotate", path, { x = x, cosines = angles("cos"), sines = angles("sin") },
    { heads = heads, pairs = spec.rope_style == "pairs" })
end

-- Adds a self-attention's positions to scores: relative_key and disentangled before the scale, distances after it.
local function relative(self, a, scores)
  local spec = self.spec
  if a.positions and spec.distances == "disentangled" then return disentangled.add(self, a, scores) end
  if not a.positions or not spec.positions:find("^relative_key") then return scores end
  local path = a.path .. ".distance"
  local rows = 2 * spec.max_position - 1
  local weight = self:weight(path .. ".weight", { rows, spec.head_dim }, 0, 1 / math.sqrt(spec.head_dim))
  local function add(name, x, keys)
    return self:op("add_relative", path .. "." .. name, { scores = scores, x = x, table = weight },
      { heads = a.heads, keys = keys, offset = a.mask.offset, extra = a.mask.extra })
  end
  scores = add("query", a.q, false)
  if spec.positions == "relative_key_query" then scores = add("key", a.k, true) end
  return scores
end

-- Returns the scores with all terms added, and the factor by which the softmax still has to multiply them.
local function added(self, a, scores)
  local spec = self.spec
  local value = spec.mask_value and to_float(spec.mask_value)
  local table_ = a.distances
  local scale = spec.scale
  local places = a.positions and self.places
  local adds = spec.softcap or spec.attention_output.scores or table_ or places or (a.lengths and value)
    or (a.key_padding and value)
  for _, array in ipairs(masks.in_order) do adds = adds or (a.masks[array.word] and array.op == "add_array") end
  local function op(name, what, operands, attributes)
    operands.scores = scores
    scores = self:op(name, a.path .. "." .. what, operands, attributes)
  end
  if adds and scale ~= 1.0 then
    scores = self:op("scale", a.path .. ".scaled", { x = scores }, { factor = to_float(scale) })
    scale = 1.0
  end
  local extra = a.mask.extra
  if spec.softcap then
    scores = self:op("softcap", a.path .. ".capped", { x = scores }, { cap = to_float(spec.softcap) })
  end
  if table_ then
    op(a.gates and "add_gated" or "add_distance", "placed", { table = table_, gates = a.gates }, { extra = extra })
  end
  if places then
    op("add_places", "boxed", { boxes = self.boxes, across = places.across, down = places.down,
      along = places.along }, { extra = not places.along and extra or nil })
  end
  for _, array in ipairs(masks.in_order) do
    local operand = a.masks[array.word]
    if operand then
      op(array.op, array.word, { array = operand },
        { shape = array.form, value = array.takes_value and value or nil, keeps = array.keeps })
    end
  end
  if a.lengths and value then
    op("add_length", "padded", { lengths = a.lengths }, { value = value, offset = a.mask.offset, extra = extra })
  end
  return scores, scale
end

-- Returns the weights of scores, times the factors of heads, and the weights before those factors.
local function weighted(self, a, scores, scale)
  local spec = self.spec
  local weights
  if spec.weighting == "softmax" then
    weights = self:op("softmax", a.path .. ".weights", { scores = scores, sinks = a.sinks },
      { scale = scale, fully_masked_nan = spec.fully_masked == "nan" and true or nil })
  else
    weights = self:op("weigh", a.path .. ".weights", { scores = scores },
      { relu = spec.weighting == "relu", scale = to_float(scale) })
  end
  if not a.factors then return weights, weights end
  return self:op("head_scale", a.path .. ".masked", { weights = weights, factors = a.factors },
    { layer = a.factors.shape[1] > 1 and a.layer or 0 }), weights
end

-- Makes the weights, and the scores before them, outputs if the description asks for this layer's.
local function show(self, a, scores, weights, unmasked)
  local wanted = self.spec.attention_output
  if wanted.layers and not wanted.layers[a.layer] then return end
  local function member(what) return ("%s%s%s_%d"):format(self.input_prefix, a.output, what, a.layer) end
  local axes = a.output == "cross_" and "b.s." or axes_of_keys(self.spec, "b.sk")
  if wanted.kind == "heads" then
    self:expose_later(wanted.before_head_mask and unmasked or weights, member("attention"), axes)
  elseif wanted.kind == "mean" then
    self:expose_later(self:op("mean_heads", a.path .. ".mean", { weights = weights }), member("attention"),
      "b" .. axes:sub(3))
  end
  if wanted.scores then self:expose_later(scores, member("scores"), axes) end
end

-- True if an attention multiplies bf16: its precision says so, and pairs of inputs are next to each other. A learned
-- key or one of zeros may have no partner.
local function is_in_pairs(self, a)
  local spec = self.spec
  return precision.of_scores(self.model.precision, self.section, self.has_pairs) == "bf16" and spec.scoring == "dot"
    and spec.head_dim % 2 == 0 and not (a.mask.extra and a.mask.extra > 0)
end

-- True if an attention multiplies integers. Validation has refused the forms that do not go with them.
local function is_of_integers(self)
  return precision.quantises(precision.of_scores(self.model.precision, self.section, self.has_pairs))
end

-- True if the mean of all keys may be subtracted from each: the softmax does not see it, as it adds one number to all
-- scores of a query. Where a query does not see all keys, the mean would bring others into its result.
local function may_centre(self, a)
  local mask = a.mask
  return not (mask.causal or mask.prefix or mask.left >= 0 or mask.right >= 0 or self.spec.softcap
    or next(a.masks) ~= nil)
end

-- Returns the context of weights from 0 to 255 and values in int8, with a scale for each column.
local function integer_context(self, a, scores, scale, v, v_scale)
  local weights = self:op("exponentials", a.path .. ".exponentials", { scores = scores }, { scale = scale })
  local rounded = self:op("round_to_bytes", a.path .. ".weights", { weights = weights })
  local weight_scale = self:op("weight_scale", a.path .. ".weights.scale", { weights = rounded, exact = weights })
  local of_context = { kv_heads = a.kv_heads ~= a.heads and a.kv_heads or nil }
  for key, value in pairs(a.mask) do of_context[key] = value end
  return self:op("context_of_integers", a.path .. ".context", { weights = rounded, v = v,
    weight_scale = weight_scale, v_scale = v_scale }, of_context)
end

-- Returns the context of an attention in int8: queries and keys with a scale for each head of a row, values with one
-- for each column. A key whose values are not finite gets a scale of NaN, as integers cannot hold them.
local function attend_integers(self, a, lengths)
  local keys = a.k
  local q, q_scale = self:quantise_heads(a.path .. ".q", a.q, a.heads)
  if may_centre(self, a) then keys = self:op("centre", a.path .. ".k.centred", { x = a.k, lengths = lengths }) end
  local k, k_scale = self:quantise_heads(a.path .. ".k", keys, a.kv_heads, a.v)
  local v_scale = self:op("column_scale", a.path .. ".v.scale", { x = a.v, lengths = lengths })
  local v = self:op("quantise_columns", ("%s.v.%s"):format(a.path, types.all[types.quantised].word),
    { x = a.v, scale = v_scale, lengths = lengths })
  local scores = self:op("scores_of_integers", a.path .. ".scores",
    { q = q, k = k, q_scale = q_scale, k_scale = k_scale, lengths = lengths }, a.mask)
  local scale
  scores, scale = added(self, a, scores)
  return integer_context(self, a, scores, scale, v, v_scale)
end

-- The most numbers that a Hadamard matrix mixes: ATTN2C_HADAMARD_MOST of runtime/ops/hadamard.h.
local MOST_TURNED = 256

-- Returns x with each head turned by a Hadamard matrix, if a state keeps integers. That spreads a head's outliers over
-- its numbers, so that all can share a scale (QuaRot, Ashkboos et al. 2024). Queries by keys stay as they were, and the
-- context is turned back. The matrix has the largest power of two that divides the head.
local function turned(self, path, x, heads)
  local width = x.shape[3] // heads
  local block = math.min(width & -width, MOST_TURNED)
  if not precision.cache_bits(self.spec.cache) or block == 1 then return x end
  return self:op("hadamard", path, { x = x }, { heads = heads, block = block })
end

-- Returns keys and values as an attention multiplies them, or as a state keeps them, and their scales if they are
-- integers.
local function as_numbers(self, a, k, v)
  local bits = precision.cache_bits(self.spec.cache)
  if bits then
    local function quantised(name, x)
      return self:quantise_heads(a.path .. name, turned(self, a.path .. name .. ".turned", x, a.kv_heads), a.kv_heads,
        nil, bits)
    end
    local keys, k_scale = quantised(".k", k)
    local values, v_scale = quantised(".v", v)
    return keys, values, k_scale, v_scale
  end
  if is_in_pairs(self, a) then return self:round_for_attention(k), self:round_for_attention(v) end
  return k, v
end

-- Marks keys and values that a state keeps, which grow with a symbol.
local function mark_kept(self, a, k, v, symbol)
  local bits = precision.cache_bits(self.spec.cache)
  k.kept = { role = "keys", head_dim = k.shape[3] // a.kv_heads, grows_with = symbol, bits = bits }
  v.kept = { role = "values", head_dim = v.shape[3] // a.kv_heads, grows_with = symbol, bits = bits }
end

-- Returns the keys and values of a source that the entry `encode` has made, and their scales if they are integers.
local function kept_source(self, a)
  local spec, rows = self.spec, self.memory.rows
  local has_scales = precision.cache_bits(spec.cache)
  local type = has_scales and types.quantised or is_in_pairs(self, a) and "bf16" or "f32"
  local function kept(name, width, of)
    return self:kept(("%s.%s"):format(a.path, name), { self.batch, rows, width }, of)
  end
  local width = a.kv_heads * spec.head_dim
  local k, v = kept("k.kept", width, type), kept("v.kept", width, type)
  mark_kept(self, a, k, v, "source")
  if not has_scales then return k, v end
  return k, v, kept("k.scale", a.kv_heads, "f32"), kept("v.scale", a.kv_heads, "f32")
end

-- Returns the context of queries a.q, keys a.k and values a.v; of a source that a state keeps without a.k and a.v.
local function attend(self, a)
  local spec, mask = self.spec, a.mask
  local lengths = not spec.mask_value and a.lengths or nil
  if is_of_integers(self) then return attend_integers(self, a, lengths) end
  local scores, k, v, k_scale, v_scale
  local in_pairs, q = is_in_pairs(self, a), a.q
  if in_pairs then q = self:round_for_attention(q) end
  if a.shared and a.shared.k == a.k then
    k, v, k_scale, v_scale = table.unpack(a.shared.numbers, 1, 4)
  elseif a.k then
    k, v, k_scale, v_scale = as_numbers(self, a, a.k, a.v)
    a.numbers = { k, v, k_scale, v_scale }
    if spec.symbols.past.is_open then mark_kept(self, a, k, v, "tokens") end
  else
    k, v, k_scale, v_scale = kept_source(self, a)
  end
  if k_scale then q = turned(self, a.path .. ".q.turned", q, a.heads) end
  if spec.scoring == "additive" then
    local score = self:weight(a.path .. ".score.weight", { a.heads, spec.head_dim }, 0, 1 / math.sqrt(spec.head_dim))
    scores = self:op("additive_scores", a.path .. ".scores", { q = a.q, k = a.k, score = score, lengths = lengths },
      mask)
  else
    scores = self:op("scores", a.path .. ".scores", { q = q, k = k, lengths = lengths, k_scale = k_scale }, mask)
  end
  local scale
  scores, scale = added(self, a, relative(self, a, scores))
  local weights, unmasked = weighted(self, a, scores, scale)
  local weighs = in_pairs and self:op("round_weights", a.path .. ".rounded", { weights = weights }) or weights
  local of_context = { kv_heads = a.kv_heads ~= a.heads and a.kv_heads or nil }
  for key, value in pairs(mask) do of_context[key] = value end
  local plain = not (mask.prefix or mask.extra or mask.offset or spec.fully_masked == "nan" or next(a.masks) ~= nil)
  if not plain then of_context.nonzero = true end
  if spec.fully_masked == "nan" then of_context.fully_masked_nan = true end
  local result = self:op("context", a.path .. ".context", { weights = weighs, v = v, lengths = lengths,
    v_scale = v_scale }, of_context)
  show(self, a, scores, weights, unmasked)
  return v_scale and turned(self, a.path .. ".context.turned", result, a.heads) or result
end

-- True if anything other than the projections depends on a head's number, or on the width of all heads.
local function counts_heads(spec)
  return spec.kv_heads ~= spec.heads or spec.attention_output.kind ~= "none" or spec.attention_output.scores
    or spec.scoring == "additive" or spec.distances or spec.box_buckets
    or spec.qk_norm == "all" or spec.qk_norm == "each" or masks.count_heads(spec.mask)
    or spec.bias_kv or spec.past > 0 or spec.sinks
end

-- True if layers that have the same weights also have the same heads of factor 0.
local function shares_zeros(spec, layer)
  local groups, factors = spec.layer_groups, spec.head_mask.layers
  for other = 1, groups and #groups or 0 do
    for head, factor in ipairs(factors[other] or {}) do
      local is_unlike = (factor == 0) ~= (factors[layer + 1][head] == 0)
      if groups[other] == groups[layer + 1] and is_unlike then return false end
    end
  end
  return true
end

-- Returns the heads of a layer's self-attention whose constant factor is not 0, numbered from 0, or nil for all. The
-- others are left out, unless layers read keys of others: their factors may have zeros elsewhere. stack: the layers'.
local function kept_heads(spec, layer, stack)
  local factors = spec.head_mask.layers and spec.head_mask.layers[layer + 1]
  if not factors or counts_heads(spec) or not shares_zeros(spec, layer) then return nil end
  if words.any(stack.each or { stack }, function(each) return each.keys_of end) then return nil end
  local kept = {}
  for head, factor in ipairs(factors) do if factor ~= 0 then kept[#kept + 1] = head - 1 end end
  return #kept < spec.heads and #kept > 0 and kept or nil
end

-- Returns a constant of the layer's factors, the input of all layers' factors, or nil if all are 1.
local function factors_of(self, a, kept)
  local given = self.spec.head_mask
  if given.kind == "input" then return self.factors end
  if given.kind == "none" then return nil end
  local values, all_one = {}, true
  for head = 1, self.spec.heads do
    local is_kept = kept == nil
    for _, each in ipairs(kept or {}) do is_kept = is_kept or each == head - 1 end
    if is_kept then
      local factor = to_float(given.layers[a.layer + 1][head])
      values[#values + 1] = factor
      all_one = all_one and factor == 1
    end
  end
  if all_one then return nil end
  local texts = words.map(values, function(value) return ("%.17g"):format(value) end)
  return self:constant(a.path .. ".factors", { 1, #values }, "list " .. table.concat(texts, " "), values)
end

-- Appends rows to the keys (or values) of every sequence: a learned one, then zeros.
local function with_extra(self, a, name, x)
  local spec = self.spec
  if not (spec.bias_kv or spec.zero_attn) then return x end
  local width = x.shape[3]
  local path = ("%s.bias_%s"):format(a.path, name)
  return self:op("join", ("%s.%s_extended"):format(a.path, name), {
    a = x,
    b = spec.bias_kv and self:weight(path, { 1, width }, 0, 1, { shape = { 1, 1, width } }) or nil,
  }, { batch = self.batch, zeros = spec.zero_attn and 1 or 0 })
end

--- True if a spec projects a part: q, k, v or out.
function attention.projects(spec, part)
  local given = spec.projections
  if type(given) == "table" then return given[part] end
  return given
end

-- Sets queries, keys and values, those that are given. An input that is not projected is used unchanged, with a slice
-- of it for each head.
local function projections(self, a, query, key, value)
  local spec = self.spec
  local kept = a.kept
  local function project(name, x, heads)
    if not x or not attention.projects(spec, name) then return x end
    return self:linear(a.path .. "." .. name, x, heads * spec.head_dim, spec.bias[name], 1,
      kept and { heads = kept, all = spec.heads, axis = 1 } or nil)
  end
  a.q = project("q", query, a.heads)
  if a.shared then return end
  a.k = project("k", key, a.kv_heads)
  if not a.positions or spec.values == "projected" then
    a.v = project("v", value, a.kv_heads)
  else
    local v = spec.values == "keys" and a.k or project("v", value, a.kv_heads)
    a.v = self:op("rms_norm", a.path .. ".v_norm", { x = v }, { eps = spec.eps, heads = a.kv_heads })
  end
end

local function close(self, a, context)
  local spec = self.spec
  if not attention.projects(spec, "out") then return context end
  local kept, factor = a.kept, self:residual_factor(false)
  local gain = 1 / math.sqrt(2 * math.max(1, spec.layers))
  return self:linear(a.path .. ".out", context, spec.d_model, spec.bias.out, gain,
    kept and { heads = kept, all = spec.heads, axis = 2, factor = factor } or factor and { factor = factor })
end

-- Puts past keys and values before the new ones; the new ones become outputs.
local function with_past(self, a, name, x)
  local spec = self.spec
  local past = self:heads_input(("past_%s_%d"):format(name, a.layer), spec.past, a.kv_heads, x.shape[3], ".")
  local member = ("%s%s_%d"):format(self.input_prefix, name, a.layer)
  if spec.kv_layout == "heads_first" then
    local by_head = self:op("split_heads", ("%s.%s_by_head"):format(a.path, name), { x = x }, { heads = a.kv_heads })
    self:expose_later(by_head, member, "b.s.")
  else
    self:expose_later(x, member, "bs.")
  end
  return self:op("join", ("%s.all_%s"):format(a.path, name), { a = past, b = x }, { batch = self.batch, zeros = 0 })
end

-- Returns the numbers of a query and head that multiply what its distances add: gates of the states (Chi et al. 2022).
local function gates(self, a, x)
  local path, each = a.path .. ".gate", self.spec.head_dim
  return self:op("position_gates", path, {
    x = x,
    weight = self:weight(path .. ".weight", { 8, each }, 0, 1 / math.sqrt(each)),
    bias = self:weight(path .. ".bias", { 8 }, 0, 0.3),
    factors = self:weight(path .. ".factors", { a.heads }, 1, 0.3, { shape = { 1, a.heads, 1, 1 } }),
  }, { heads = a.heads })
end

--- Returns a layer's self-attention to x (with qkv(), to the inputs key and value).
function attention.self(self, path, layer, x)
  local spec = self.spec
  local extra = joins(spec) and spec.memory.seq or (spec.bias_kv and 1 or 0) + (spec.zero_attn and 1 or 0)
  local kept = kept_heads(spec, layer, self.stack_spec or spec)
  local a = { path = path .. ".attn", layer = layer, output = "", positions = true, kept = kept,
    distances = spec.t5_by_layer and distances(self, path .. ".attn.positions") or self.distances,
    heads = kept and #kept or spec.heads, kv_heads = kept and #kept or spec.kv_heads, masks = arrays_of(self),
    lengths = spec.mask.padding and self.lengths or nil, shared = self.keys[spec.keys_of] }
  self.keys[layer] = a
  local from = self.keys_from or { key = x, value = x }
  projections(self, a, x, from.key, from.value)
  a.mask = { heads = a.heads, causal = spec.mask.causal or spec.mask.prefix ~= nil,
    left = spec.mask.window and spec.mask.window.left or -1, right = spec.mask.window and spec.mask.window.right or -1,
    prefix = not spec.mask.causal and spec.mask.prefix or nil, -- a sum of masks: causal makes a prefix irrelevant
    offset = spec.past > 0 and spec.past or nil, extra = extra > 0 and extra or nil }
  a.key_padding = a.masks.key_padding
  if spec.qk_norm ~= "none" then
    local of_heads, each = spec.qk_norm ~= "all", spec.qk_norm == "each"
    a.q = self:norm(a.path .. ".q_norm", a.q, { heads = of_heads and a.heads or nil, each = each })
    a.k = a.k and self:norm(a.path .. ".k_norm", a.k, { heads = of_heads and a.kv_heads or nil, each = each })
  end
  for _, part in ipairs(spec.qkv_limit and { "q", "k", "v" } or {}) do
    if a[part] and attention.projects(spec, part) then
      a[part] = self:op("clamp", ("%s.%s_clamped"):format(a.path, part), { x = a[part] },
        { limit = to_float(spec.qkv_limit) })
    end
  end
  if spec.positions == "rope" then
    a.q = rotate(self, a.path .. ".q_rotated", a.q, a.heads, true)
    a.k = a.k and rotate(self, a.path .. ".k_rotated", a.k, a.kv_heads)
  end
  if a.shared then a.k, a.v = table.unpack(a.shared.own) end
  a.own = { a.k, a.v } -- without rows that a layer appends
  if spec.past > 0 then a.k, a.v = with_past(self, a, "keys", a.k), with_past(self, a, "values", a.v) end
  a.k, a.v = with_extra(self, a, "k", a.k), with_extra(self, a, "v", a.v)
  a.factors = factors_of(self, a, kept)
  a.sinks = spec.sinks and self:weight(a.path .. ".sinks", { a.heads }, 0, 1) or nil
  a.gates = spec.position_gate and a.distances and gates(self, a, x) or nil
  return close(self, a, attend(self, a))
end

--- Returns a layer's gated convolution of x, which reads the rows before each.
function attention.short_conv(self, path, x)
  local spec, kernel, width = self.spec, self.spec.short_conv, self.spec.d_model
  path = path .. ".conv"
  local function project(part) return self:linear(path .. "." .. part, x, width, spec.bias.q) end
  local b, c = project("b"), project("c")
  local rows = self:op("multiply", path .. ".rows", { a = project("x"), b = b })
  if spec.symbols.past.is_open then rows.kept = { role = "values", head_dim = width, grows_with = "tokens" } end
  local y = self:op("convolve_columns", path .. ".mixed", {
    x = rows,
    weight = self:weight(path .. ".weight", { 1, kernel * width }, 0, 1 / math.sqrt(kernel),
      { taps = kernel, shape = { width, 1, kernel } }),
    bias = spec.bias.q and self:weight(path .. ".bias", { width }, 0, 0.1) or nil,
  }, { kernel = kernel })
  return close(self, { path = path }, self:op("multiply", path .. ".gated", { a = y, b = c }))
end

-- Returns what is the same for all uses of a layer's cross-attention: it has the memory's padding, no other mask, and
-- all heads.
local function cross_of(self, path, memory)
  local spec = self.spec
  return { path = path .. ".cross", output = "cross_", heads = spec.heads, kv_heads = spec.kv_heads,
    lengths = memory.lengths, key_padding = memory.key_padding, masks = { key_padding = memory.key_padding },
    mask = { heads = spec.heads, causal = false, left = -1, right = -1 } }
end

-- True if a model finds the times of words by a layer's cross-attention: its queries and keys are outputs then.
local function tells_times(self, layer)
  local speech = self.model.speech
  return speech and speech.words and speech.layers[layer] or false
end

--- Returns a layer's cross-attention from x to the memory.
function attention.cross(self, path, layer, x)
  local a = cross_of(self, path, self.memory)
  a.layer = layer
  projections(self, a, x, self.memory.states, self.memory.states)
  if tells_times(self, layer) then table.insert(self.queries, { layer = layer, tensor = a.q }) end
  return close(self, a, attend(self, a))
end

--- Makes the queries by which a model finds the times of words outputs. A call writes the queries of its last rows.
function attention.show_queries(self)
  for _, each in ipairs(self.queries) do
    local rows = self:op("copy", each.tensor.name .. ".asked", { x = each.tensor })
    self:expose_later(rows, "cross_queries_" .. each.layer, "bs.")
    rows.is_exposed = true
  end
end

--- Makes the keys and values of a source that a layer's cross-attention reads, and keeps them in the state.
function attention.keep_source(self, path, layer, states)
  local a = cross_of(self, path, {})
  projections(self, a, nil, states, states)
  if tells_times(self, layer) then self:expose_later(a.k, "cross_keys_" .. layer, "b..") end
  local k, v, k_scale, v_scale = as_numbers(self, a, a.k, a.v)
  local function keep(name, x, scale)
    local y = self:op("keep", ("%s.%s.kept"):format(a.path, name), { x = x, scale = scale })
    y.type = x.type
    return y
  end
  mark_kept(self, a, keep("k", k, k_scale), keep("v", v, v_scale), "source")
end

return attention
