-- gpt_neo.lua: describes GPT-Neo (Black et al. 2021): GPT-2 with scores without a scale, and a window in some layers.
local faults = require("common.faults")
local heads = require("checkpoints.heads")
local layers = require("checkpoints.layers")

-- Returns a list of "global" and "local", one for each layer: attention_layers, or as attention_types has them:
-- { { types, times }, .. }.
local function types_of(facts)
  local list = {}
  local of_layers = facts.attention_layers and { { facts.attention_layers, 1 } }
  for _, item in ipairs(of_layers or facts.attention_types or { { { "global", "local" }, facts.layers // 2 } }) do
    local types, times = table.unpack(type(item) == "table" and item or {})
    if type(types) ~= "table" or math.type(times) ~= "integer" then list = {} break end
    for _ = 1, math.min(times, facts.layers + 1) do
      for _, word in ipairs(types) do list[#list + 1] = word end
    end
  end
  for i = 1, math.max(#list, facts.layers) do
    if list[i] ~= "global" and list[i] ~= "local" or i > facts.layers then
      faults.raise("format", "config.json: attention_types: global or local is expected for each of %d layers",
        facts.layers)
    end
  end
  return list
end

return {
  known = "GPT-Neo, TinyStories",
  model_types = { gpt_neo = "GPTNeo" },
  called = { gpt_neo = "GPT-Neo" },
  tensors = {
    { "input.{tokens,positions}", "{wte,wpe}" },
    { "l*.attn.{q,k,v,out}", "h.*.attn.attention.{q,k,v,out}_proj" },
    { "l*.{norm1,norm2}", "h.*.ln_{1,2}" },
    { "l*.ff.{up,down}", "h.*.mlp.c_{fc,proj}" },
    { "final_norm", "ln_f" },
  },
  config = heads.config({ vocab = 50257, d_model = 2048, layers = 24, heads = 16, d_ff = false, activation = "gelu_new",
    max_position = 2048, eps = 1e-5, tied = true }, {
    { "window_size", to = "window", default = 256, kind = "count" },
    { "attention_layers", to = "attention_layers", default = false, kind = "list" },
    { "attention_types", to = "attention_types", default = false, kind = "list" },
  }, { layers = "num_layers num_hidden_layers", heads = "num_heads num_attention_heads",
    activation = "activation_function", eps = "layer_norm_epsilon" }),
  fixed = { norm = "pre", final_norm = true, bias = { qkv = false }, scale = false },
  derive = function(facts)
    local list = types_of(facts)
    if not facts.causal then
      faults.raise("usage", "config.json: is_causal: false is not supported, as transformers is causal all the same")
    end
    facts.longest = facts.max_position
    layers.set_windows(facts, layers.sliding(facts, function(i) return list[i + 1] == "local" end))
  end,
}
