-- gte.lua: describes GTE v1.5 and gte-multilingual (Zhang et al. 2024): BERT with rotary positions and gated
-- feed-forwards. Published folders have the model_type "new" and own code; folders of transformers 5 have "gte".
local faults = require("common.faults")
local heads = require("checkpoints.heads")
local rotary = require("checkpoints.rotary")

-- Returns rope_theta and rope_scaling of a published folder. Its only scaling is called ntk: a base that is greater by
-- the factor, and frequencies that are less by a root of it.
local function published_angles(facts)
  local given = facts.rope_scaling or facts.rope_parameters or {}
  local kind, factor = given.type or given.rope_type or "default", given.factor
  local base = type(given.rope_theta) == "number" and given.rope_theta or facts.rope_theta
  if kind == "default" then return base, nil end
  if kind ~= "ntk" or given.mixed_b ~= nil then
    faults.raise("usage", "config.json: rope_scaling: type %s%s is not supported; supported is ntk without mixed_b",
      type(kind) == "string" and faults.quote(kind) or tostring(kind), given.mixed_b and " with mixed_b" or "")
  end
  if type(factor) ~= "number" or factor < 1 then
    faults.raise("format", "config.json: rope_scaling.factor: a number of at least 1 is expected")
  end
  return base * factor, { type = "linear", factor = factor ^ (2 * facts.heads / facts.d_model) }
end

-- Names queries, keys and values that are tensors of their own.
local function name_unpacked(names)
  for part, name in pairs { q = "q_proj", k = "k_proj", v = "v_proj" } do
    local own = "encoder.layer.*.attention." .. name
    names["l*.attn." .. part] = { "new." .. own, own }
  end
end

return {
  known = "GTE v1.5 (base, large), gte-multilingual, its reranker, snowflake-arctic-embed-m-v2.0",
  model_types = { new = "New", gte = "Gte" },
  called = { new = "GTE v1.5" },
  prefixes = { "new.", "gte.", "" },
  sums_types = true,
  tensors = heads.typed_tokens {
    { "input.norm", "embeddings.LayerNorm" },
    { "l*.attn.{q,k,v}", { "encoder.layer.*.attention.qkv_proj", parts = 3 } },
    { "l*.attn.out", "encoder.layer.*.attention.o_proj" },
    { "l*.{norm1,norm2}", "encoder.layer.*.{attn,mlp}_ln" },
    { "l*.ff.{up,gate}", { "encoder.layer.*.mlp.up_gate_proj", parts = 2 } },
    { "l*.ff.down", "encoder.layer.*.mlp.down_proj" },
  },
    config = heads.config({ vocab = 250048, d_model = 768, layers = 12, heads = 12, d_ff = 3072, activation = "gelu",
    longest = 8192, eps = 1e-12, rope_theta = 160000.0, tied = true, head_dim = false, types = 1 }, {
    { "rope_scaling", to = "rope_scaling", default = false, kind = "object", null = false },
    { "rope_parameters", to = "rope_parameters", default = false, kind = "object", null = false },
    { "pack_qkv", to = "is_packed", default = true, kind = "flag" },
  }),
  defaults = { new = { vocab = 30528, longest = 2048, rope_theta = 10000.0 } },
  fixed = { norm = "post", positions = "rope", gated = true, bias = { up = false } },
  derive = function(facts, _, names)
    if facts.model_type == "new" then
      facts.head_activation = facts.activation
      facts.rope_base, facts.rope_scale = published_angles(facts)
    else
      facts.head_activation = "gelu" -- in transformers, whatever hidden_act
      facts.rope_base, facts.rope_scale = rotary.of(facts)
    end
    if not facts.is_packed then name_unpacked(names) end
  end,
  heads = heads.of_encoder {
    ForMaskedLM = heads.masked_lm { transform = "lm_head.dense", activation = "head_activation", norm = "lm_head.norm",
      vocabulary = "lm_head.decoder", bias = "lm_head.decoder.bias" },
    ForSequenceClassification = heads.pooled("pooler.dense"),
  },
}
