-- deberta.lua: describes DeBERTa (He et al. 2020), the first version: queries, keys and values are one tensor by heads,
-- keys have no bias, and each distance has a row of the table.
local heads = require("checkpoints.heads")
local later = require("checkpoints.families.encoders.deberta_v2")
local words = require("common.words")

local attention = "encoder.layer.*.attention.self."

local function part(number) return { attention .. "in_proj.weight", part = number, parts = 3, groups = "heads" } end

return words.merged(later, {
  known = "DeBERTa (base, large, XL) and their NLI models",
  model_types = { deberta = "Deberta" },
  called = { deberta = "DeBERTa" },
  tensors = words.append({
    { "l*.attn.q.weight", part(1) },
    { "l*.attn.k.weight", part(2) },
    { "l*.attn.v.weight", part(3) },
    { "l*.attn.q.bias", attention .. "q_bias" },
    { "l*.attn.v.bias", attention .. "v_bias" },
    { "l*.attn.position_k", attention .. "pos_proj" },
    { "l*.attn.position_q", attention .. "pos_q_proj" },
  }, later.tensors),
  config = heads.config({ vocab = 50265, d_model = 768, layers = 12, heads = 12, d_ff = 3072, activation = "gelu",
    eps = 1e-7, tied = true, types = 0, embedding = false }, later.keys),
  derive = function(facts, ...)
    facts.buckets, facts.norms, facts.shared, facts.conv_kernel = 0, {}, false, 0
    facts.bias, facts.projections = { k = false }, "half_biased"
    later.derive(facts, ...)
  end,
})
