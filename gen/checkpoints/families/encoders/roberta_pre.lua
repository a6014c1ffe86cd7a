-- roberta_pre.lua: describes XLM-RoBERTa-XL (Goyal et al. 2021) and RoBERTa-PreLayerNorm (Ott et al. 2019): RoBERTa
-- with norms before the parts and after the layers. Only the second has a norm of the embeddings.
local heads = require("checkpoints.heads")
local roberta = require("checkpoints.families.encoders.roberta")
local words = require("common.words")

local layer = "encoder.layer.*."

return words.merged(roberta, {
  known = "XLM-RoBERTa-XL and XXL; RoBERTa-PreLayerNorm: efficient_mlm",
  model_types = { ["xlm-roberta-xl"] = "XLMRobertaXL", ["roberta-prelayernorm"] = "RobertaPreLayerNorm" },
  called = { ["xlm-roberta-xl"] = "XLM-RoBERTa-XL", ["roberta-prelayernorm"] = "RoBERTa-PreLayerNorm" },
  prefixes = { "roberta.", "roberta_prelayernorm.", "" },
  tensors = words.append({
    { "l*.norm1", { layer .. "attention.self_attn_layer_norm", layer .. "attention.LayerNorm" } },
    { "l*.norm2", { layer .. "LayerNorm", layer .. "intermediate.LayerNorm" } },
    { "final_norm", { "encoder.LayerNorm", "LayerNorm" } },
  }, heads.bert_tensors()),
  defaults = { ["xlm-roberta-xl"] = { vocab = 250880, d_model = 2560, layers = 36, heads = 32, d_ff = 10240,
    max_position = 514, types = 1, eps = 1e-5 } },
  fixed = { norm = "pre", final_norm = true },
  derive = function(facts) facts.input_norm = facts.model_type == "roberta-prelayernorm" end,
})
