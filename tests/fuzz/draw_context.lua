-- draw_context.lua: turns a drawn description of any length into one with a context, whose calls go on from those
-- before: what does not go with it is left out, or becomes something that does.
local any = require("draw_any")
local attention = require("draw_attention")
local sizes = require("sizes")
local words = require("common.words")

local draw_context = {}

local pick, chance, size = sizes.pick, sizes.chance, sizes.size
local numbers = words.set { "argmax", "topk" }

local function has_word(mask, word)
  if type(mask) ~= "table" then return mask == word end
  for _, each in ipairs(mask) do if each == word then return true end end
  return false
end

-- Returns a mask by which a query sees no key after it; `window` is that of the description or its layer.
local function mask_of(mask, window)
  local given = type(mask) == "table" and mask.window or has_word(mask, "window") and window or nil
  if not given or chance(20) then return "causal" end
  local left = given.left or given[1]
  return chance(50) and { window = { left, 0 } } or { "causal", window = { left, 0 } }
end

local function change_masks(d)
  local window = d.window
  d.mask, d.window = mask_of(d.mask, window), nil
  for _, layer in ipairs(type(d.layers) == "table" and d.layers or {}) do
    if layer.mask or layer.window then layer.mask, layer.window = mask_of(layer.mask, layer.window or window), nil end
  end
end

-- Rows give logits: stages that join rows are left out, and so are numbers of the best.
local function change_output(d, before)
  local kept
  for _, stage in ipairs(d.output or {}) do
    kept = kept or {}
    if stage.stage ~= "pool" and not numbers[stage.stage] then kept[#kept + 1] = stage end
  end
  d.output = kept
  local last = kept and kept[#kept]
  if last and last.stage == "linear" and last.to == before then last.to = math.min(d.context, 150) end
end

local function change_positions(d, before)
  d.conv_kernel, d.conv_activation, d.input.dropped, d.input.boxes = nil, nil, nil, nil
  d.input.place_width, d.input.grid, d.box_buckets, d.box_distance = nil, nil, nil, nil
  if d.positions == "t5" or d.positions == "disentangled" or d.positions == "convolution" then
    d.positions = pick { "alibi", "learned" }
  end
  for i, kind in ipairs(type(d.positions) == "table" and d.positions or {}) do
    if kind == "t5" or kind == "disentangled" then d.positions[i] = "alibi" end
  end
  for _, key in ipairs { "t5_buckets", "t5_distance", "t5_by_layer", "position_gate" } do d[key] = nil end
  if d.max_position then d.max_position = math.max(d.max_position, d.context + (d.first_position or 0)) end
  local scaling = d.rope_scaling
  if scaling and scaling.longest == before then scaling.longest = d.context end
end

local function change_precision(d)
  if type(d.precision) == "table" and d.precision.attention then
    d.precision.attention = d.cache and d.cache:find("^int") and "f32" or d.cache
  end
end

-- True if keys or values are projected, and so are not the same tensor.
local function are_apart(projections)
  if type(projections) ~= "table" then return projections ~= false end
  return projections.k ~= false or projections.v ~= false
end

--- True if a description of any length has a form with a context.
function draw_context.may(d)
  local stage = d.input and d.input.stage
  local layers = type(d.layers) == "table" and #d.layers or d.layers
  return type(d.seq) == "table" and d.seq.any ~= nil and stage == "tokens" and (d.input.types or 0) == 0 and layers > 0
    and (d.weighting or "softmax") == "softmax" and are_apart(d.projections)
end

--- True if a description with a context may have an encoder.
function draw_context.may_encode(d)
  return (d.projections == nil or d.projections == true) and (d.parallel or "none") == "none"
end

-- Changes an encoder to one of sources of one length, such as pictures.
local function change_to_one(e)
  any.change_masks(e)
  for i = type(e.mask) == "table" and #e.mask or 0, 1, -1 do
    if e.mask[i] == "padding" then table.remove(e.mask, i) end
  end
  if e.mask == "padding" or type(e.mask) == "table" and next(e.mask) == nil then e.mask = nil end
  e.mask_value, e.attention_output, e.prefix = nil, nil, nil
  if e.input and e.input.stage == "image" then e.seq = nil else e.seq = math.max(2, e.seq) end
end

-- Makes the tables of tokens of an encoder and of its decoder one tensor, if they are as wide.
local function share_table(d, e)
  local own, other = d.input, e.input
  local are_tables = own and other and own.stage == "tokens" and other.stage == "tokens"
  if not are_tables or type(d.names) == "table" then return end
  if (own.width or d.d_model) ~= (other.width or e.d_model or d.d_model) then return end
  other.vocab = own.vocab
  d.names = { d.names, ["input.tokens.weight"] = "shared.weight", ["encoder.input.tokens.weight"] = "shared.weight" }
end

--- Gives a description with a context an encoder, whose sources have any length, or one. draw_input(d): what comes into
--- it.
function draw_context.add_encoder(d, draw_input)
  local e = attention.draw_encoder(d, draw_input)
  local is_image = e.input and e.input.stage == "image"
  if is_image and e.seq < 2 then e.input, e.rope_patches = nil, nil end
  if is_image and e.input or chance(20) then change_to_one(e) else any.change(e) end
  e.head_mask = nil
  if not is_image and chance(20) then e.input = { stage = "linear", from = size(80) } end
  if chance(50) then share_table(d, e) end
  d.memory = e
end

--- Changes a description of any length to one with a context. A call has at most `chunk` rows, whose number decides how
--- long a check takes, and a row sees the keys of all calls before.
function draw_context.change(d)
  local before = d.seq.any
  d.seq = nil
  d.context = chance(30) and before or math.max(2, size(300))
  if chance(80) then d.chunk = math.min(4096, size(math.max(2, math.min(before, 100)))) end
  if (d.chunk or 256) > before and d.context > before then d.chunk = before end
  if chance(70) then d.sequences = math.min(d.context, pick { 1, 2, 3, math.random(32), 32 }) end
  if chance(85) then d.cache = pick { "f32", "bf16", "int8", "int4" } end
  d.head_mask, d.fully_masked, d.mask_value = nil, nil, nil
  change_masks(d)
  change_output(d, before)
  change_positions(d, before)
  change_precision(d)
end

return draw_context
