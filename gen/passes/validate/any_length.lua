-- any_length.lua: checks a spec whose sequences may have any length, seq = any(512), and removes its padding.
-- A call has the rows of its sequences one after the other, without padding. So a mask of padding masks nothing, and
-- lengths are no input.
local masks = require("data.masks")

local any_length = {}

-- Keys that are not supported with any length: { key, what, is_there(spec), why }.
local refused = {
  { "input", "padded tokens", function(spec) return spec.input.padded end,
    ", as the model sees the padding up to one length" },
  { "input", "a grid of positions, which each sequence resizes", function(spec) return spec.input.grid end },
  { "past", "past keys", function(spec) return (spec.past or 0) > 0 end },
  { "memory", "a memory", function(spec)
    return spec.memory ~= nil and not (spec.context and spec.memory.encoder)
  end, "; an encoder goes with a context" },
  { "input", "image, whose patches have one number", function(spec) return spec.input.stage == "image" end },
  { "input", "frames, whose convolutions read the rows after the last", function(spec)
    return spec.input.stage == "frames"
  end },
  { "input", "qkv, whose keys have a number of their own", function(spec) return spec.input.stage == "qkv" end },
  { "layout", "seq_first", function(spec) return spec.layout == "seq_first" end },
  { "bias_kv", "learned keys", function(spec) return spec.bias_kv end },
  { "zero_attn", "keys of zeros", function(spec) return spec.zero_attn end },
  { "scoring", "additive scores", function(spec) return spec.scoring == "additive" end },
  { "positions", "relative_key positions", function(spec)
    return type(spec.positions) == "string" and spec.positions:find("^relative_key") ~= nil
  end },
  { "attention_output", "outputs of an attention", function(spec)
    return spec.attention_output.kind ~= "none" or spec.attention_output.scores
  end },
  { "prefix", "a prefix", function(spec) return spec.mask.prefix ~= nil end },
  { "late_interaction", "queries that are filled up with tokens that no other sees", function(spec)
    return spec.late_interaction and spec.late_interaction.expands and not spec.late_interaction.attends
  end },
  { "kernels", "kernels of libxsmm", function(spec)
    return spec.kernels == "libxsmm" or spec.plan.kernels == "libxsmm"
  end },
}

--- Returns why a spec does not go with any length, as a list of { key, message }; empty if it does.
function any_length.reasons(spec)
  local list, with = {}, spec.context and "a context" or "seq = any(N)" -- a context has sequences of any length, too
  local function add(key, message) list[#list + 1] = { key, message } end
  for _, each in ipairs(refused) do
    if each[3](spec) then add(each[1], ("%s: not supported with %s%s"):format(each[2], with, each[4] or "")) end
  end
  for _, array in ipairs(masks.arrays) do
    if spec.mask[array.word] then
      add("mask", ("\"%s\": not supported with %s, whose sequences have no padding"):format(array.word, with))
    end
  end
  for i, each in ipairs(spec.each or {}) do
    if each.mask.prefix then add(("layers.%d.prefix"):format(i), "a prefix: not supported with " .. with) end
  end
  for i, stage in ipairs(spec.output) do
    if stage.stage == "pool" and stage.mask then
      add(("output.%d.mask"):format(i), "a pool's mask: not supported with " .. with)
    end
    if stage.stage == "similarity" then
      add(("output.%d"):format(i),
        "similarity: not supported with seq = any(N), as it scores pictures, which have one size")
    end
  end
  return list
end

-- Removes the mask of padding from a layer's or the stack's spec.
local function unpad(spec)
  local mask = {}
  for word, value in pairs(spec.mask) do if word ~= "padding" then mask[word] = value end end
  spec.mask, spec.mask_value = mask, nil
  mask.padding = false
end

--- Checks a spec, and changes it to that of sequences without padding. is_list: the description has a list of sizes.
function any_length.resolve(say, spec, is_list)
  local advice = is_list and "; a list of sizes means any(N), so give one size" or ""
  for _, reason in ipairs(any_length.reasons(spec)) do say(reason[1], reason[2] .. advice) end
  spec.any = true
  for _, each in ipairs(spec.each or {}) do unpad(each) end
  unpad(spec)
end

return any_length
