-- gemma.lua: holds the data that the Gemma families share.
-- Their RMS norms multiply by one more than the stored weight, and their embeddings are scaled by sqrt(d_model).
local heads = require("checkpoints.heads")

local gemma = {}

--- Returns the rule of a norm's weight.
function gemma.norm(name) return { name, plus_one = true } end

--- The norms of Gemma 2 and 3: before and after each part.
gemma.sandwich = {
  { "l*.norm1.weight", gemma.norm("layers.*.input_layernorm.weight") },
  { "l*.norm1_after.weight", gemma.norm("layers.*.post_attention_layernorm.weight") },
  { "l*.norm2.weight", gemma.norm("layers.*.pre_feedforward_layernorm.weight") },
  { "l*.norm2_after.weight", gemma.norm("layers.*.post_feedforward_layernorm.weight") },
}

--- Returns a family's tensors: Llama's, with `norms` in place of its norms.
function gemma.tensors(norms)
  local list = { { "final_norm.weight", gemma.norm("norm.weight") } }
  table.move(norms, 1, #norms, 2, list)
  for _, entry in ipairs(heads.llama_tensors()) do
    if not entry[1]:find("norm", 1, true) then list[#list + 1] = entry end
  end
  return list
end

--- Sets the facts that follow from others.
function gemma.derive(facts)
  facts.bias = { qkv = facts.attention_bias, out = facts.attention_bias, ff = false }
  facts.embedding_scale = math.sqrt(facts.d_model)
end

return gemma
