-- gemma.lua: holds the data that the Gemma families share.
-- Their RMS norms multiply by one more than the stored weight, and their embeddings are scaled by sqrt(d_model).
local faults = require("common.faults")
local heads = require("checkpoints.heads")
local layers = require("checkpoints.layers")
local words = require("common.words")

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

--- The tensors that Gemma 3n and 4 have in addition to Llama's: norms, which multiply by the stored weight, and the
--- part of a layer that reads tokens.
gemma.later = {
  { "l*.attn.q_norm", "layers.*.self_attn.q_norm" },
  { "l*.attn.k_norm", "layers.*.self_attn.k_norm" },
  { "l*.norm1_after", "layers.*.post_attention_layernorm" },
  { "l*.norm2", "layers.*.pre_feedforward_layernorm" },
  { "l*.norm2_after", "layers.*.post_feedforward_layernorm" },
  { "input.layers_tokens", "embed_tokens_per_layer" },
  { "input.layers_context", "per_layer_model_projection" },
  { "l*.tokens.context_norm", "per_layer_projection_norm" },
  { "l*.tokens.gate", "layers.*.per_layer_input_gate" },
  { "l*.tokens.project", "layers.*.per_layer_projection" },
  { "l*.tokens.norm", "layers.*.post_per_layer_input_norm" },
}

function gemma.refuse(key, ...) faults.raise("usage", "config.json: %s: %s", key, faults.line(...)) end

--- Lets the last layers read the keys and values of the last layer of their kind before them. With facts.is_wide their
--- feed-forward is twice as wide. sliding: whether each layer has a window.
function gemma.share_keys(facts, sliding)
  local last, first = {}, facts.layers - facts.shared_layers
  for i, slides in ipairs(sliding) do
    if i <= first then
      last[slides] = i - 1
    elseif not last[slides] then
      gemma.refuse("num_kv_shared_layers", "%d, but no layer of this kind before layer %d has keys of its own",
        facts.shared_layers, i - 1)
    else
      local own = layers.own(facts, i - 1)
      own.keys_of, own.d_ff = last[slides], facts.is_wide and 2 * facts.d_ff or own.d_ff
      own.experts = facts.is_wide and facts.experts and words.merged(facts.experts, { shared = 2 * facts.d_ff }) or nil
    end
  end
end

--- Sets the facts that follow from others.
function gemma.derive(facts)
  facts.bias = { qkv = facts.attention_bias, out = facts.attention_bias, ff = false }
  facts.embedding_scale = math.sqrt(facts.d_model)
end

--- Lets each token see all others, or half of the window to each side, and one more token if is_causal says so, too.
function gemma.see_both_sides(facts)
  local more = facts.causal and 0 or 1
  facts.causal, facts.window = false, facts.window and (facts.window - more) // 2 + 1 + more
end

--- Returns the heads of a family whose text part is built; more: further ones.
function gemma.heads(more)
  return words.merged({ TextModel = heads.model(), Model = heads.model(), ForCausalLM = heads.causal_lm,
    ForConditionalGeneration = heads.causal_lm }, more or {})
end

--- Returns the notes of such a family. others: what its class of text and more also takes.
function gemma.notes(others)
  return { Model = "only the text part is built",
    ForConditionalGeneration = ("only the text part is built; %s are not supported"):format(others) }
end

return gemma
