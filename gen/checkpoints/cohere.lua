-- cohere.lua: holds what the families of Cohere's models share.
local heads = require("checkpoints.heads")
local words = require("common.words")

local cohere = {}

--- Returns a family's configuration keys with its defaults, and `others` (heads.config).
function cohere.config(defaults, others)
  return heads.llama_config(words.merged({ vocab = 256000, d_model = 8192, d_ff = 22528, layers = 40, heads = 64,
    longest = 8192, eps = 1e-5, tied = true, attention_bias = false }, defaults), words.append({
    { "logit_scale", to = "logit_scale", default = 0.0625, kind = "number" },
  }, others))
end

--- Returns a family: what `own` has, and the fields that are the same.
function cohere.family(own)
  return heads.llama_family(words.merged({
    tensors = heads.llama_tensors {
      { "l*.attn.{q,k}_norm", "layers.*.self_attn.{q,k}_norm" },
    },
    fixed = { norm = "pre", final_norm = true, positions = "rope", gated = true, parallel = "one_norm",
      rope_style = "pairs" },
    pad = 0, heads = { Model = heads.model(), ForCausalLM = heads.causal_lm } }, own))
end

return cohere
