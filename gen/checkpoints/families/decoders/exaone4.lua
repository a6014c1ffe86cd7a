-- exaone4.lua: describes EXAONE 4 (LG AI Research 2025): Llama with norms after the parts in place of before them and
-- norms of each head's queries and keys. If layers have a window, those without one have no positions.
local faults = require("common.faults")
local heads = require("checkpoints.heads")
local json = require("common.json")
local layers = require("checkpoints.layers")
local olmo2 = require("checkpoints.families.decoders.olmo2")

-- Returns the number of layers from one without a window to the next; a word (LLLG) goes with layer_types.
local function pattern_of(facts, config)
  local pattern = json.given(config, "sliding_window_pattern", 4)
  if facts.window and not facts.layer_types and not (math.type(pattern) == "integer" and pattern >= 1) then
    faults.raise("usage", "config.json: sliding_window_pattern: %s, but a number or layer_types is expected",
      json.shown(pattern))
  end
  return pattern
end

return heads.llama_family {
  known = "EXAONE 4.0",
  model_types = { exaone4 = "Exaone4" },
  called = { exaone4 = "EXAONE 4" },
  tensors = olmo2.tensors,
  config = heads.llama_config { vocab = 102400, d_ff = 16384, longest = 2048, kv_heads = 32, rms_eps = 1e-5,
    window = 4096, layer_types = false },
  fixed = heads.llama_with { norm = "res_post", qk_norm = "heads" },
  derive = function(facts, config)
    local pattern, has_windows = pattern_of(facts, config), facts.window
    heads.set_biases(facts)
    local sliding = layers.sliding(facts, function(i) return facts.window and (i + 1) % pattern ~= 0 end)
    if has_windows then layers.set_still(facts, sliding) end
    layers.set_windows(facts, sliding)
  end,
}
