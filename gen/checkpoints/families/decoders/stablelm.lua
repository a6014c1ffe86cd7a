-- stablelm.lua: describes StableLM (Bellagente et al. 2024): Llama with layer norms, rotary positions for a part of
-- each head, and in some models parallel parts with one norm and norms of each head's queries and keys.
local heads = require("checkpoints.heads")

-- Returns the rule of a weight whose heads are tensors of their own.
local function of_heads(path, count)
  local rule = { join = "rows" }
  for i = 1, count do
    local name = ("layers.*.self_attn.%s.norms.%d.weight"):format(path, i - 1)
    rule[i] = { "model." .. name, name }
  end
  return rule
end

return heads.llama_family {
  known = "StableLM 3B, StableLM 2 (1.6B, 12B), StableLM Zephyr",
  model_types = { stablelm = "StableLm" },
  called = { stablelm = "StableLM" },
  config = heads.llama_config({ vocab = 50304, d_model = 2560, d_ff = 6912, longest = 4096, eps = 1e-5,
    kv_heads = 32, partial = 0.25 }, {
    { "use_qkv_bias", to = "qkv_bias", default = false, kind = "flag" },
    { "qk_layernorm", to = "qk_layernorm", default = false, kind = "flag" },
    { "use_parallel_residual", to = "is_parallel", default = false, kind = "flag" },
  }),
  fixed = { norm = "pre", final_norm = true, positions = "rope", gated = true },
  derive = function(facts, _, names, has)
    facts.bias = { qkv = facts.qkv_bias, out = false, ff = false }
    facts.parallel = facts.is_parallel and "one_norm" or nil
    if not facts.qk_layernorm then return end
    facts.qk_norm = "each"
    if has("blk.0.attn_q_norm.weight") then return end -- a GGUF file has them in one tensor
    names["l*.attn.q_norm.weight"] = of_heads("q_layernorm", facts.heads)
    names["l*.attn.k_norm.weight"] = of_heads("k_layernorm", facts.kv_heads)
  end,
  heads = heads.decoder,
}
