-- eurobert.lua: describes EuroBERT (Boizard et al. 2025): Llama's layers whose tokens see both sides.
local heads = require("checkpoints.heads")

local dense = { "linear", to = "d_model", activation = "gelu", tensor = "dense" }
local labels = { "linear", to = "labels", name = "logits", tensor = "classifier" }

return {
  known = "EuroBERT (210M, 610M, 2.1B)",
  model_types = { eurobert = "EuroBert" },
  called = { eurobert = "EuroBERT" },
  prefixes = { "model.", "" },
  tensors = heads.llama_tensors(),
  config = heads.llama_config({ vocab = 128256, d_model = 768, d_ff = 3072, layers = 12, heads = 12, longest = 8192,
    rms_eps = 1e-5, attention_bias = false, mlp_bias = false }, {
    { "classifier_pooling", "clf_pooling", to = "pooling", default = "late", kind = "word",
      words = { bos = "first", mean = "mean", late = "late" } },
  }),
  fixed = heads.llama_fixed,
  rotary = true,
  derive = function(facts)
    heads.set_biases(facts)
    facts.variant = facts.pooling
  end,
  heads = {
    Model = heads.model(),
    ForMaskedLM = { { "vocabulary", tied = "tied", bias = "mlp_bias", name = "logits", tensors = {
      weight = { "lm_head.weight" }, bias = { "lm_head.bias" } } } },
    ForSequenceClassification = { { "pool", over = "pooling" }, dense, labels },
    ForTokenClassification = heads.token_classification,
  },
  -- transformers takes the mean of the scores, which are the scores of the mean.
  variants = { late = { ForSequenceClassification = { dense, { "pool", over = "mean" }, labels } } },
}
