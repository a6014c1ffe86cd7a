-- draw.lua: draws random valid descriptions from all keys together. Sizes are near the ends of tiles and vectors
-- (sizes.lua). Their product is bounded, so that a case takes about a second. draw_attention.lua draws the keys of
-- attentions.
local any = require("draw_any")
local attention = require("draw_attention")
local beside = require("beside")
local checkpoint = require("draw_checkpoint")
local context = require("draw_context")
local experts = require("draw_experts")
local hybrids = require("draw_hybrids")
local known_keys = require("data.keys")
local ranks = require("draw_ranks")
local scale_blocks = require("data.scale_blocks")
local sound = require("draw_sound")
local sizes = require("sizes")
local stages = require("data.stages")
local targets = require("data.targets")
local words = require("common.words")

local draw = {}

local random = math.random

local pick, chance, size, NARROW = sizes.pick, sizes.chance, sizes.size, sizes.NARROW

local function divisors(n, most)
  local list = {}
  for d = 1, math.min(n, most) do
    if n % d == 0 and n // d <= 256 then list[#list + 1] = d end
  end
  return list
end

local activations = words.sorted_keys(require("data.activations").of_descriptions)
local pools = {}
for _, pool in ipairs(words.sorted_keys(stages.pools)) do
  if pool ~= "patches" and pool ~= "tokens" then pools[#pools + 1] = pool end -- of images: draw_seldom draws it
end

local function draw_heads(d)
  local fitting = divisors(d.d_model, 16)
  if #fitting > 0 and chance(60) then
    d.heads = pick(fitting)
  else
    d.heads, d.head_dim = chance(80) and random(6) or random(16), size(chance(90) and 80 or 256)
  end
end

local function draw_bias()
  if chance(40) then return nil end
  if chance(40) then return chance(50) end
  local bias = {}
  for _, part in ipairs { "qkv", "out", "ff", "norm", "up", "down" } do
    if chance(60) then bias[part] = chance(50) end
  end
  return bias
end

local function draw_image(d)
  local patch = pick { 1, 2, 3, 4, 5, 8 }
  local input = { stage = "image", patch = patch, height = patch * random(7), width = patch * random(7) }
  if chance(60) then input.channels = random(4) end
  if chance(50) then input.class_token = chance(50) end
  if chance(30) then
    input.channels, input.row_stride, input.column_stride = 1, random(9), random(9)
    input.height, input.width = input.height + random(0, 3), input.width + random(0, 3)
  end
  d.input = input
end

-- Returns the rows of a description's sequence. An image sets them.
local function rows_of(d)
  local input = d.input
  if not input or input.stage ~= "image" then return d.seq end
  local down, across = stages.patches(input)
  return down * across + (input.class_token == false and 0 or 1)
end

-- Draws the input of a stack of layers.
local function draw_input(d)
  local way = random(6)
  if way == 1 then d.input = { stage = "hidden" }
  elseif way == 2 then
    d.input = { stage = "linear", from = size(150) }
    if chance(40) then d.input.bias = chance(50) end
    if chance(30) then d.input.features_norm = chance(70) end
    if chance(30) then d.input.norm = chance(70) end
  elseif way <= 4 then
    d.input = { stage = "tokens", vocab = chance(20) and 1 or size(400) }
    if chance(30) then d.input.types = random(0, 5) end
    if chance(30) then d.input.norm = chance(70) end
    if chance(20) then
      d.input.width = 15 + size(60)
      d.input.projected = pick { "after_norm", "before_norm", "before_positions" }
    end
  elseif way == 5 then
    draw_image(d)
    d.seq = rows_of(d)
  end
end

-- Names of outputs. Some are names that emitted C uses itself, or names of inputs.
local output_names = {
  "logits", "label", "hidden", "lengths", "ids", "features", "a", "b", "i", "k", "s", "w", "out", "all", "wanted", "to",
  "from", "x", "key", "query", "memory", "head_mask", "keys", "attention",
}

-- Unit vectors of narrower rows are left out: they are as sensitive as a norm, without an eps.
local NARROW_UNIT = 16

-- d: the description; pooled: whether rows were pooled before; width: of the rows that the stage reads.
local function draw_stage(d, pooled, width)
  local kinds = { "hidden", "norm", "linear", "linear", "linear", "argmax", "softmax", "log_softmax", "topk",
    pick(activations), pick(activations) }
  if not pooled then kinds[#kinds + 1], kinds[#kinds + 2] = "pool", "pool" end
  if width >= NARROW_UNIT then kinds[#kinds + 1] = "normalise" end
  if d.input and d.input.stage == "tokens" and (width == d.d_model or chance(30)) then
    kinds[#kinds + 1], kinds[#kinds + 2] = "vocabulary", "vocabulary"
  end
  local stage = { stage = pick(kinds) }
  if stage.stage == "linear" then
    stage.to = size(150)
    if chance(40) then stage.bias = chance(50) end
    if chance(40) then stage.activation = pick(activations) end
  elseif stage.stage == "topk" then
    stage.k = random(1, math.min(width, 1024))
  elseif stage.stage == "pool" then
    stage.over = pick(pools)
    if stages.pools_of_kept[stage.over] and chance(25) then stage.mask = true end
    if stage.over == "last" and d.input and d.input.stage == "tokens" and chance(50) then
      stage[pick { "pad", "ending" }] = random(0, math.min(d.input.vocab, 4) - 1)
      if stage.ending == 0 then stage.ending = -1 end
    end
  elseif stage.stage == "vocabulary" then
    if width ~= (d.input.width or d.d_model) or chance(40) then stage.tied = false end
    if chance(40) then stage.bias = chance(70) end
    if chance(20) then stage.scale = pick { 0.25, 3.0 } end
    if chance(20) then stage.softcap = pick { 0.5, 30 } end
  elseif stage.stage == "norm" then
    if chance(30) then stage.kind = pick { "layer", "rms" } end
    if chance(40) or width < NARROW then stage.eps = width < NARROW and 0.5 or pick { 1e-12, 1e-5, 0.5 } end
  end
  return stage
end

-- width: of the states. A row of NaN has no largest element.
local function draw_output(d, width)
  if chance(35) or d.fully_masked == "nan" then return end
  local output, names, pooled = {}, {}, false
  for i = 1, random(0, 6) do
    local stage = draw_stage(d, pooled, width)
    pooled = pooled or stage.stage == "pool"
    width = stage.to or (stage.stage == "vocabulary" and d.input.vocab) or width
    local name = pick(output_names)
    if chance(35) and not names[name] then stage.name, names[name] = name, true end
    output[i] = stage
    if stage.stage == "argmax" or stage.stage == "topk" then break end
  end
  d.output = output
end

-- Adds stages that few models have: a pool by attention if the rows of an image are the result, and numbers that turn
-- pooled rows into scores.
local function draw_seldom(d)
  local shows = d.attention_output and d.attention_output ~= "none"
  local is_image = d.input and d.input.stage == "image"
  if not d.output and is_image and d.projections == nil and not shows and d.d_ff ~= 0 and chance(50) then
    d.output = { { stage = "attend" } }
  elseif not d.output and is_image and chance(50) then
    d.output = { { stage = "pool", over = pick { "patches", { "first", "patches" } } } }
  end
  local last, pooled = d.output and d.output[#d.output], false
  for _, stage in ipairs(d.output or {}) do
    pooled = pooled or stage.stage == "attend" or stage.stage == "pool" and not stages.pools_of_rows[stage.over]
  end
  local may_follow = not last or last.stage ~= "argmax" and last.stage ~= "topk"
  if not pooled and may_follow and not d.context and not (d.input and d.input.stage == "qkv") and chance(12) then
    local both = chance(50)
    d.output = d.output or {}
    d.output[#d.output + 1] = { stage = "recurrent", to = both and 2 * size(30) or size(60), both = both,
      marked = chance(50) }
    if chance(30) then
      local to = 2 * size(20)
      local labels = #d.output + 1
      d.output[labels], d.output[labels + 1] = { stage = "linear", to = to }, { stage = "linear", to = to,
        of = labels - 1 }
      d.output[labels + 2] = { stage = "match", labels = labels, hidden = size(300), scores = size(4), most = size(6) }
    elseif chance(30) then
      d.output[#d.output + 1] = { stage = "linear", to = size(40) }
    end
    return
  end
  if pooled and last.stage ~= "argmax" and last.stage ~= "topk" and not d.context
    and not (type(d.seq) == "table" and d.seq.any) and chance(25) then
    d.output[#d.output + 1] = { stage = "similarity", bias = chance(50) }
  end
end

-- Makes features two convolutions, if nothing says which rows of a sequence are there.
local function draw_frames(d)
  local input, mask = d.input, d.mask or "none"
  local is_plain = type(d.seq) == "number" and type(d.batch) ~= "table" and (mask == "none" or mask == "causal")
    and not (d.past or d.context or d.memory)
  if not (is_plain and input and input.stage == "linear" and type(d.layers) == "number" and chance(50)) then return end
  d.input = { stage = "frames", from = input.from }
end

-- Tile parameters with a smaller range here: most values of theirs do nothing in a small model. Others are drawn from
-- all allowed values.
local plan_draws = {
  panel = function() return 16 * random(8) end,
  token_block = function() return size(160) end,
  group_tokens = function() return size(400) end,
  query_block = function() return size(100) end,
  key_block = function() return 16 * random(8) end,
  window_block = function() return size(64) end,
  piece_rows = function() return size(100) end,
  softmax_block = function() return 16 * random(5) end,
  tile_bytes = function() return pick { 64, 1024, 16384, 1 << 30 } end,
  call_rows = function() return size(40) end,
  row_block = function() return size(100) end,
  stream_rows = function() return size(10) end,
  least_phase = function() return pick { 0, 0, 1000, 1 << 40 } end,
  least_team = function() return pick { 0, 0, 1000, 1 << 40 } end,
}

-- Returns any value that a tile parameter's declaration allows.
local function draw_declared(parameter)
  if parameter.words then return pick(parameter.words) end
  local step = parameter.multiple or 1
  local value
  repeat
    value = step * random((parameter.min + step - 1) // step, parameter.max // step)
  until not parameter.divides or parameter.divides % value == 0
  return value
end

local function draw_plan(d)
  if chance(45) then return end
  local plan = {}
  for _, name in ipairs(words.sorted_keys(targets.parameters)) do
    if chance(35) then plan[name] = (plan_draws[name] or draw_declared)(targets.parameters[name]) end
  end
  d.plan = plan
end

-- Returns the rough number of multiply-adds of a sequence's layers. keys: the number of the attention's keys.
local function stack_cost(d, rows, keys)
  local width = d.heads * (d.head_dim or d.d_model // d.heads)
  local d_ff = d.d_ff or 4 * d.d_model
  -- A tanh takes as long as twenty multiply-adds, once in the model and once in the reference.
  local pair = d.scoring == "additive" and 40 or 2
  local layer = 4 * d.d_model * width + 3 * d.d_model * d_ff + pair * keys * width
  return rows * (d.layers * layer + 150 * (d.d_model + 150))
end

-- Returns the rough number of multiply-adds of a call.
local function cost(d)
  return (d.batch or 1) * stack_cost(d, d.seq, d.seq)
end

local MOST_COST = 2.5e7

local function lower_rows(d)
  local input = d.input
  if not input or input.stage ~= "image" then
    d.seq = math.max(1, d.seq * 2 // 3)
  else
    local side = input.height > input.width and "height" or "width"
    input[side] = math.max(1, input[side] // input.patch * 2 // 3) * input.patch
    d.seq = rows_of(d)
  end
end

-- Lowers the largest size until a check of the model is quick.
local function bound_cost(d)
  while cost(d) > MOST_COST do
    if (d.batch or 1) > 4 then d.batch = d.batch // 2
    elseif d.layers > 1 then d.layers = d.layers - 1
    elseif d.seq > 40 then lower_rows(d)
    elseif (d.batch or 1) > 1 then d.batch = d.batch - 1
    elseif (d.d_ff or 4 * d.d_model) > 60 then d.d_ff = (d.d_ff or 4 * d.d_model) * 2 // 3
    elseif d.heads > 1 and d.head_dim then d.heads = d.heads // 2
    else lower_rows(d) end
  end
end

-- Draws the sizes of a stack, and other keys that the cost depends on.
local function draw_sizes(d)
  if chance(60) then d.batch = chance(80) and random(6) or size(40) end
  d.seq, d.d_model, d.layers = size(chance(85) and 100 or 300), size(chance(85) and 130 or 400),
    pick { 0, 1, 1, 1, 2, 2, 3 }
  if chance(12) then d.seq, d.d_model, d.layers = size(40), size(60), random(4, 12) end -- some are alike
  draw_heads(d)
  if chance(70) then d.d_ff = chance(85) and size(250) or 0 end
  if chance(25) then d.gated = chance(80) end
  if d.gated and chance(30) then d.gate_limit = pick { 0.4, 3 } end
end

local norm_before = words.set { "pre", "sandwich" }

-- Draws parallel parts, and the factor of their results, if they go with the keys drawn before.
local function draw_parts(d)
  if chance(25) and (d.norm or "post") ~= "post" and not d.memory and not (d.input and d.input.stage == "qkv") then
    d.parallel = norm_before[d.norm] and pick { "two_norms", "one_norm" } or "two_norms"
  elseif chance(10) then
    d.parallel = "none"
  end
  local projections = d.projections
  local has_out = projections == nil or projections == true or type(projections) == "table" and projections.out
  if chance(15) and (has_out or d.norm == "sandwich" or d.norm == "res_post") then
    d.residual_scale = pick { 0.22, 1.5 }
  end
end

local function draw_norms(d)
  if chance(60) then d.norm = pick { "post", "pre", "pre_ff", "sandwich", "res_post", "none" } end
  if d.input and d.input.stage == "qkv" and norm_before[d.norm] then d.norm = "none" end
  -- Without norms, weights other than a softmax would grow from layer to layer.
  if (d.weighting or "softmax") ~= "softmax" and d.layers > 1 and d.norm == "none" then d.norm = "post" end
  if chance(40) then d.final_norm = d.norm ~= "none" and chance(70) end
  if chance(35) then d.norm_kind = pick { "layer", "rms" } end
  if d.d_model < NARROW then d.eps = pick { 0.1, 1 }
  elseif chance(30) then d.eps = pick { 1e-30, 1e-12, 1e-6, 1e-3, 1 } end
end

-- Draws only an attention or a stack of layers, and what it reads in addition to its states. Returns the states' width.
local function draw_model(d)
  local qkv = chance(15)
  if qkv then d.input = { stage = "qkv" } else draw_input(d) end
  attention.draw_kind(d, qkv)
  if d.projections == false then
    local fitting = divisors(d.d_model, 16)
    if #fitting > 0 then d.head_dim, d.heads = nil, pick(fitting) else d.projections = nil end
  end
  draw_norms(d)
  bound_cost(d)
  local keys
  if qkv then
    keys = d.seq
    if chance(70) then
      keys = size(100)
      d.key_seq = keys
    end
  elseif d.projections ~= false and chance(15) then
    d.past = size(60)
  end
  attention.draw_stack(d, keys)
  local width = qkv and attention.draw_qkv(d) or d.d_model
  if width < NARROW then d.eps = d.eps and d.eps >= 0.1 and d.eps or 0.5 end
  if not qkv and chance(25) then attention.draw_memory(d, draw_input) end
  attention.draw_mask_value(d)
  if d.d_ff ~= 0 then width = d.d_model end
  if d.projections == false and not qkv and chance(50) then
    d.projections = { q = chance(50), k = chance(50), v = chance(50), out = chance(50) }
  end
  draw_parts(d)
  local keys_come_in = d.past or qkv and d.projections == false
  if chance(50) and keys_come_in then d.kv_layout = pick { "rows_first", "heads_first" } end
  return width
end

-- Draws the keys in which a layer differs from the model.
local function draw_layer(d)
  local layer = {}
  if chance(30) then layer.d_ff = chance(75) and size(120) or 0 end
  if chance(20) and not d.gate_limit then layer.gated = chance(50) end
  if chance(20) then layer.activation = pick(activations) end
  if chance(20) and (d.norm or "post") ~= "none" and (d.parallel or "none") == "none" and not d.residual_scale then
    layer.norm = pick { "post", "post", d.norm or "post" }
  end
  if chance(60) and (d.parallel or "none") ~= "none" then layer.parallel = "none" end
  if chance(20) then layer.qk_norm = attention.draw_qk_norm(d) end
  if chance(10) then layer.qkv_limit = pick { 0.5, 2 } end
  if d.gated and layer.gated == nil and chance(10) then layer.gate_limit = pick { 0.5, 2 } end
  if d.sinks and chance(30) then layer.sinks = false end
  if chance(20) then layer.norm_kind = pick { "layer", "rms" } end
  if chance(15) and d.d_model >= NARROW then layer.eps = pick { 1e-12, 1e-3, 1 } end
  if chance(20) then layer.bias = draw_bias() end
  if chance(15) then layer.scale = pick { false, 0.25, 0.05 } end
  if chance(15) then layer.softcap = pick { 0.5, 5 } end
  if chance(10) then layer.dropout, layer.drop_path = 0.1, 0.5 end
  if chance(15) and d.positions == "rope" then layer.rope_theta = pick { 2, 500, 1e6 } end
  if chance(15) and d.positions == "rope" then layer.rope_dim = d.rope_patches and 0 or pick { 0, 2 } end
  if chance(15) and d.positions == "rope" and layer.rope_dim == nil then layer.rope_scaling = false end
  if chance(20) and (d.projections == nil or d.projections == true) then
    layer.kv_heads = pick(divisors(d.heads, d.heads))
  end
  local has_buckets = d.positions == "t5" or type(d.positions) == "table" and d.positions[2] == "t5"
  if chance(40) and not d.mask_value and not has_buckets then
    layer.mask = pick { "none", "causal", { window = { random(0, 9), random(0, 9) } }, { prefix = random(9) },
      { "causal", window = { random(0, 40), 0 } } }
  end
  return layer
end

-- Draws a list of layers, some of which differ, or which are of two or three kinds in any order.
local function draw_layers(d)
  local list, kinds = {}, chance(40) and { {}, draw_layer(d), chance(50) and draw_layer(d) or nil }
  for i = 1, d.layers do list[i] = kinds and pick(kinds) or chance(30) and {} or draw_layer(d) end
  d.layers = list
end

-- True if the attention of a description, or of an encoder, may be in int8.
local function is_of_integers(stack)
  local positions, output = stack.positions, stack.attention_output
  return (stack.scoring or "dot") == "dot" and (stack.weighting or "softmax") == "softmax"
    and stack.fully_masked ~= "nan" and not (type(positions) == "string" and positions:find("^relative_key"))
    and positions ~= "disentangled" and not (type(positions) == "table" and positions[2] == "disentangled")
    and not stack.past and not stack.bias_kv and not stack.zero_attn and (stack.head_mask or "none") == "none"
    and (output or "none") == "none" and not stack.sinks
end

-- True if all attentions of a description may be in int8.
local function may_attend_in_integers(d) return is_of_integers(d) and (not d.memory or is_of_integers(d.memory)) end

-- Draws the number type of an encoder's attentions.
local function draw_encoder_precision(d)
  if type(d.precision) ~= "table" or chance(40) then return end
  local may = is_of_integers(words.merged(d, d.memory))
  d.precision["encoder attention"] = pick { "f32", "bf16", may and "int8" or nil, may and "int8" or nil }
end

-- Draws weights in scale blocks.
local function draw_weights(d)
  local types = { table.unpack(scale_blocks.words, 1, #scale_blocks.words - 1) }
  d.weights = pick(types)
  if chance(40) then d.input_order = pick { "file", "file", "own", { "file", out = "none", ff = "own" } } end
  if chance(50) then return end
  d.weights = { chance(70) and pick(types) or "none" }
  for _, part in ipairs { "input", "qkv", "out", "ff", "output", "embedding" } do
    if chance(30) then d.weights[part] = chance(80) and pick(types) or "none" end
  end
end

-- Draws number types of products that only kernels in C multiply.
local function draw_precision(d)
  local types, parts = { "bf16", "bf16", "int8", "int8", "f32" }, { "input", "qkv", "out", "ff", "output", "embedding" }
  if chance(50) then
    d.precision = pick { "bf16", "int8" }
  else
    d.precision = { pick(types) }
    for _, part in ipairs(parts) do if chance(30) then d.precision[part] = pick(types) end end
    if chance(40) then d.precision.attention = pick { "f32", "bf16", "bf16" } end
    if chance(60) and may_attend_in_integers(d) then d.precision.attention = "int8" end
    local layers = type(d.layers) == "table" and #d.layers or d.layers
    if layers > 0 and not d.layer_groups and chance(30) then d.precision["layer 0"] = pick(types) end
  end
  if chance(30) then draw_weights(d) end
  if d.kernels == "libxsmm" then d.kernels = nil end
  if d.plan and d.plan.kernels == "libxsmm" then d.plan.kernels = nil end
end

-- Leaves out keys of positions that a description or encoder was drawn with, and has no more.
local function leave_out_positions(d, positions)
  local used = words.set(type(positions) == "table" and positions or { positions })
  for _, field in ipairs(known_keys.list) do
    if field.with and not words.any(field.with, function(word) return used[word] end) then d[field.key] = nil end
  end
end

--- A description as a plain table; the same for the same seed and number, on every machine. wanted (or nil): typed:
--- every description has products of bf16 or int8, and not one in four; any: every one that may is of any length, and
--- not one in six; context: every one that may has a context, and not one in three of any length; encoder:
--- every one that may has an encoder in addition, and not one in three; ranks: every one that may is divided among
--- ranks, and not one in eight; experts: every one that may has some, and not one in five; adapters: every one that
--- may has some, and not one in seven; exposed: its inner tensors are outputs, too.
function draw.description(seed, number, wanted)
  wanted = wanted or {}
  math.randomseed(seed, number)
  local d = { name = pick { "fuzzed", "w", "x9", "a_b", "k", "a_model_of_precisely_forty_letters_is_ok" } }
  draw_sizes(d)
  if chance(60) then d.activation = pick(activations) end
  d.bias = draw_bias()
  if chance(30) then d.scale = pick { false, 1, 0.25, 0.05 } end
  local width = draw_model(d)
  draw_output(d, width)
  if chance(10) then d.dropout = pick { 0, 0.1, 1 } end
  if chance(10) then d.drop_path = pick { 0, 0.1, 1 } end
  local stage = d.input and d.input.stage
  if chance(20) and stage ~= "tokens" and stage ~= "image" then d.layout = pick { "batch_first", "seq_first" } end
  if stage == "image" and chance(50) then d.seq = nil end
  if chance(40) then d.names = pick { "attn2c", "torch" } end
  if chance(40) then d.target = pick { "host", "avx2", "x86_64", "generic", "avx2, x86_64" } end
  if chance(40) then d.kernels = pick { "libxsmm", "libxsmm", "auto", "c" } end
  if chance(40) then d.threads = pick { 0, 1, 2, 2, 3, 4, 8 } end
  if chance(25) then d.reuse = chance(30) end
  draw_plan(d)
  if d.target == "generic" then -- libxsmm has no kernels for it
    d.kernels = nil
    if d.plan then d.plan.kernels = nil end
  end
  checkpoint.draw(d)
  if chance(d.layers > 3 and 60 or 20) and d.layers > 0 and not d.layer_groups then draw_layers(d) end
  -- The angles of these depend on the length.
  local by_length = d.rope_scaling and (d.rope_scaling.type == "dynamic" or d.rope_scaling.type == "longrope")
  if d.seq == 1 then
    for _, each in ipairs(d.output or {}) do if each.over == "second" then each.over = "first" end end
  end
  if chance(25) or wanted.typed then draw_precision(d) end
  local continues = wanted.context or wanted.encoder
  if (chance(17) or wanted.any or continues) and any.may(d) then any.change(d) end
  if context.may(d) and (chance(33) or continues) then
    context.change(d)
    if context.may_encode(d) and (chance(33) or wanted.encoder) then
      context.add_encoder(d, draw_input)
      draw_encoder_precision(d)
    end
  end
  draw_seldom(d)
  -- A list of sizes is another way to write any length.
  local most = type(d.seq) == "table" and d.seq.any or 0
  if most > 6 and not d.context and not by_length and chance(15) then
    d.seq = chance(80) and { random(4, most - 1), most } or most
    if type(d.seq) == "number" or chance(30) then d.batch = { 1, random(2, 6) } end
  end
  draw_frames(d)
  if chance(20) or wanted.experts then experts.change(d) end
  if chance(12) or wanted.ranks then ranks.change(d, wanted.exposed) end
  if chance(15) then hybrids.change(d) end
  if chance(15) then d.unroll = pick { "all", "alike" } end
  if chance(10) then d.opens = pick { "safetensors", "torch", "gguf", "any" } end
  if chance(40) then sound.draw(d, activations) end
  if beside.may(d) and (chance(15) or wanted.adapters) then beside.change(d) end
  attention.draw_joined(d)
  local usual = (stage == "tokens" or stage == "image") and "learned" or "none"
  leave_out_positions(d, d.positions or usual)
  local source = d.memory and d.memory.input and d.memory.input.stage
  if d.memory and d.memory.stage == "encoder" and (d.memory.positions or source) then
    leave_out_positions(d.memory, d.memory.positions or d.positions or (source == "tokens" and "learned" or "none"))
  end
  return d
end

return draw
