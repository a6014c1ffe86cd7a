-- modernbert.lua: describes ModernBERT (Warner et al. 2024): rotary positions of two bases, windows in most layers,
-- gated feed-forwards, few biases, a norm of the embeddings and none before the first attention.
local heads = require("checkpoints.heads")
local layers = require("checkpoints.layers")

local GLOBAL, LOCAL = 160000.0, 10000.0

-- A head's dense layer and norm, which all of the task heads begin with.
local dense = { "linear", to = "d_model", activation = "classifier_activation", bias = "classifier_bias",
  tensor = "head.dense" }
local norm = { "norm", tensor = "head.norm" }
local pool = { "pool", over = "pooling" }

return {
  known = "ModernBERT, gte-modernbert, modernbert-embed, and their rerankers",
  model_types = { modernbert = "ModernBert" },
  called = { modernbert = "ModernBERT" },
  prefixes = { "model.", "" },
  tensors = {
    { "input.{tokens,norm}", "embeddings.{tok_embeddings,norm}" },
    { "l*.attn.{q,k,v}", { "layers.*.attn.Wqkv", parts = 3 } },
    { "l*.attn.out", "layers.*.attn.Wo" },
    { "l*.{norm1,norm2}", "layers.*.{attn,mlp}_norm" },
    { "l*.ff.{gate,up}", { "layers.*.mlp.Wi", parts = 2 } },
    { "l*.ff.down", "layers.*.mlp.Wo" },
    { "final_norm", "final_norm" },
  },
    config = heads.config({ vocab = 50368, d_model = 768, layers = 22, heads = 12, d_ff = 1152, longest = 8192,
    rope_scaling = false, rope_parameters = false, tied = true, attention_bias = false, mlp_bias = false, layer_types
    = false }, {
    { "hidden_activation", to = "activation", default = "gelu", kind = "activation" },
    { "norm_eps", to = "eps", default = 1e-5, kind = "number" },
    { "norm_bias", to = "norm_bias", default = false, kind = "flag" },
    { "local_attention", to = "local_attention", default = 128, kind = "count" },
    { "sliding_window", to = "half", default = false, kind = "count" }, -- transformers sets local_attention to twice it
    { "global_attn_every_n_layers", to = "interval", default = 3, kind = "count" },
    { "global_rope_theta", to = "global_theta", default = GLOBAL, kind = "number" },
    { "local_rope_theta", to = "local_theta", default = LOCAL, kind = "number" },
    { "classifier_activation", to = "classifier_activation", default = "gelu", kind = "activation" },
    { "classifier_bias", to = "classifier_bias", default = false, kind = "flag" },
    { "classifier_pooling", to = "pooling", default = "cls", kind = "word",
      words = { cls = "first", mean = "mean" } },
    { "decoder_bias", to = "decoder_bias", default = true, kind = "flag" },
  }),
  fixed = { norm = "pre", input_norm = true, final_norm = true, gated = true, positions = "rope" },
  derive = function(facts)
    facts.bias = { qkv = facts.attention_bias, out = facts.attention_bias, ff = facts.mlp_bias,
      norm = facts.norm_bias }
    facts.window = (facts.half or facts.local_attention // 2) + 1
    local sliding = layers.sliding(facts, function(i) return i % facts.interval ~= 0 end)
    layers.set_angles(facts, sliding, {
      full_attention = { rope_theta = facts.global_theta, rope_scaling = facts.rope_scaling },
      sliding_attention = { rope_theta = facts.local_theta, rope_scaling = facts.rope_scaling } })
    layers.set_windows(facts, sliding)
    layers.own(facts, 0).norm = "pre_ff"
  end,
  heads = {
    Model = heads.model(),
    ForMaskedLM = { dense, norm, { "vocabulary", tied = "tied", bias = "decoder_bias", name = "logits", tensors = {
      weight = { "decoder.weight" }, bias = { "decoder.bias" } } } },
    ForSequenceClassification = { pool, dense, norm,
      { "linear", to = "labels", name = "logits", tensor = "classifier" } },
    ForTokenClassification = { dense, norm, { "linear", to = "labels", name = "logits", tensor = "classifier" } },
    ForQuestionAnswering = { dense, norm,
      { "linear", to = 1, name = "start_logits", squeeze = true, tensor = "classifier", part = 1, parts = 2 },
      { "linear", to = 1, name = "end_logits", of = 2, squeeze = true, tensor = "classifier", part = 2, parts = 2 } },
  },
}
