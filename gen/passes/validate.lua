-- validate.lua: turns a description's table into a spec, and reports all of its faults at once.
-- It checks types, ranges and which keys go together, and fills in defaults. It changes no meaning: a spec says the
-- same as its description.
--
-- Before: state.description, state.host(number types of products): the best target of this machine, state.system: the
-- operating system that code is made for (nil: Linux), state.length:
-- the length in place of any length, for a model that does not go with that; or nil. After:
--   state.entries   the functions that callers call. An entry is a state of its own that inherits from the model's:
--                   { name ("forward"), suffix (of its symbols, ""), sizes = { batch, seq, any }, spec (every key
--                   present) }
--   state.primary   the entry whose inputs and outputs are the model's
--   state.spec      the spec of the primary entry
--   state.builds    the model for each of its targets, the one with the most instructions first: the state itself,
--                   and others that inherit from it and have their own spec, entries and build_suffix ("_avx2"); with
--                   a list, the first has a suffix too. instead: the target of the list with the same bits whose
--                   variant is used where this target's instructions for bf16 are slower, or false
--   state.target_names   the targets of all builds
--   state.product_types the set of number types of the model's products
local dump = require("common.dump")
local faults = require("common.faults")
local hints = require("data.hints")
local keys = require("data.keys")
local any_length = require("passes.validate.any_length")
local context = require("passes.validate.context")
local convolutions = require("passes.validate.convolutions")
local disentangled = require("passes.validate.disentangled")
local encoders = require("passes.validate.encoders")
local experts = require("passes.validate.experts")
local joined = require("passes.validate.joined")
local late_interaction = require("passes.validate.late_interaction")
local spans = require("passes.validate.spans")
local layers = require("passes.validate.layers")
local output = require("passes.validate.output")
local ctc = require("passes.validate.ctc")
local pictures = require("passes.validate.pictures")
local precision = require("passes.validate.precision")
local projections = require("passes.validate.projections")
local ranks = require("passes.validate.ranks")
local readers = require("passes.validate.readers")
local values = require("passes.validate.values")
local sharing = require("passes.validate.sharing")
local sizes = require("passes.validate.sizes")
local sounds = require("passes.validate.sounds")
local speech = require("passes.validate.speech")
local streams = require("passes.validate.streams")
local symbols = require("passes.validate.symbols")
local targets_of = require("passes.validate.targets_of")
local systems = require("data.systems")
local targets = require("data.targets")
local types = require("data.types")
local weights = require("passes.validate.weights")
local stages = require("data.stages")
local words = require("common.words")

local validate = {}

local show = values.show

local MOST_LINES = 100

local function resolve_heads(say, spec)
  if spec.d_model and spec.heads and not spec.head_dim then
    if spec.d_model % spec.heads ~= 0 then
      say("heads", "d_model %d is not divisible by heads %d, and head_dim is not given", spec.d_model, spec.heads)
    elseif spec.d_model // spec.heads > 512 then
      say("head_dim", "d_model %d / heads %d gives %d, but 1 to 512 is allowed", spec.d_model, spec.heads,
        spec.d_model // spec.heads)
    else
      spec.head_dim = spec.d_model // spec.heads
    end
  end
  if spec.heads then
    spec.kv_heads = spec.kv_heads or spec.heads
    if spec.heads % spec.kv_heads ~= 0 then
      say("kv_heads", "heads %d is not divisible by kv_heads %d", spec.heads, spec.kv_heads)
    end
  end
end

-- Moves the bounds of masks, which may be in the mask or next to it, into the spec.
local function resolve_mask(say, spec, given)
  local mask = spec.mask
  for _, bound in ipairs { "window", "prefix" } do
    local wants = "wants_" .. bound
    if given[bound] ~= nil and not mask[wants] then
      say(bound, "given, but mask does not say " .. bound)
    elseif given[bound] ~= nil and mask[bound] then
      say(bound, "given twice: here and in mask")
    end
    mask[bound] = mask[bound] or spec[bound]
    if mask[wants] and not mask[bound] and given[bound] == nil and
      not (type(given.mask) == "table" and given.mask[bound] ~= nil) then
      say("mask", bound == "window" and "window without bounds; give window = { left, right }"
        or "prefix without its length; give prefix = N")
    end
    mask[wants], spec[bound] = nil, nil
  end
  if mask.prefix and mask.window then say("mask", "prefix does not go with window") end
end

-- Checks mask_value, which belongs to the stack's own padding and to its memory's.
local function check_mask_value(say, spec)
  local memory = spec.memory and spec.memory.mask or "none"
  local pads = layers.have_mask(spec, "padding") or layers.have_mask(spec, "key_padding") or memory ~= "none"
  if spec.mask_value and spec.mask and not pads then
    say("mask_value", "goes with mask = \"padding\" or \"key_padding\"")
  end
end

local norm_before = words.set { "pre", "sandwich" }

local function is_rope(spec) return spec.positions == "rope" end

local function is_relative(spec) return spec.positions == "relative_key" or spec.positions == "relative_key_query" end

-- Returns the number of rows of an image's sequence, or nil after a fault.
local function image_rows(say, input)
  if not (input.height and input.width and input.patch and input.registers) then return nil end
  if (input.row_stride == nil) ~= (input.column_stride == nil) then
    return say("input", "row_stride and column_stride go together")
  elseif input.row_stride and input.channels ~= 1 then
    return say("input.channels", "%d, but an image that comes in column by column has 1", input.channels)
  elseif input.patch > math.min(input.height, input.width) then
    return say("input.patch", "%d, but the image is %d x %d", input.patch, input.height, input.width)
  end
  local numbers = (input.channels or 1) * input.patch * input.patch
  if numbers > 65536 then return say("input.patch", "a patch has %d values, but at most 65536 are allowed", numbers) end
  if input.distillation_token and not input.class_token then
    return say("input.distillation_token", "goes with class_token")
  end
  if input.registers > 0 and not input.class_token then return say("input.registers", "go with class_token") end
  local down, across = stages.patches(input)
  return down * across + (input.class_token and 1 or 0) + (input.distillation_token and 1 or 0) + input.registers
end

local function resolve_input(say, spec, given)
  spec.input = spec.input or { stage = "hidden" }
  if spec.input.optional_types and spec.input.types == 0 then say("input.optional_types", "goes with types") end
  local dropped = spec.input.dropped
  if dropped and spec.input.vocab and dropped >= spec.input.vocab then
    say("input.dropped", "%d, but ids are below vocab, %d", dropped, spec.input.vocab)
  end
  local rows = spec.input.stage == "image" and image_rows(say, spec.input)
  if rows and spec.seq and spec.seq ~= rows and given.context == nil then
    say("seq", "%d, but the image has %d rows: its patches%s", spec.seq, rows,
      spec.input.distillation_token and " and two tokens" or spec.input.class_token and " and the class token" or "")
  elseif rows and rows > 4096 then
    say("input", "the image has %d rows, but at most 4096 are allowed", rows)
  end
  spec.seq = spec.seq or rows
  if not spec.seq and given.seq == nil and given.context == nil and spec.input.stage ~= "image" then
    say("seq", "missing: tokens (frames) a sequence")
  end
end

-- Checks the buckets of distances. name: what their keys begin with; one_side: the buckets of one side.
local function check_buckets(say, spec, name, one_side)
  local buckets, distance = spec[name .. "_buckets"], spec[name .. "_distance"]
  if one_side // 2 < 1 then
    say(name .. "_buckets", "%d, but at least 4 are needed where queries see both sides", buckets)
  elseif distance and distance <= one_side // 2 then
    say(name .. "_distance", "%d, but with %d buckets it must be above %d", distance, buckets, one_side // 2)
  end
end

-- Checks the widths of the six parts of a row that boxes make.
local function check_places(say, spec)
  local own, width = spec.input.place_width, spec.input.width or spec.d_model
  if spec.input.projected == "before_positions" then width = spec.d_model end
  for _, key in ipairs { "place_width", "separator_place" } do
    if spec.input[key] and not spec.input.boxes then say("input." .. key, "goes with boxes") end
  end
  if spec.input.boxes and own and width and (width % 2 ~= 0 or 4 * own >= width) then
    say("input.place_width", "%d, but four of them and two equal parts of the rest must be %d wide", own, width)
  end
end

-- Checks the keys of positions, once the sizes are known.
local function resolve_positions(say, spec, given)
  if not spec.positions and given.positions == nil then
    local stage = spec.input.stage
    spec.positions = (stage == "tokens" or stage == "image" or spec.input.grid) and "learned" or "none"
  end
  if type(spec.positions) == "table" then
    spec.positions, spec.distances = table.unpack(spec.positions)
  elseif spec.positions == "alibi" or spec.positions == "t5" or spec.positions == "disentangled" then
    spec.distances = spec.positions
  end
  if not (spec.seq and spec.head_dim) then return end
  local needed = spec.seq + (spec.past or 0) + (spec.first_position or 0)
  if spec.key_seq and spec.positions ~= "learned" then needed = math.max(needed, spec.key_seq) end
  if not spec.max_position and given.max_position == nil then spec.max_position = needed end
  local has_table = spec.positions == "learned" and not spec.input.grid or spec.distances == "disentangled"
    or is_relative(spec)
  if has_table and spec.max_position and spec.max_position < needed then
    say("max_position", "%d, but there are %d positions", spec.max_position, needed)
  end
  if not spec.rope_dim and given.rope_dim == nil then spec.rope_dim = spec.head_dim end
  disentangled.check(say, spec)
  convolutions.check(say, spec)
  if spec.position_gate and spec.heads and spec.d_model and spec.heads * spec.head_dim ~= spec.d_model then
    say("position_gate", "%d heads of %d are not d_model, %d: a gate reads a head's part of the states", spec.heads,
      spec.head_dim, spec.d_model)
  end
  if spec.distances == "t5" and spec.t5_buckets and spec.mask then
    check_buckets(say, spec, "t5", spec.mask.causal and spec.t5_buckets or spec.t5_buckets // 2)
  end
  check_places(say, spec)
  if spec.input.grid and spec.positions ~= "learned" then say("input.grid", 'goes with positions = "learned"') end
  if spec.box_buckets and not spec.input.boxes then
    say("box_buckets", "goes with input = tokens { boxes = ... }")
  elseif spec.box_buckets then
    check_buckets(say, spec, "box", spec.box_buckets // 2)
  elseif given.box_distance ~= nil and given.box_buckets == nil and (spec.box_distance or 256) ~= 256 then
    say("box_distance", "goes with box_buckets")
  end
end

-- Checks the rotations of a stack or layer.
local function check_angles(say, spec)
  local dim, scaling = spec.rope_dim, spec.rope_scaling
  if is_rope(spec) and dim and spec.head_dim and (dim % 2 ~= 0 or dim > spec.head_dim) then
    say("rope_dim", "%d, but an even number up to head_dim %d is allowed", dim, spec.head_dim)
  end
  if spec.rope_patches then
    if not is_rope(spec) or spec.input.stage ~= "image" or spec.input.row_stride then
      say("rope_patches", "goes with positions = \"rope\" and input = image { ... } without strides")
    elseif dim and dim % 4 ~= 0 then
      say("rope_dim", "%d, but with rope_patches a multiple of 4 is allowed", dim)
    end
    if scaling then say("rope_scaling", "does not go with rope_patches") end
  end
  for _, name in ipairs(scaling and scaling.type == "longrope" and { "short_factor", "long_factor" } or {}) do
    if dim and dim > 0 and scaling[name] and #scaling[name] ~= dim // 2 then
      say("rope_scaling." .. name, "%d factors, but one for each of %d frequencies is expected", #scaling[name],
        dim // 2)
    end
  end
  if scaling and (scaling.query_beta or 0) > 0 and dim ~= spec.head_dim then
    say("rope_scaling.query_beta", "goes with rope_dim = head_dim")
  end
  if scaling and not is_rope(spec) then say("rope_scaling", "goes with positions = \"rope\"") end
end

-- Checks the order of a layer's parts and norms.
local function check_parts(say, spec)
  if spec.parallel == "two_norms" or spec.parallel == "one_norm" then
    if spec.norm == "post" then say("parallel", "does not go with norm = \"post\": there is one sum") end
    if spec.parallel == "one_norm" and not norm_before[spec.norm] then
      say("parallel", "one_norm goes with norm = \"pre\" or \"sandwich\"")
    end
    if spec.memory then say("parallel", "does not go with memory") end
    if spec.input.stage == "qkv" then say("parallel", "does not go with input = qkv()") end
  end
  if not spec.residual_scale or spec.residual_scale == 1.0 then return end
  local has_weight = projections.has(spec, "out") or spec.norm == "sandwich" or spec.norm == "res_post"
  if not has_weight then say("residual_scale", "goes with projections.out, whose weight takes it") end
end

local function check_attention(say, spec)
  check_angles(say, spec)
  check_parts(say, spec)
  if spec.weighting ~= "softmax" and spec.fully_masked == "nan" then
    say("fully_masked", "nan goes with weighting = \"softmax\"; other weights of masked keys are 0")
  end
  if spec.sinks and (spec.weighting ~= "softmax" or spec.fully_masked == "nan") then
    say("sinks", "goes with weighting = \"softmax\" and fully_masked = \"zero\"")
  end
  projections.check(say, spec)
  if spec.past and spec.past > 0 and spec.seq and spec.past + spec.seq > keys.LONGEST then
    say("past", "%d + seq %d, but at most %d keys are allowed", spec.past, spec.seq, keys.LONGEST)
  end
  local list = spec.attention_output and spec.attention_output.layers
  for _, layer in ipairs(list and words.sorted_keys(list) or {}) do
    if spec.layers and layer >= spec.layers then
      say("attention_output.layers", "%d, but there are %d layers, numbered from 0", layer, spec.layers)
    end
  end
  local factors = spec.head_mask and spec.head_mask.layers
  if factors and spec.layers and spec.heads then
    if #factors ~= spec.layers then
      say("head_mask", "%d lists, but one for each of %d layers is expected", #factors, spec.layers)
    end
    for i, each in ipairs(factors) do
      if #each ~= spec.heads then
        say("head_mask." .. i, "%d factors, but one for each of %d heads is expected", #each, spec.heads)
      end
    end
  end
end

-- Checks the keys of input = qkv(), and the keys that only go with it.
local function check_qkv(say, spec, given)
  if spec.input.stage ~= "qkv" then
    for _, key in ipairs { "key_seq", "kdim", "vdim" } do
      if given[key] ~= nil then say(key, "goes with input = qkv()") end
    end
    return
  end
  if spec.layers and spec.layers ~= 1 then say("layers", "input = qkv() has one attention: layers = 1") end
  if spec.memory then say("memory", "does not go with input = qkv(), which has keys of its own") end
  if spec.past and spec.past > 0 then say("past", "does not go with input = qkv(), which has keys of its own") end
  if norm_before[spec.norm] then
    say("norm", spec.norm .. " does not go with input = qkv(): only the query would have a norm")
  end
  spec.key_seq, spec.keys_follow = spec.key_seq or spec.seq, given.key_seq == nil
  spec.kdim, spec.vdim = spec.kdim or spec.d_model, spec.vdim or spec.d_model
end

-- Refuses keys that have no effect with the positions of a stack or layer. given: the keys that were given.
local function check_company(say, spec, given)
  for _, field in ipairs(keys.list) do
    local value = field.with and given[field.key] ~= nil and spec[field.key]
    if value ~= nil and value ~= false and value ~= field.default and not words.any(field.with, function(word)
      return spec.positions == word or spec.distances == word
    end) then
      say(field.key, "goes with positions = %s", values.one_of(words.map(field.with, faults.quote)))
    end
  end
end

-- Checks the keys of a stack of layers, the model's or an encoder's.
local function resolve_stack(say, spec, given)
  resolve_heads(say, spec)
  if spec.d_model and not spec.d_ff and given.d_ff == nil then spec.d_ff = 4 * spec.d_model end
  if spec.head_dim and not spec.scale and given.scale == nil then spec.scale = 1 / math.sqrt(spec.head_dim) end
  if not spec.mask and given.mask == nil then spec.mask = { causal = false, padding = false } end
  if spec.norm_kind == "rms" and spec.bias then spec.bias.norm = false end
  resolve_input(say, spec, given)
  if spec.mask then
    resolve_mask(say, spec, given)
    resolve_positions(say, spec, given)
  end
  if spec.layer_groups and spec.layers and #spec.layer_groups ~= spec.layers then
    say("layer_groups", "%d groups, but one for each of %d layers is expected", #spec.layer_groups, spec.layers)
  end
  if spec.layer_groups and type(given.layers) == "table" and spec.residual_scale and spec.residual_scale ~= 1.0 then
    say("residual_scale", "does not go with both layer_groups and a list of layers")
  end
  check_company(say, spec, given)
  local width = type(spec.input) == "table" and spec.input.stage == "tokens" and spec.input.width or spec.d_model
  if spec.sinusoids == "fairseq" and width and width < 4 then -- its steps divide by width / 2 - 1
    say("sinusoids", "\"fairseq\" needs positions of at least 4 values, not %d", width)
  end
  if spec.norm == "none" and spec.final_norm then say("final_norm",
    "does not go with norm = \"none\"") end
  check_attention(say, spec)
end

-- Checks the keys of a stack and its layers, each of which may differ.
local function resolve_layers(say, spec, given)
  local said = {}
  resolve_stack(function(key, ...)
    if key ~= nil then said[key .. ": " .. faults.line(...)] = true end
    return say(key, ...)
  end, spec, given)
  layers.resolve(say, spec, given, said,
    { heads = resolve_heads, mask = resolve_mask, attention = check_attention, company = check_company })
  convolutions.check_layers(say, spec)
  sharing.check(say, spec)
  streams.check(say, spec)
end

local function read_fields(say, list, description, spec)
  for _, field in ipairs(list) do
    local value = description[field.key]
    if value == nil then value = field.default end
    if value ~= nil then
      spec[field.key] = readers[field.type](say, field, value)
    elseif field.required then
      say(field.key, "missing: " .. field.meaning)
    end
  end
end

-- Positions that belong to the input, not to every attention.
local of_input = words.set { "learned", "sinusoidal", "convolution" }

-- Fills in an encoder's spec. Its keys default to the model's, except masks, positions of its input, and outputs.
local function resolve_encoder(say, description, fields)
  local own = words.set { "mask", "window", "prefix", "mask_value", "max_position", "input", "seq",
    "attention_output", "head_mask", "first_position", "head_dim", "rope_dim", "d_ff", "experts", "scale",
    "conv_kernel", "short_conv", "rope_patches", "box_buckets" }
  local of_width = words.set { "head_dim", "rope_dim", "d_ff", "experts", "scale" } -- inherited with width and heads
  local merged, known, names = {}, {}, {}
  for i, field in ipairs(keys.of_encoder) do
    known[field.key], names[i] = true, field.key
    merged[field.key] = fields[field.key]
    if merged[field.key] == nil and (not own[field.key] or
      (of_width[field.key] and fields.d_model == nil and fields.heads == nil)) then
      merged[field.key] = description[field.key]
    end
  end
  if fields.layers == nil and type(description.layers) == "table" then merged.layers = #description.layers end
  local positions = description.positions
  if fields.positions == nil and (of_input[positions] or type(positions) == "table") then merged.positions = nil end
  -- Keys that go with the model's positions or layers do not go with others.
  if merged.positions ~= positions then
    merged.rope_scaling = fields.rope_scaling
    for _, field in ipairs(keys.list) do if field.with then merged[field.key] = fields[field.key] end end
  end
  if fields.layers ~= nil then merged.layer_groups = fields.layer_groups end
  if fields.box_buckets == nil then merged.box_distance = fields.box_distance end
  local function say_encoder(key, ...)
    if key == nil then return say() end
    return say("memory." .. tostring(key), ...)
  end
  for _, key in ipairs(words.sorted_keys(fields)) do
    if not known[key] then
      say("memory", "an encoder has no key %s%s", show(key), values.suggestion(say, key, names, hints.keys))
    end
  end
  -- Passes on only faults of the encoder's own keys; faults of inherited keys were reported for the model.
  local function say_own(key, ...)
    if key ~= nil and fields[key:match("^[^.]+")] == nil then return nil end
    return say_encoder(key, ...)
  end
  local spec = { past = 0 }
  read_fields(say_own, keys.of_encoder, merged, spec)
  resolve_layers(say_encoder, spec, merged)
  check_mask_value(say_encoder, spec)
  if spec.input.stage == "qkv" then say_encoder("input", "qkv does not go with an encoder") end
  return spec
end

local function resolve_memory(say, spec, description)
  local memory = spec.memory
  if not memory then return end
  if memory.encoder then
    memory.any = type(memory.encoder.seq) == "table" or nil
    local fields = spec.context and encoders.sized(say, memory.encoder) or memory.encoder
    memory.encoder = resolve_encoder(say, description, fields)
    memory.seq, memory.width = memory.encoder.seq, memory.encoder.to or memory.encoder.d_model
    memory.mask = layers.have_mask(memory.encoder, "padding") and "padding"
      or layers.have_mask(memory.encoder, "key_padding") and "key_padding" or "none"
  else
    memory.width = memory.width or spec.d_model
  end
  projections.check_memory(say, spec)
  joined.check(say, spec)
end

local function resolve_opens(say, spec, given)
  local scheme = type(spec.names) == "table" and spec.names.scheme or spec.names
  if not spec.opens and given.opens == nil then
    spec.opens = type(scheme) == "string" and scheme:find("^gguf%-") and "gguf" or "safetensors"
  end
  if spec.opens == "packed" and (spec.ranks or 1) * (spec.stages or 1) > 1 then
    say("opens", "packed does not go with ranks and stages, whose weights are packed for each of them")
  end
end

-- Keys that do not go with adapters kept next to the weights.
local without_adapters = {
  { "adapter", "which is a part of the weights", function(spec) return spec.adapter end },
  { "ranks or stages", "which divide the weights", function(spec)
    return (spec.ranks or 1) * (spec.stages or 1) > 1
  end },
  { "input_order", "whose products read columns in an order of their own", function(spec) return spec.input_order end },
  { "layout = \"seq_first\"", "which takes one batch", function(spec) return spec.layout == "seq_first" end },
}

local function check_adapters(say, spec)
  for _, each in ipairs(spec.adapters and without_adapters or {}) do
    if each[3](spec) then say("adapters", "do not go with %s, %s", each[1], each[2]) end
  end
  for _, each in ipairs(spec.adapters or {}) do
    if each.name == spec.name then
      say("adapters." .. each.name, "is the model's name, by which a server has no adapter; give it another name")
    end
  end
end

local function resolve(say, spec, given)
  spec.input = spec.input or { stage = "hidden" }
  resolve_opens(say, spec, given)
  check_qkv(say, spec, given)
  resolve_layers(say, spec, given)
  projections.check_widths(say, spec)
  if spec.input.stage == "qkv" then spec.key_seq = spec.key_seq or spec.seq end
  resolve_memory(say, spec, given)
  check_mask_value(say, spec)
  output.check(say, spec)
  ctc.check(say, spec)
  if spec.tokenizer and spec.input.stage ~= "tokens" then say("tokenizer", "goes with input = tokens { ... }") end
  if spec.adapter and type(spec.names) == "table" and spec.names.quantised then
    say("adapter", "does not go with quantised folders: give the folder of the model in floats")
  elseif spec.adapter and spec.opens == "gguf" and weights.is_wanted(given.weights) then
    say("adapter", "the sum of a weight in blocks and an adapter is no weight in blocks: weights=none makes floats of "
      .. "them; adapters.NAME=FOLDER keeps blocks and adapter next to each other")
  end
  check_adapters(say, spec)
  pictures.check(say, spec)
  sounds.check(say, spec)
  speech.check(say, spec)
  late_interaction.check(say, spec)
  spans.check(say, spec)
  if spec.texts and spec.pictures == nil then say("texts", "goes with pictures") end
  if spec.draft and (not spec.context or spec.memory) then
    say("draft", "goes with context, in a model without an encoder")
  end
  if spec.draft and spec.processes then say("draft", "does not go with ranks and stages") end
  if not spec.pictures then spec.texts = nil end
  if spec.tokenizer == false then spec.query_weights = nil end
  if spec.query_weights and not output.gives_only(spec, "lexical_weights") then
    say("query_weights", "goes with lexical_weights of the vocabulary as the only output")
  end
  for _, key in ipairs { "prompt", "prompts", "dimensions", "similarity", "query_weights" } do
    if spec[key] and spec.tokenizer == nil then say(key, "goes with a tokenizer") end
  end
  if spec.layout == "seq_first" and (spec.input.stage == "tokens" or spec.input.stage == "image") then
    say("layout", "seq_first goes with float inputs: hidden, linear or qkv")
  end
  if spec.kv_layout == "heads_first" and (spec.past or 0) == 0 and (spec.input.stage ~= "qkv"
    or projections.has(spec, "k") and projections.has(spec, "v")) then
    say("kv_layout", "heads_first goes with past, or with input = qkv() whose keys or values are not projected "
      .. "(projections = false, or { k = false, v = false })")
  end
  spec.plan = spec.plan or {}
  if spec.gate_limit and not words.any(spec.each or { spec }, function(each) return each.gated end) then
    say("gate_limit", "goes with gated = true")
  end
  precision.check(say, spec, given)
  experts.check(say, spec)
  local target = targets.by_name[spec.target] -- nil if it was refused
  if target and not target.has_libxsmm then
    local of_plan = spec.plan.kernels == "libxsmm"
    if of_plan or spec.kernels == "libxsmm" then
      say(of_plan and "plan.kernels" or "kernels", "libxsmm goes with the targets %s, not with %s",
        targets.with_libxsmm(), spec.target)
    end
    spec.kernels = "c"
  end
  spec.workers = spec.threads == 0 and { 1, 2, 4, 8 } or { spec.threads }
end

local function sized(description, size)
  local copy = words.merged(description)
  copy.batch, copy.seq = size.batch, size.seq
  return copy
end

-- Returns a function that records faults, and one that raises them if there are any.
local function listener(file)
  local lines, more = {}, 0
  local function say(key, ...)
    if key == nil then return #lines < MOST_LINES end
    if #lines == MOST_LINES then
      more = more + 1
      return nil
    end
    lines[#lines + 1] = ("%s: %s: %s"):format(file, tostring(key), faults.line(...))
    return nil
  end
  return say, function()
    if more > 0 then lines[#lines + 1] = ("%s: and %d more"):format(file, more) end
    if #lines > 0 then faults.raise("usage", lines) end
  end
end

local function check_known(say, description)
  local known = words.map(keys.list, function(field) return field.key end)
  local known_set = words.set(known)
  for _, key in ipairs(words.sorted_keys(description)) do
    if not known_set[key] then
      say(type(key) == "string" and key:sub(1, 60) or show(key),
        "no such key" .. values.suggestion(say, key, known, hints.keys))
    end
  end
end

local function spec_of(say, description)
  local spec = {}
  read_fields(say, keys.list, description, spec)
  context.size(spec)
  resolve(say, spec, description)
  return spec
end

-- Fills build.entries, build.primary and build.spec for one target. is_list: a list of sizes means any length.
local function add_entry(say, raise, build, description, size, is_list)
  local spec = spec_of(say, sized(description, size))
  spec.role = "forward"
  raise()
  if size.any then any_length.resolve(say, spec, is_list) end
  context.resolve(say, spec)
  raise()
  sizes.resolve(say, spec)
  ranks.check(say, spec)
  local encode = encoders.entry(say, spec)
  raise()
  symbols.resolve(spec)
  local features, channels = sounds.entries(spec)
  local function add(name, suffix, of)
    return setmetatable({ name = name, suffix = suffix, sizes = { batch = of.batch, seq = of.seq, any = of.any },
      spec = of }, { __index = build })
  end
  local primary = add("forward", "", spec)
  build.entries, build.primary, build.spec = { primary }, primary, spec
  -- Adds the entry that adds adapters to the first one's results, before that.
  local function add_adapted(name, of)
    if not spec.adapters then return end
    table.insert(build.entries, 1, add(name, "_" .. name, words.merged(of, { is_adapted = true })))
  end
  add_adapted("adapted", spec)
  if channels then table.insert(build.entries, 1, add("channels", "_channels", channels)) end
  if features then table.insert(build.entries, 1, add("features", "_features", features)) end
  if encode then
    table.insert(build.entries, 1, add("encode", "_encode", encode))
    add_adapted("encode_adapted", encode)
  end
end

-- Returns the first reason why a description's model does not go with any length, or nil. A description with other
-- faults has none, so that these are reported.
local function reason_for_one(state, description)
  if description.batch ~= nil then return "a batch: calls of seq = any(N) have any number of sequences" end
  local say, raise = listener(state.file)
  local size = sizes.of(say, description)
  local spec = size and spec_of(say, sized(description, size))
  if not pcall(raise) then return nil end
  local reason = any_length.reasons(spec)[1]
  return reason and reason[2]
end

-- Returns a description, with state.length in place of any length if its model does not go with that.
local function with_length(state, description)
  local reason = state.length and sizes.are_open(description) and reason_for_one(state, description)
  if not reason then return description end
  table.insert(state.notes or {}, ("seq: %d in place of any(%d), seq=N changes it: %s"):format(state.length,
    description.seq.any, reason))
  return words.merged(description, { seq = state.length })
end

local function with_provider(say, description, system)
  if not system or systems[system].has_libxsmm then return description end
  local plan = description.plan
  if description.kernels == "libxsmm" or type(plan) == "table" and plan.kernels == "libxsmm" then
    say("kernels", ("libxsmm goes with Linux, not with %s"):format(systems[system].place))
  end
  return words.merged(description, { kernels = "c" })
end

local of_target
for _, field in ipairs(keys.list) do if field.key == "target" then of_target = field end end

--- Runs the pass. Faults: usage, with all mistakes.
function validate.run(state)
  local say, raise = listener(state.file)
  local description = state.description
  check_known(say, description)
  local wanted = precision.wanted(description.precision)
  if weights.is_wanted(description.weights) then -- its products multiply bytes
    wanted[types.all[types.quantised].word] = true
  end
  local names = targets_of(say, of_target, description.target, state.host, wanted)
  local given = sizes.without_lists(say, description)
  if not given then raise() end
  description = with_length(state, words.merged(given, { target = names[1] }))
  description = with_provider(say, description, state.system)
  local size = sizes.of(say, description)
  for _, key in ipairs { "ranks", "stages" } do
    if #names > 1 and description[key] ~= nil and description[key] ~= 1 then
      say("target", "a list does not go with %s; give one", key)
      raise()
    end
  end
  if not size then raise() end
  local said, answers = description.speech, description.generation
  if type(said) == "table" and said.words == true and said.heads == nil then
    table.insert(state.notes or {}, "speech.heads: none are stated for words: all heads of the upper half of the "
      .. "layers are taken")
  elseif type(said) == "table" and next(said) == nil and type(answers) == "table" and answers.draw then
    table.insert(state.notes or {}, "generation.draw: speech is written down without chance; --temperature draws")
  end
  state.target_names, state.builds, state.product_types = names, {}, wanted
  for i, name in ipairs(names) do
    local build = i == 1 and state or setmetatable({}, { __index = state })
    build.build_suffix = #names > 1 and "_" .. name or ""
    build.instead = targets.instead(name, names, wanted) or false -- others inherit from the first
    add_entry(say, raise, build, words.merged(description, { target = name }), size, given ~= state.description)
    state.builds[i] = build
  end
end

--- Returns every key, sorted, with its resolved value.
function validate.dump(state)
  local instead = state.instead and ("the target %s takes its place where pairs of bf16 are slower\n"):format(
    state.instead) or ""
  return dump.table(state.spec) .. instead
end

return validate
