-- convolutions.lua: checks what reads rows of a sequence next to each other: convolutions along the rows, LFM2's in
-- place of an attention, DeBERTa's after the first layer and wav2vec2's before it, positions = "convolution", and the
-- tokens that ESM drops.
local masks = require("data.masks")
local words = require("common.words")

local convolutions = {}

-- Reports what goes with no convolution. key: the key that asks for one; what: the key as a message has it.
local function check_rows(say, spec, key, what)
  if (spec.past or 0) > 0 then say(key, what .. "does not go with past: it needs the rows before the first") end
  if spec.input.stage == "qkv" then say(key, what .. "does not go with input = qkv()") end
  for _, array in ipairs(masks.arrays) do
    if spec.mask and spec.mask[array.word] then
      say(key, "%sdoes not go with mask = \"%s\": give \"padding\", whose lengths say where rows end", what, array.word)
    end
  end
end

local function check_after(say, spec)
  local kernel = spec.conv_kernel
  if not kernel then return end
  if kernel % 2 == 0 then say("conv_kernel", "%d, but an odd number is allowed", kernel) end
  if spec.norm == "none" then say("conv_kernel", "goes with a norm, not with norm = \"none\"") end
  check_rows(say, spec, "conv_kernel", "")
end

-- Checks what goes with convolutions before the layers, which read all rows of a sequence.
local function check_frames(say, spec)
  if (spec.past or 0) > 0 then say("past", "does not go with input = frames { ... }") end
  local mask = spec.mask or {}
  local is_given = mask.padding
  for _, array in ipairs(masks.arrays) do is_given = is_given or mask[array.word] end
  if is_given then say("mask", "the sequences of input = frames { ... } have no padding, and no mask that is given") end
end

--- Checks the layers of a stack that convolve their rows. Padding before a sequence would be among these rows.
function convolutions.check_layers(say, spec)
  local each = spec.each or { spec }
  if not spec.layers or not words.any(each, function(layer) return (layer.short_conv or 0) > 0 end) then return end
  local mask = words.merged(table.unpack(words.map(each, function(layer) return layer.mask or {} end)))
  check_rows(say, words.merged(spec, { mask = mask }), "short_conv", "")
  local output = spec.attention_output
  if output and (output.kind ~= "none" or output.scores) then
    say("short_conv", "does not go with attention_output: a convolution has no weights of keys")
  end
  if spec.head_mask and spec.head_mask.kind ~= "none" then
    say("short_conv", "does not go with head_mask: a convolution has no heads")
  end
end

--- Checks a stack's keys, once its sizes are known.
function convolutions.check(say, spec)
  check_after(say, spec)
  if spec.input.dropped then check_rows(say, spec, "input.dropped", "") end
  if spec.input.stage == "frames" then check_frames(say, spec) end
  if spec.positions ~= "convolution" then return end
  local groups, own = spec.position_groups, spec.input.stage == "tokens" and spec.input.width
  local width = own or spec.d_model
  if groups and width and width % groups ~= 0 then
    say("position_groups", "%d, which does not divide %s %d", groups, own and "input.width" or "d_model", width)
  end
  check_rows(say, spec, "positions", "convolution ")
end

return convolutions
