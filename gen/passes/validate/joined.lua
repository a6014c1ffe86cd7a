-- joined.lua: checks a memory whose rows follow the sequence's own in every self-attention: the patches of a page's
-- picture after the page's tokens (Huang et al. 2022, LayoutLMv3).
local keys = require("data.keys")

local joined = {}

-- Keys that do not go with such a memory: { key, what, is_there(spec) }.
local refused = {
  { "context", "a context", function(spec) return spec.context end },
  { "past", "past keys", function(spec) return (spec.past or 0) > 0 end },
  { "bias_kv", "learned keys", function(spec) return spec.bias_kv end },
  { "zero_attn", "keys of zeros", function(spec) return spec.zero_attn end },
  { "conv_kernel", "a convolution of the rows", function(spec) return spec.conv_kernel end },
  { "short_conv", "convolutions in place of attentions", function(spec) return (spec.short_conv or 0) > 0 end },
  { "t5_by_layer", "tables of each layer", function(spec) return spec.t5_by_layer end },
  { "position_gate", "gates of positions", function(spec) return spec.position_gate end },
  { "layers", "a list of layers", function(spec) return spec.each end },
  { "streams", "streams", function(spec) return spec.streams end },
  { "layer_inputs", "tokens in each layer", function(spec) return spec.layer_inputs end },
  { "attention_output", "outputs of an attention", function(spec)
    return spec.attention_output and (spec.attention_output.kind ~= "none" or spec.attention_output.scores)
  end },
}

local function check_mask(say, mask)
  for word, value in pairs(mask or {}) do
    if value and word ~= "padding" then return say("mask", "only \"padding\" goes with a joined memory") end
  end
end

-- Checks positions: those before the first layer, and numbers that are added by boxes and by places in the sequence.
local function check_positions(say, spec)
  if spec.positions ~= "learned" and spec.positions ~= "none" and spec.positions ~= "sinusoidal" then
    say("positions", "\"learned\", \"sinusoidal\", \"none\", or one of these with \"t5\", go with a joined memory")
  elseif spec.distances and spec.distances ~= "t5" then
    say("positions", "%s does not go with a joined memory", spec.distances)
  elseif (spec.distances == "t5") ~= (spec.box_buckets ~= nil) then
    say("box_buckets", "goes with \"t5\" among positions where the memory is joined, and \"t5\" with box_buckets")
  end
end

-- Checks that no stage reads a number of each token while the picture's rows, which have none, are among the rows.
local function check_output(say, spec)
  for i, stage in ipairs(spec.output or {}) do
    if stage.stage == "pool" and stage.over == "own" then return end
    if stage.stage == "match" or stage.marked or stage.stage == "pool" and stage.mask then
      say(("output.%d"):format(i), "reads a number of each token, and rows of a joined memory have none: "
        .. "pool \"own\" leaves them out before it")
    end
  end
end

--- Checks the memory of a resolved spec, if it is joined.
function joined.check(say, spec)
  local memory = spec.memory
  if not (memory and memory.joined) then return end
  local input = memory.encoder.input
  if input.stage ~= "image" or not input.class_token or input.distillation_token or (input.registers or 0) > 0
    or input.row_stride then
    say("memory.input", "a joined memory takes image { ... } with the class token before its patches, and no others")
  end
  if memory.width ~= spec.d_model then
    say("memory.d_model", "%d, but rows that are joined must be as wide as d_model, %d", memory.width, spec.d_model)
  end
  if spec.input.stage ~= "tokens" then say("input", "tokens { ... } goes with a joined memory") end
  if spec.seq and spec.seq + (memory.seq or 0) > keys.LONGEST then
    say("seq", "%d and the picture's %d rows, but at most %d rows are allowed", spec.seq, memory.seq, keys.LONGEST)
  end
  for _, each in ipairs(refused) do
    if each[3](spec) then say(each[1], "%s: not supported with a joined memory", each[2]) end
  end
  check_mask(say, spec.mask)
  check_positions(say, spec)
  check_output(say, spec)
end

return joined
