-- gemma4.lua: describes the text part of Gemma 4 (Gemma Team 2026): layers with and without a window have heads of
-- other widths, the last layers read keys and values of earlier ones, each may read the tokens again, and may have
-- experts next to its feed-forward.
local experts = require("checkpoints.experts")
local faults = require("common.faults")
local gemma = require("checkpoints.gemma")
local heads = require("checkpoints.heads")
local layers = require("checkpoints.layers")
local words = require("common.words")

local FULL, SLIDING = "full_attention", "sliding_attention"

local refuse = gemma.refuse

-- Keys of a layer in per_layer_config -> keys of a description.
local own_keys = { head_dim = "head_dim", num_key_value_heads = "kv_heads" }

-- Sets the widths of heads and the numbers of key heads that differ by layer. Folders of transformers 5 list layers;
-- others have keys for all layers without a window.
local function set_heads(facts, sliding)
  if not facts.by_layer then
    local kv_heads = facts.shares_projection and facts.full_kv_heads or facts.kv_heads
    facts.by_layer = {}
    for i, slides in ipairs(sliding) do
      facts.by_layer[tostring(i - 1)] = not slides and { head_dim = facts.full_head_dim,
        num_key_value_heads = kv_heads } or nil
    end
  end
  for index, given in pairs(facts.by_layer) do
    local layer = math.tointeger(tonumber(index))
    if not layer or layer < 0 or layer >= facts.layers or type(given) ~= "table" then
      refuse("per_layer_config", ("%s is not the number of a layer with its keys"):format(faults.quote(index)))
    end
    for key, value in pairs(given) do
      if not own_keys[key] or math.type(value) ~= "integer" or value < 1 then
        refuse("per_layer_config", ("%s: %s: head_dim and num_key_value_heads, integers, are supported"):format(index,
          faults.quote(tostring(key))))
      end
      if value ~= facts[own_keys[key]] then layers.own(facts, layer)[own_keys[key]] = value end
    end
  end
end

-- Sets the experts, whose shared feed-forward is the dense one.
local function set_experts(facts)
  for _, each in ipairs { { "num_experts", "experts_count" }, { "top_k_experts", "experts_used" },
    { "moe_intermediate_size", "experts_width" } } do
    if not facts[each[2]] then
      faults.raise("format", "config.json: %s: missing, but enable_moe_block is true", each[1])
    end
  end
  experts.set(facts, { shared = facts.d_ff, own_norms = true, scales = true })
end

return heads.llama_family {
  known = "Gemma 4 (E2B, E4B, 26B-A4B, 31B): models of text, and the text part of the others",
  model_types = { gemma4_text = "Gemma4", gemma4 = "Gemma4" },
  called = { gemma4_text = "Gemma 4 (its text part)" },
  inside = { gemma4 = "text_config" },
  prefixes = { "model.", "model.language_model.", "" },
  tensors = heads.llama_tensors(words.append({
    { "l*.scale.weight", { "layers.*.layer_scalar", repeated = true } },
    { "l*.ff.shared.gate", "layers.*.mlp.gate_proj" },
    { "l*.ff.shared.up", "layers.*.mlp.up_proj" },
    { "l*.ff.shared.down", "layers.*.mlp.down_proj" },
    { "l*.ff.shared.norm", "layers.*.post_feedforward_layernorm_1" },
    { "l*.ff.router", "layers.*.router.proj" },
    { "l*.ff.router.norm.weight", "layers.*.router.scale" },
    { "l*.ff.router.scales.weight", "layers.*.router.per_expert_scale" },
    { "l*.ff.experts.gate.weight", { "layers.*.experts.gate_up_proj", part = 1, parts = 2 } },
    { "l*.ff.experts.up.weight", { "layers.*.experts.gate_up_proj", part = 2, parts = 2 } },
    { "l*.ff.experts.down.weight", "layers.*.experts.down_proj" },
    { "l*.ff.experts.norm", "layers.*.pre_feedforward_layernorm_2" },
    { "l*.ff.experts.norm_after", "layers.*.post_feedforward_layernorm_2" },
  }, gemma.later)),
  config = heads.config({ vocab = 262144, d_model = 2304, d_ff = 9216, layers = 30, heads = 8, kv_heads = 4,
    head_dim = 256, longest = 131072, rms_eps = 1e-6, tied = true, attention_bias = false, window = 512,
    layer_types = false, rope_parameters = false }, {
    { "hidden_activation", to = "activation", default = "gelu_pytorch_tanh", kind = "activation" },
    { "final_logit_softcapping", to = "logit_softcap", default = false, kind = "number", null = false },
    { "use_bidirectional_attention", to = "both_sides", default = false, kind = "word", null = false,
      words = { all = true, vision = false } },
    { "per_layer_config", to = "by_layer", default = false, kind = "object", null = false },
    { "global_head_dim", to = "full_head_dim", default = 512, kind = "count" },
    { "num_global_key_value_heads", to = "full_kv_heads", default = false, kind = "count" },
    { "attention_k_eq_v", to = "shares_projection", default = false, kind = "flag" },
    { "num_kv_shared_layers", to = "shared_layers", default = 0, kind = "size" },
    { "use_double_wide_mlp", to = "is_wide", default = false, kind = "flag" },
    { "hidden_size_per_layer_input", to = "layer_inputs", default = 256, kind = "size" },
    { "vocab_size_per_layer_input", to = "layer_vocab", default = 262144, kind = "count" },
    { "enable_moe_block", to = "has_experts", default = false, kind = "flag" },
    { "num_experts", to = "experts_count", default = false, kind = "count" },
    { "top_k_experts", to = "experts_used", default = false, kind = "count" },
    { "moe_intermediate_size", to = "experts_width", default = false, kind = "count" },
  }),
  fixed = heads.llama_with { norm = "sandwich", qk_norm = "heads", values = "normed", layer_scale = true },
  rotary = false,
  pad = 0,
  derive = function(facts, config)
    gemma.derive(facts)
    facts.score_scale = 1.0
    if facts.model_type == "gemma4" then facts.tied = config.tie_word_embeddings ~= false end
    if facts.both_sides then gemma.see_both_sides(facts) end
    if facts.layer_inputs == 0 then facts.layer_inputs = nil end
    if facts.layer_inputs and facts.layer_vocab ~= facts.vocab then
      refuse("vocab_size_per_layer_input", ("%d, but vocab_size is %d"):format(facts.layer_vocab, facts.vocab))
    end
    local sliding = layers.sliding(facts, function(i) return (i + 1) % 6 ~= 0 end)
    sliding[#sliding] = false -- as transformers has it
    set_heads(facts, sliding)
    local is_given, full = facts.rope_parameters, facts.by_layer[tostring(facts.layers - 1)] or {}
    layers.set_angles(facts, sliding, {
      [FULL] = { rope_theta = 1e6, head_dim = full.head_dim, rope_scaling = not is_given
        and { rope_type = "proportional", partial_rotary_factor = 0.25 } },
      [SLIDING] = { rope_theta = 1e4, rope_scaling = false } })
    layers.set_windows(facts, sliding)
    for i, slides in ipairs(sliding) do
      if facts.shares_projection and not slides then layers.own(facts, i - 1).values = "keys" end
    end
    if facts.has_experts then set_experts(facts) end
    gemma.share_keys(facts, sliding)
  end,
  heads = gemma.heads(),
  notes = gemma.notes("images and sounds"),
}
