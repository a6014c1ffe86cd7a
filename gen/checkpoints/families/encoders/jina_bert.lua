-- jina_bert.lua: describes JinaBERT (Günther et al. 2023): BERT with ALiBi's distances to both sides and gated
-- feed-forwards. Published folders have the model_type "bert" and code of their own. Its second version has a norm of
-- all queries and all keys.
local heads = require("checkpoints.heads")

local layer = "encoder.layer.*."

-- Returns the rule of a half of the tensor with the gate and the other factor, which the versions order differently.
local function half(version, number)
  if version == 1 then return { layer .. "mlp.gated_layers.weight", part = number, parts = 2 } end
  return { layer .. "mlp.up_gated_layer.weight", part = number, parts = 2, when = { "qk_norm", "all" } }
end

local FEED_FORWARDS = { geglu = { "gelu", true }, reglu = { "relu", true }, original = { nil, false } }

return {
  known = "jina-embeddings-v2, English, other languages and code (also of `model_type` `bert` with `alibi`)",
  model_types = { jina_bert = "JinaBert" },
  called = { jina_bert = "JinaBERT" },
  prefixes = { "bert.", "" },
  sums_types = true,
  tensors = heads.typed_tokens {
    { "input.norm", "embeddings.LayerNorm" },
    { "l*.attn.{q,k,v,q_norm,k_norm}", layer .. "attention.self.{query,key,value,layer_norm_q,layer_norm_k}" },
    { "l*.attn.out", layer .. "attention.output.dense" },
    { "l*.norm1", { layer .. "attention.output.LayerNorm", layer .. "layer_norm_1" } },
    { "l*.ff.up", { layer .. "intermediate.dense", layer .. "mlp.up_layer", when = { "gated", false } } },
    { "l*.ff.gate.weight", half(2, 2) },
    { "l*.ff.up.weight", half(2, 1) },
    { "l*.ff.gate.weight", half(1, 1) },
    { "l*.ff.up.weight", half(1, 2) },
    { "l*.ff.down", { layer .. "mlp.wo", layer .. "mlp.down_layer", layer .. "output.dense" } },
    { "l*.norm2", { layer .. "mlp.layernorm", layer .. "layer_norm_2", layer .. "output.LayerNorm" } },
  },
  config = heads.config({ vocab = 30522, types = 2, d_model = 768, layers = 12, heads = 12, d_ff = 3072,
    activation = "gelu", longest = 512, eps = 1e-12, tied = true }, {
    { "feed_forward_type", to = "ff", default = false, kind = "word", words = FEED_FORWARDS },
  }),
  fixed = { norm = "post", positions = "alibi" },
  derive = function(facts, _, _, has)
    local is_second = has("encoder.layer.0.attention.self.layer_norm_q.weight")
    local usual = is_second and FEED_FORWARDS.geglu or FEED_FORWARDS.original
    local activation, is_gated = table.unpack(facts.ff or usual, 1, 2)
    facts.gated, facts.bias = is_gated, (is_gated or is_second) and { up = false } or nil
    facts.activation = activation or facts.activation
    facts.qk_norm = is_second and "all" or nil
  end,
}
