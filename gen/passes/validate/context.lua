-- context.lua: checks a spec whose calls go on from those before, context = 4096, and fills in its sizes.
-- A caller's context keeps the keys and values of `sequences` sequences, each of at most `context` tokens. So queries
-- may see only what came before them, and a call has the rows of its new tokens.
local precision = require("data.precision")
local projections = require("passes.validate.projections")
local words = require("common.words")

local context = {}

-- Keys that do not go with a context: { key, message, is_there(spec) }.
local refused = {
  { "input", "a context goes with input = tokens { ... }", function(spec) return spec.input.stage ~= "tokens" end },
  { "layers", "a context needs a layer, whose keys it keeps", function(spec) return spec.layers == 0 end },
  { "input.types", "token types do not go with a context", function(spec) return (spec.input.types or 0) > 0 end },
  { "input.boxes", "boxes do not go with a context", function(spec) return spec.input.boxes ~= nil end },
  { "input.dropped", "does not go with a context: it needs the share of all tokens", function(spec)
    return spec.input.dropped ~= nil
  end },
  { "weighting", "a context goes with weighting = \"softmax\"", function(spec) return spec.weighting ~= "softmax" end },
  { "head_mask", "factors of heads do not go with a context", function(spec)
    return spec.head_mask and spec.head_mask.kind ~= "none" or false
  end },
  { "positions", "positions = \"disentangled\" do not go with a context", function(spec)
    return spec.distances == "disentangled"
  end },
  { "conv_kernel", "a convolution does not go with a context: it needs the rows before the first", function(spec)
    return spec.conv_kernel ~= nil
  end },
  { "positions", "a convolution does not go with a context: it needs the rows after the last", function(spec)
    return spec.positions == "convolution"
  end },
  { "projections", "a context keeps keys apart from values, so one of them needs a projection", function(spec)
    return not projections.has(spec, "k") and not projections.has(spec, "v")
  end },
}

-- The most tokens of a call. A mixture divides them among its experts, and each call reads the weights of all.
local CHUNK, CHUNK_OF_EXPERTS = 256, 512

-- True if queries of a layer see keys after them.
local function sees_after(spec)
  local mask = spec.mask
  return not (mask.causal or mask.window and mask.window.right == 0)
end

--- Fills in a spec's `seq`, the most keys of a sequence, before it is resolved.
function context.size(spec)
  if spec.context then spec.seq = spec.context end
end

--- Checks a resolved spec, and fills in call_rows, the most rows of a call, for a model of any length.
function context.resolve(say, spec)
  if not spec.context then
    for _, key in ipairs { "cache", "sequences", "chunk" } do
      if spec[key] then say(key, "goes with context") end
    end
    spec.call_rows = spec.any and spec.seq or nil
    return
  end
  for _, each in ipairs(refused) do
    if each[3](spec) then say(each[1], each[2]) end
  end
  for _, each in ipairs(spec.each or { spec }) do
    if sees_after(each) then
      say("mask", "a context needs mask = \"causal\" in each layer, or a window { left, 0 }")
      break
    end
  end
  local last = spec.output[#spec.output]
  if last and (last.stage == "argmax" or last.stage == "topk") then
    say(("output.%d"):format(#spec.output), "numbers of the best tokens do not go with a context, which gives logits")
  end
  for i, stage in ipairs(spec.output) do
    if stage.stage == "pool" then say(("output.%d"):format(i), "a pool over rows does not go with a context") end
  end
  local by_part = spec.precision.by_part
  local multiplied = precision.cache_bits(spec.cache) and "f32" or spec.cache -- the type of the attention's products
  if spec.cache and by_part.attention and by_part.attention ~= multiplied then
    say("cache", "%s, but precision says attention = \"%s\"; %s", spec.cache, by_part.attention,
      spec.cache == multiplied and "both are one choice" or "with integers an attention is f32")
  end
  for i, id in ipairs(spec.generation and spec.generation.stop or {}) do
    if id >= (spec.input.vocab or 0) then
      say(("generation.stop.%d"):format(i), "%d, but the model's tokens are 0 to %d", id, spec.input.vocab - 1)
    end
  end
  spec.sequences = spec.sequences or 1
  local has_experts = words.any(spec.each or { spec }, function(each) return each.experts end)
  spec.chunk = spec.chunk or has_experts and CHUNK_OF_EXPERTS or CHUNK
  if spec.sequences > spec.context then -- a call has the rows of a token of each
    say("sequences", "%d, but a context of %d tokens takes at most %d", spec.sequences, spec.context, spec.context)
  end
  spec.call_rows = math.min(spec.context, math.max(spec.chunk, spec.sequences))
  by_part.attention = multiplied or by_part.attention
end

return context
