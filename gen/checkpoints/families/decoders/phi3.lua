-- phi3.lua: describes Phi 3 and 4 (Abdin et al. 2024): Llama with one tensor for query, key, value, one for gate, up.
local faults = require("common.faults")
local heads = require("checkpoints.heads")
local layers = require("checkpoints.layers")
local words = require("common.words")

-- Checks the type of scaled positions, for which transformers takes su and yarn as longrope.
local function check_rope(facts)
  local dictionary = facts.rope_scaling and next(facts.rope_scaling) and facts.rope_scaling
    or facts.rope_parameters or {}
  local word = dictionary.rope_type or dictionary.type or "default"
  if word == "su" or word == "yarn" then
    facts.rope_scaling = words.merged(dictionary, { rope_type = "longrope" })
    facts.rope_scaling.type = nil
  elseif word ~= "default" and word ~= "longrope" then
    faults.raise("usage", "config.json: rope: type %s is not supported; supported: default, longrope",
      type(word) == "string" and faults.quote(word) or tostring(word))
  end
end

return heads.llama_family {
  known = "Phi 3, Phi 3.5 mini, Phi 4",
  model_types = { phi3 = "Phi3" },
  called = { phi3 = "Phi 3 and 4" },
  tensors = heads.llama_tensors {
    { "l*.attn.{q,k,v}", { "layers.*.self_attn.qkv_proj", parts = { "heads", "kv_heads", "kv_heads" } } },
    { "l*.ff.{gate,up}", { "layers.*.mlp.gate_up_proj", parts = 2 } },
  },
  config = heads.llama_config { vocab = 32064, d_model = 3072, d_ff = 8192, longest = 4096, original = 4096,
    rms_eps = 1e-5, partial = 1, window = false },
  pad = 32000,
  derive = function(facts)
    heads.set_biases(facts)
    check_rope(facts)
    layers.set_windows(facts, layers.sliding(facts, function() return facts.window ~= false end))
  end,
  heads = heads.decoder,
}
