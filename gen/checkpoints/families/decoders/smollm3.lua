-- smollm3.lua: describes SmolLM 3 (Bakouch et al. 2025): Llama in which some layers have no positions.
local faults = require("common.faults")
local heads = require("checkpoints.heads")
local layers = require("checkpoints.layers")

-- Returns a list of booleans: true for layers with rotary positions.
local function rotates(facts)
  local given, list = facts.no_rope_layers, {}
  for i = 1, facts.layers do
    if given and given[i] ~= 0 and given[i] ~= 1 then
      faults.raise("format", "config.json: no_rope_layers: 0 or 1 is expected for each of %d layers", facts.layers)
    end
    if given then list[i] = given[i] == 1 else list[i] = i % facts.interval ~= 0 end
  end
  return list
end

return heads.llama_family {
  known = "SmolLM 3",
  model_types = { smollm3 = "SmolLM3" },
  called = { smollm3 = "SmolLM 3" },
  config = heads.llama_config({ vocab = 128256, d_model = 2048, d_ff = 11008, layers = 36, heads = 16, kv_heads = 4,
    longest = 32768, rope_theta = 2e6, tied = true, attention_bias = false, mlp_bias = false, use_window = false,
    window = false, layer_types = false }, {
    { "no_rope_layers", to = "no_rope_layers", default = false, kind = "list" },
    { "no_rope_layer_interval", to = "interval", default = 4, kind = "count" },
  }),
  pad = 128004,
  derive = function(facts)
    local list = rotates(facts)
    heads.set_biases(facts)
    layers.set_still(facts, list)
    layers.set_used_windows(facts, layers.sliding(facts, function(i) return facts.use_window and not list[i + 1] end))
  end,
}
