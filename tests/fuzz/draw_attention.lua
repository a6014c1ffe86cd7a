-- draw_attention.lua: random options of attention: heads, scoring, masks, positions, what
-- stands before and after the keys, memories and encoders. Valid ones only, and such that
-- a model's numbers neither explode nor vanish.
local masks = require("data.masks")
local sizes = require("sizes")

local attention = {}

local random = math.random
local pick, chance, size = sizes.pick, sizes.chance, sizes.size

-- A divisor of n.
local function divisor(n)
  local list = {}
  for d = 1, n do if n % d == 0 then list[#list + 1] = d end end
  return pick(list)
end

local function head_dim_of(d) return d.head_dim or d.d_model // d.heads end

--- Options that bound the cost of a call, or what the sizes can be. qkv: whether they come in one by one.
function attention.draw_kind(d, qkv)
  if (qkv and chance(60)) or chance(15) then d.residual = chance(40) end
  if chance(15) then
    d.weighting = pick { "softmax", "relu", "none" }
    if d.weighting ~= "softmax" and d.scale ~= nil then d.scale = pick { 0.01, 0.05 } end
  end
  if chance(15) then d.scoring = pick { "dot", "additive", "additive" } end
  if chance(10) then d.softcap = pick { 0.5, 3, 50.0 } end
  if chance(10) then d.qkv_limit = pick { 0.3, 1, 8.0 } end
  if chance(15) and (d.weighting or "softmax") == "softmax" and d.fully_masked ~= "nan" then d.sinks = true end
  if chance(10) then d.projections = chance(20) end
  if qkv then d.layers = 1 end
end

local function draw_window(seq)
  local function bound() return chance(90) and random(0, seq + 3) or pick { 0, 1, 16, 4096 } end
  return { bound(), bound() }
end

local array_masks = {} -- a mask that keeps keys is another form of key_padding
for _, array in ipairs(masks.arrays) do
  if not array.keeps then array_masks[#array_masks + 1] = array.word end
end

--- Draws a norm of queries and keys. The norm of a narrow row is as sensitive as a unit vector.
function attention.draw_qk_norm(d)
  if d.projections ~= nil and d.projections ~= true then return "none" end
  local narrow = head_dim_of(d) < sizes.NARROW
  return narrow and not (d.eps and d.eps >= 0.1) and "none" or pick { "none", "heads", "each", "all" }
end

-- keys: rows that the attention's keys have.
local function draw_mask(d, keys)
  local way = random(12)
  if way <= 2 then return end
  if way == 3 then d.mask = pick { "none", "causal", "padding" }
  elseif way == 4 then d.mask, d.window = "window", draw_window(keys)
  elseif way == 5 then d.mask, d.prefix = "prefix", random(keys + 1)
  elseif way == 6 then d.mask = pick(array_masks)
  else
    local mask = {}
    for _, word in ipairs { "causal", "padding" } do if chance(40) then mask[#mask + 1] = word end end
    for _, word in ipairs(array_masks) do if chance(12) then mask[#mask + 1] = word end end
    local bound = random(6)
    if bound == 1 then mask.window = draw_window(keys)
    elseif bound == 2 then mask[#mask + 1], d.window = "window", draw_window(keys)
    elseif bound == 3 then mask.prefix = random(keys + 1)
    elseif bound == 4 then mask[#mask + 1], d.prefix = "prefix", random(keys + 1) end
    d.mask = mask
  end
end

--- Whether a description's mask says a word.
function attention.has_mask(d, word)
  if d.mask == word then return true end
  if type(d.mask) ~= "table" then return false end
  for _, each in ipairs(d.mask) do if each == word then return true end end
  return d.mask[word] ~= nil
end

-- A large value eats up the digits of scores: where a row sees only keys that have it, no two computations agree. Only
-- the first key, which every length leaves, is seen for sure, and not under every mask.
local function draw_mask_value(d)
  local padding, arrays = attention.has_mask(d, "padding"), false
  if not (padding or attention.has_mask(d, "key_padding")) or chance(70) then return end
  for _, word in ipairs { "window", table.unpack(array_masks) } do arrays = arrays or attention.has_mask(d, word) end
  local mild = arrays or (d.weighting or "softmax") ~= "softmax"
    or (d.memory and (d.memory.mask == "key_padding" or d.memory.stage == "encoder"))
  d.mask_value = mild and pick { 0, -0.5, -4 } or pick { -0.5, -4, -10000, -1e9 }
end

-- Few tokens without positions of their own give mostly equal rows, and so equal terms in the sums over keys. Equal
-- terms are rounded the same way, so that their errors add up. Tolerances assume that half of them are rounded up.
local FEW_TOKENS = 16

local function is_qkv(d) return d.input and d.input.stage == "qkv" end

local function draw_disentangled(d)
  if chance(50) then d.position_terms = pick { "both", "content_to_position", "position_to_content" } end
  if chance(70) then d.position_buckets = chance(25) and 0 or random(4, 70) end
  local buckets = d.position_buckets or 256
  if chance(60) then d.position_distance = math.max(2, buckets // 2 + 1 + size(150)) end
  if chance(50) then d.position_norm = chance(80) end
  local projects = d.projections == nil or d.projections == true
  if not projects or chance(50) then
    d.position_projections = pick { projects and "shared" or "own", "own", "half_biased" }
  end
  if chance(30) then d.positions = { pick { "learned", "sinusoidal" }, "disentangled" } end
end

-- True if a description may have a convolution along the rows of sequences.
local function may_convolve(d)
  for _, word in ipairs(array_masks) do if attention.has_mask(d, word) then return false end end
  return (d.past or 0) == 0 and not is_qkv(d)
end

-- A convolution of the states before the first layer.
local function draw_position_convolution(d)
  d.position_kernel = pick { 1, 2, 3, 8, 17, 128 }
  local has_width = d.input and d.input.stage == "tokens" -- of its own, perhaps
  d.position_groups = has_width and 1 or chance(20) and d.d_model or divisor(d.d_model)
  if chance(50) then d.position_activation = pick { "gelu", "relu", "tanh" } end
end

-- A convolution of the first layer's input.
local function draw_convolution(d)
  if d.stage == "encoder" or d.norm == "none" or not may_convolve(d) then return end
  if chance(75) then return end
  d.conv_kernel = pick { 1, 3, 3, 5, 7 }
  if chance(60) then d.conv_activation = pick { "tanh", "gelu", "relu" } end
end

-- A token whose rows are 0, and boxes on a page.
local function draw_dropped(d)
  local input = d.input
  if input and input.stage == "tokens" and chance(10) then
    input.boxes = pick { 1, 30, 1024 }
    local width = input.projected ~= "before_positions" and input.width or d.d_model
    if width % 2 == 0 and width >= 6 and chance(50) then input.place_width = random((width - 2) // 4) end
    if d.stage ~= "encoder" and (d.ranks or 1) == 1 and (d.past or 0) == 0 and chance(60) then
      d.box_buckets = random(4, 70)
      d.box_distance = d.box_buckets // 2 + random(100)
    end
  end
  if not (input and input.stage == "tokens") or not may_convolve(d) or chance(80) then return end
  input.dropped = random(0, math.min(input.vocab, 3) - 1)
end

local function draw_sinusoids(d)
  if d.positions ~= "sinusoidal" or chance(50) then return end
  local width = d.input and d.input.stage == "tokens" and d.input.width or d.d_model
  d.sinusoids = pick(width >= 4 and { "pairs", "halves", "fairseq" } or { "pairs", "halves" })
end

local function draw_positions(d, keys)
  if chance(40) then return end
  if d.input and d.input.stage == "tokens" and d.input.vocab < FEW_TOKENS then
    d.positions = pick { "learned", "sinusoidal" }
    draw_sinusoids(d)
    return
  end
  local kinds = { "none", "learned", "sinusoidal", "alibi", "relative_key", "relative_key_query", "t5" }
  if head_dim_of(d) >= 2 then kinds[#kinds + 1], kinds[#kinds + 2] = "rope", "rope" end
  if (d.scoring or "dot") == "dot" and not is_qkv(d) then
    kinds[#kinds + 1], kinds[#kinds + 2] = "disentangled", "disentangled"
  end
  if may_convolve(d) then kinds[#kinds + 1], kinds[#kinds + 2] = "convolution", "convolution" end
  d.positions = pick(kinds)
  draw_sinusoids(d)
  if d.positions == "learned" and d.input and d.input.stage == "linear" and chance(40) then
    d.input.grid = pick { 1, 3, 8 }
  end
  -- Weights that are no softmax grow with what is added to scores.
  if d.positions == "alibi" and (d.weighting or "softmax") ~= "softmax" then d.positions = "t5" end
  local needed = math.max(d.seq + (d.past or 0), keys)
  if chance(40) then d.max_position = needed + (chance(50) and 0 or size(100)) end
  if d.positions == "rope" then
    d.rope_dim = 2 * random(head_dim_of(d) // 2)
    if head_dim_of(d) % 2 == 0 and chance(40) then d.rope_dim = head_dim_of(d) end
    if chance(10) then d.rope_dim = 0 end
    local is_image = d.input and d.input.stage == "image" and not d.input.row_stride
    if is_image and d.rope_dim % 4 == 0 and chance(60) then d.rope_patches = true end
    if chance(50) then d.rope_style = pick { "halves", "pairs" } end
    if chance(30) then d.rope_theta = pick { 1, 100.5, 5e5 } end
  elseif d.positions == "alibi" then
    if chance(30) then d.alibi_max = pick { 3, 16.0 } end
    if chance(30) then d.alibi_factor = pick { 0.25, 1.5 } end
  elseif d.positions == "disentangled" then
    draw_disentangled(d)
  elseif d.positions == "convolution" then
    draw_position_convolution(d)
  elseif d.positions == "t5" then
    if chance(60) then d.t5_buckets = random(4, 70) end
    local sided = d.t5_buckets or 32
    if chance(50) then d.t5_distance = sided // 2 + size(150) end
    if chance(30) then d.t5_by_layer = true end
    if chance(40) and d.heads * head_dim_of(d) == d.d_model and (d.ranks or 1) == 1 then d.position_gate = true end
  end
end

local function draw_factors(d)
  local list = {}
  for layer = 1, d.layers do
    local empty, ones = chance(10), chance(15)
    list[layer] = {}
    for head = 1, d.heads do
      list[layer][head] = empty and 0 or ones and 1 or pick { 0, 0, 1, 1, 0.5, -1.25 }
    end
  end
  return list
end

local function draw_attention_output(d)
  if chance(70) then return end
  d.attention_output = pick { "none", "heads", "mean" }
  if chance(70) then return end
  local layers = {}
  for layer = 0, d.layers - 1 do if chance(50) then layers[#layers + 1] = layer end end
  local kind = pick { "heads", "mean" }
  d.attention_output = { kind = kind, layers = chance(80) and layers or nil,
    before_head_mask = kind == "heads" and chance(30) or nil }
end

--- Everything about the attentions of a stack whose sizes are final. keys: of qkv(), the rows of key and value.
function attention.draw_stack(d, keys)
  local own = (d.past or 0) + (keys or d.seq)
  draw_mask(d, own)
  draw_positions(d, own)
  draw_convolution(d)
  draw_dropped(d)
  if d.projections == false and not keys then d.kv_heads = nil
  elseif chance(35) then d.kv_heads = divisor(d.heads) end
  if chance(20) then d.qk_norm = attention.draw_qk_norm(d) end
  if chance(15) and d.projections ~= false then d.bias_kv = chance(80) end
  if chance(15) then d.zero_attn = chance(80) end
  if chance(4) and (d.weighting or "softmax") == "softmax" and d.layers <= 2 and not d.sinks then d.fully_masked = "nan"
  elseif chance(10) then d.fully_masked = "zero" end
  draw_attention_output(d)
  if chance(20) then
    d.head_mask = d.projections ~= false and chance(60) and draw_factors(d) or pick { "none", "input" }
  end
end

--- Widths of the inputs of qkv(); returns the width of the states after the attention.
function attention.draw_qkv(d)
  local heads, head_dim = d.kv_heads or d.heads, head_dim_of(d)
  if d.projections ~= false then
    if chance(50) then d.kdim = size(120) end
    if chance(50) then d.vdim = size(120) end
    return d.d_model
  end
  if heads * head_dim ~= d.d_model or chance(50) then d.kdim = heads * head_dim end
  local value = d.residual == false and size(60) or head_dim
  if heads * value ~= d.d_model or chance(50) then d.vdim = heads * value end
  return d.heads * value
end

local sizes_of_stack = { "d_model", "heads", "head_dim", "d_ff" }

--- Draws an encoder with all that it needs; then it leaves to the model what the model says alike.
function attention.draw_encoder(d, draw_input)
  local e = { stage = "encoder", seq = size(60) }
  for _, key in ipairs { "layers", "eps", "projections", "weighting", "scoring", "sinks",
    table.unpack(sizes_of_stack) } do
    e[key] = d[key]
  end
  local layers = type(d.layers) == "table" and #d.layers or d.layers -- the encoder's are alike
  e.layers = chance(40) and random(0, 2) or layers
  if chance(30) and d.projections ~= false then
    e.heads, e.head_dim = random(4), nil
    e.d_model, e.d_ff = e.heads * size(30), chance(80) and size(100) or 0
    if e.d_model < sizes.NARROW then e.eps = 0.5 end
  end
  if chance(20) then e.norm_kind = pick { "layer", "rms" } end
  if chance(20) then e.gated = chance(50) end
  draw_input(e)
  attention.draw_stack(e)
  if d.kv_heads then e.kv_heads = e.kv_heads or e.heads end
  if e.positions == "t5" then e.t5_buckets, e.t5_distance = e.t5_buckets or 32, e.t5_distance or 128 end
  if d.position_gate then e.position_gate = e.position_gate or false end -- else it is the model's
  draw_mask_value(e)
  local alike = true
  for _, key in ipairs(sizes_of_stack) do alike = alike and e[key] == d[key] end
  for _, key in ipairs(sizes_of_stack) do if alike then e[key] = nil end end
  for _, key in ipairs { "eps", "projections", "weighting", "scoring", "sinks" } do
    if e[key] == d[key] then e[key] = nil end
  end
  if e.layers == layers then e.layers = nil end
  -- The encoder would inherit positions that fit the model's heads and lengths, and may not fit its own.
  e.positions = e.positions or "none"
  if d.position_gate and not e.position_gate then e.position_gate = false end
  return e
end

--- A memory of a model that can have one. draw_input(d): what comes into an encoder.
function attention.draw_memory(d, draw_input)
  if chance(50) then
    d.memory = attention.draw_encoder(d, draw_input)
  else
    d.memory = { seq = size(80) }
    if d.projections ~= false and chance(50) then d.memory.width = size(100) end
    if chance(60) then d.memory.mask = pick { "none", "padding", "key_padding" } end
  end
end

-- Keys that do not go with a picture's rows after the rows of tokens.
local without_joined = { "past", "context", "bias_kv", "zero_attn", "conv_kernel", "position_gate", "ranks", "stages",
  "memory", "attention_output", "window", "prefix", "mask_value", "adapters", "keys_of", "short_conv", "t5_by_layer",
  "streams", "layer_inputs" }

--- A picture's patches after the tokens of a model that can have them.
function attention.draw_joined(d)
  if not (d.input and d.input.stage == "tokens") then return end
  if type(d.seq) ~= "number" or type(d.layers) ~= "number" or type(d.batch) == "table" then return end
  for _, key in ipairs(without_joined) do if d[key] then return end end
  if type(d.precision) == "table" and d.precision.attention == "int8" or d.precision == "int8" then return end
  if (d.mask or "none") ~= "none" and d.mask ~= "padding" or (d.parallel or "none") ~= "none" then return end
  for _, stage in ipairs(d.output or {}) do
    if stage.mask or stage.marked or stage.stage == "match" then return end -- these read a number of each token
  end
  local patch, rows, columns = random(4), random(4), random(4)
  d.memory = { stage = "encoder", joined = true, layers = 0, positions = pick { "learned", "none" },
    input = { stage = "image", patch = patch, height = patch * rows, width = patch * columns, channels = random(3),
      norm = chance(50) } }
  d.positions, d.sinusoids, d.rope_scaling, d.first_position = pick { "learned", "none" }, nil, nil, nil
  if not d.box_buckets and chance(70) then d.input.boxes, d.box_buckets = d.input.boxes or 30, random(4, 70) end
  if d.box_buckets then d.positions = { pick { "learned", "sinusoidal" }, "t5" } end
  if d.box_buckets and chance(60) then
    d.box_distance, d.t5_buckets = d.box_buckets // 2 + random(100), random(4, 40)
    d.t5_distance = d.t5_buckets // 2 + random(20)
  end
end

attention.draw_mask_value = draw_mask_value

return attention
