-- nomic_bert.lua: describes NomicBERT (Nussbaum et al. 2024): BERT with rotary positions, gated feed-forwards and few
-- biases. Published folders have GPT-2's keys and code of their own; folders of transformers 5 have BERT's keys.
local faults = require("common.faults")
local heads = require("checkpoints.heads")
local layers = require("checkpoints.layers")
local words = require("common.words")

-- Sets what the published code takes for keys that a folder does not have.
local function set_published(facts, config)
  local function flag(key) return config[key] == nil or config[key] == true end
  local is_biased = flag("qkv_proj_bias")
  facts.bias = { qkv = is_biased, out = is_biased, up = flag("mlp_fc1_bias"), down = flag("mlp_fc2_bias") }
  facts.head_bias = facts.bias.up
  if config.rotary_emb_fraction ~= 1 then -- the published default is 0
    faults.raise("usage", "config.json: rotary_emb_fraction: 1 is expected: positions in a table are not supported")
  end
  if config.rotary_emb_base == nil and config.rope_theta == nil then facts.rope_base = 10000.0 end
  if config.layer_norm_epsilon == nil and config.layer_norm_eps == nil then facts.eps = 1e-5 end
  facts.vocab = (facts.vocab + facts.multiple - 1) // facts.multiple * facts.multiple
  if facts.scaling_factor then
    facts.rope_scale = { type = "dynamic", factor = facts.scaling_factor, max_position = facts.trained }
  end
  facts.activation, facts.gated = table.unpack(facts.published)
end

-- Gives every nth layer experts, from the second on. They have no biases but one of their sum, which GGUF files leave
-- out. has(name): whether the file has a tensor.
local function set_experts(facts, has)
  local step, bias = facts.sparse_step, words.merged(facts.bias, { up = false, down = false })
  for i = 1, step > 1 and facts.layers - 1 or 0, math.max(step, 1) do
    local own = layers.own(facts, i)
    own.bias, own.gated = bias, false
    own.experts = { count = facts.experts_count, used = facts.experts_used, d_ff = facts.d_ff,
      normalise = facts.normalise, sum_bias = has(("encoder.layers.%d.mlp.experts.bias"):format(i)) }
  end
end

local masked_lm = heads.masked_lm { transform = "cls.predictions.transform.dense", transform_bias = "head_bias",
  norm = "cls.predictions.transform.layer_norm", vocabulary = "cls.predictions.decoder", bias = "cls.predictions.bias",
  vocabulary_bias = "head_bias" }

return {
  known = "nomic-bert-2048, nomic-embed-text v1 and v1.5, and v2, a mixture of experts",
  model_types = { nomic_bert = "NomicBert" },
  called = { nomic_bert = "NomicBERT" },
  prefixes = { "nomic_bert.", "bert.", "" },
  sums_types = true,
  tensors = heads.typed_tokens {
    { "input.norm", "emb_ln" },
    { "l*.attn.{q,k,v}", { "encoder.layers.*.attn.Wqkv", parts = 3 } },
    { "l*.attn.out", "encoder.layers.*.attn.out_proj" },
    { "l*.{norm1,norm2}", "encoder.layers.*.{norm1,norm2}" },
    { "l*.ff.gate", "encoder.layers.*.mlp.fc12" },
    { "l*.ff.up", { "encoder.layers.*.mlp.fc11", when = { "gated", true } } },
    { "l*.ff.{up,down}", "encoder.layers.*.mlp.{fc1,fc2}" },
    { "l*.ff.router", "encoder.layers.*.mlp.router.layer" },
    { "l*.ff.experts.up.weight", { "encoder.layers.*.mlp.experts.mlp.w1", flat = true } },
    { "l*.ff.experts.down.weight", { "encoder.layers.*.mlp.experts.mlp.w2", flat = true, transpose = true } },
    { "l*.ff.combined.bias", "encoder.layers.*.mlp.experts.bias" },
  },
  config = heads.config({ vocab = 30528, d_model = 768, layers = 12, heads = 12, activation = "silu", longest = 2048,
    rope_scaling = false, rope_parameters = false, tied = true, head_dim = false, types = 2 }, {
    { "n_inner", "intermediate_size", to = "d_ff", default = 3072, kind = "count", null = false },
    { "activation_function", to = "published", default = false, kind = "word", words = { swiglu = { "silu", true },
      geglu = { "gelu", true }, gelu = { "gelu", false } } },
    { "layer_norm_epsilon", "layer_norm_eps", to = "eps", default = 1e-12, kind = "number" },
    { "pad_vocab_size_multiple", to = "multiple", default = 1, kind = "count" },
    { "qkv_proj_bias", to = "qkv_proj_bias", default = false, kind = "flag" },
    { "mlp_fc1_bias", to = "mlp_fc1_bias", default = false, kind = "flag" },
    { "mlp_fc2_bias", to = "mlp_fc2_bias", default = false, kind = "flag" },
    { "rotary_emb_base", "rope_theta", to = "rope_theta", default = 1000.0, kind = "number" },
    { "rotary_scaling_factor", to = "scaling_factor", default = false, kind = "number", null = false },
    { "max_trained_positions", to = "trained", default = 2048, kind = "count" },
    { "moe_every_n_layers", to = "sparse_step", default = 0, kind = "size" },
    { "num_experts", to = "experts_count", default = 8, kind = "count" },
    { "moe_top_k", to = "experts_used", default = 1, kind = "count" },
    { "moe_normalize_expert_weights", to = "normalise", default = false, kind = "flag" },
  }, words.merged(heads.gpt_names, { activation = "hidden_act" })),
  fixed = { norm = "post", positions = "rope" },
  rotary = true,
  derive = function(facts, config, _, has)
    if facts.published then
      set_published(facts, config)
      return set_experts(facts, has)
    end
    facts.bias = { qkv = false, out = false, ff = false }
    facts.gated, facts.head_bias = true, true
  end,
  heads = {
    Model = heads.model(),
    ForSequenceClassification = heads.pooled("pooler.dense"),
    ForTokenClassification = heads.token_classification,
    ForMaskedLM = masked_lm,
    ForPreTraining = masked_lm,
  },
}
