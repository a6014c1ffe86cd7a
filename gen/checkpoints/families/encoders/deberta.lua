-- deberta.lua: describes DeBERTa (He et al. 2020), the first version: queries, keys and values are one tensor by heads,
-- keys have no bias, and each distance has a row of the table.
local heads = require("checkpoints.heads")
local later = require("checkpoints.families.encoders.deberta_v2")
local words = require("common.words")

local attention = "encoder.layer.*.attention.self."

return words.merged(later, {
  known = "DeBERTa (base, large, XL) and their NLI models",
  model_types = { deberta = "Deberta" },
  called = { deberta = "DeBERTa" },
  tensors = words.append({
    { "l*.attn.{q,k,v}.weight", { attention .. "in_proj.weight", parts = 3, groups = "heads" } },
    { "l*.attn.q.bias", attention .. "q_bias" },
    { "l*.attn.v.bias", attention .. "v_bias" },
    { "l*.attn.position_{k,q}", attention .. "pos_{proj,q_proj}" },
  }, later.tensors),
  config = heads.config({ vocab = 50265, d_model = 768, layers = 12, heads = 12, d_ff = 3072, activation = "gelu",
    eps = 1e-7, tied = true, types = 0, embedding = false }, later.keys),
  derive = function(facts, ...)
    facts.buckets, facts.norms, facts.shared, facts.conv_kernel = 0, {}, false, 0
    facts.bias, facts.projections = { k = false }, "half_biased"
    later.derive(facts, ...)
  end,
})
