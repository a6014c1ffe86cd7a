-- draw_any.lua: turns a drawn description into one of any length, seq = any(N): what does not go with it is
-- left out, or becomes something that does.
local masks = require("data.masks")
local sizes = require("sizes")
local words = require("common.words")

local draw_any = {}

local pick, chance = sizes.pick, sizes.chance

local left_out = { "batch", "past", "memory", "layout", "bias_kv", "zero_attn", "scoring", "attention_output", "prefix",
  "kv_layout", "kdim", "vdim", "key_seq", "exact" }

local refused_masks = words.set { "prefix" }
for _, array in ipairs(masks.arrays) do refused_masks[array.word] = true end

-- Returns a mask without the words that do not go with any length.
local function mask_of(mask)
  if refused_masks[mask] then return pick { "padding", "causal", nil } end
  if type(mask) ~= "table" then return mask end
  local kept = {}
  for _, word in ipairs(mask) do if not refused_masks[word] then kept[#kept + 1] = word end end
  for key, value in pairs(mask) do
    if type(key) == "string" and not refused_masks[key] then kept[key] = value end
  end
  return kept
end

local function has_word(mask, word)
  if type(mask) ~= "table" then return mask == word end
  for _, each in ipairs(mask) do if each == word then return true end end
  return false
end

local function change_positions(d)
  local kind = d.positions
  if d.input then d.input.grid = nil end
  if type(kind) == "string" and kind:find("^relative_key") then
    d.positions = (d.weighting or "softmax") == "softmax" and "alibi" or "learned"
  end
  if d.rope_scaling and d.rope_scaling.type == "dynamic" then
    d.rope_scaling.longest = sizes.chance(50) and d.seq.any or 400
  end
end

--- True if a description has a form of any length.
function draw_any.may(d)
  local stage = d.input and d.input.stage
  return stage ~= "image" and stage ~= "qkv"
end

--- Leaves out masks that do not go with any length.
function draw_any.change_masks(d)
  d.mask = mask_of(d.mask)
  if not has_word(d.mask, "window") then d.window = nil end
  if not has_word(d.mask, "padding") then d.mask_value = nil end
  for _, layer in ipairs(type(d.layers) == "table" and d.layers or {}) do
    if layer.mask then layer.mask = mask_of(layer.mask) end
  end
end

--- Changes a description to one of any length.
function draw_any.change(d)
  local most = type(d.seq) == "table" and d.seq[#d.seq] or d.seq
  local least = 2
  for _, stage in ipairs(d.output or {}) do if stage.over == "second" then least = 3 end end
  d.seq = { any = math.max(least, chance(15) and math.min(most, math.random(2, 20)) or most) }
  for _, key in ipairs(left_out) do d[key] = nil end
  if d.max_position then d.max_position = math.max(d.max_position, d.seq.any + (d.first_position or 0)) end
  if d.kernels == "libxsmm" then d.kernels = nil end
  if d.plan and d.plan.kernels == "libxsmm" then d.plan.kernels = nil end
  draw_any.change_masks(d)
  for _, stage in ipairs(d.output or {}) do
    if stage.stage == "pool" then stage.mask = nil end
  end
  change_positions(d)
  -- An output as wide as the longest sequence: a pass that took one for the other would show it.
  local last = d.output and d.output[#d.output]
  if last and last.stage == "linear" and chance(25) then last.to = d.seq.any end
end

return draw_any
