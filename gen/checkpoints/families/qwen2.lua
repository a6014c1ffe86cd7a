-- qwen2.lua: describes Qwen 2 and 2.5 (Yang et al. 2024): Llama with biases of query, key and value.
local faults = require("common.faults")
local heads = require("checkpoints.heads")

return {
  model_types = { qwen2 = "Qwen2" },
  called = { qwen2 = "Qwen2" },
  prefixes = heads.llama_prefixes,
  tensors = heads.llama_tensors(),
  config = heads.llama_config({ vocab = 151936, d_ff = 22016, positions = 32768, kv_heads = 32 }, {
    { "use_sliding_window", to = "use_window", default = false, kind = "flag" },
    { "sliding_window", to = "window", default = 4096, kind = "count", null = false },
    { "max_window_layers", to = "window_layers", default = 28, kind = "size" },
    { "layer_types", to = "layer_types", default = false, kind = "list" },
  }),
  fixed = heads.llama_fixed,
  rotary = true,
  causal = true,
  derive = function(facts)
    facts.bias = { qkv = true, out = false, ff = false }
    local full, sliding = 0, 0
    for i = 0, facts.layers - 1 do
      local kind = facts.layer_types and facts.layer_types[i + 1]
        or (facts.use_window and facts.window and i >= facts.window_layers and "sliding_attention" or "full_attention")
      if kind == "sliding_attention" then sliding = sliding + 1 else full = full + 1 end
    end
    if sliding > 0 and facts.window and full > 0 then
      faults.raise("usage", "config.json: layer_types, max_window_layers: a window in only some layers is "
        .. "not supported")
    end
    if sliding > 0 and not facts.use_window then
      faults.raise("usage", "config.json: layer_types: sliding_attention without use_sliding_window")
    end
    if sliding == 0 then facts.window = false end
  end,
  heads = heads.llama,
}
