-- t5.lua: describes the encoder of T5 (Raffel et al. 2020): RMS norms, distances in buckets, scores without a scale.
-- Each layer of umT5 has a table of distances of its own.
local faults = require("common.faults")
local heads = require("checkpoints.heads")

local multilingual = { vocab = 250112, d_ff = 1024, layers = 8, heads = 6, ff_word = "gated-gelu" }
local attention, ff = "encoder.block.*.layer.0.", "encoder.block.*.layer.1."

-- Returns the activation of a feed_forward_proj, and true if it has a gate.
local function feed_forward(word)
  local gated, name = word:match("^(gated%-)(.+)$")
  name = name or word
  if gated and name == "gelu" then name = "gelu_new" end
  return name, gated ~= nil
end

return {
  known = "T5, Flan-T5, mT5 and umT5: the encoder",
  model_types = { t5 = "T5", ["mt5:encoder"] = "MT5", ["umt5:encoder"] = "UMT5" },
  called = { t5 = "T5 (its encoder)" },
  other = function(config)
    local classes = config.architectures
    return type(classes) == "table" and classes[1] == "T5ForConditionalGeneration" and "t5:writer" or nil
  end,
  prefixes = { "" },
  tensors = {
    { "input.tokens.weight", { "encoder.embed_tokens.weight", "shared.weight" } },
    { "positions.bias.weight", "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight" },
    { "l*.attn.positions.bias.weight", attention .. "SelfAttention.relative_attention_bias.weight" },
    { "l*.attn.{q,k,v,out}", attention .. "SelfAttention.{q,k,v,o}" },
    { "l*.norm1", attention .. "layer_norm" },
    { "l*.ff.gate", ff .. "DenseReluDense.wi_0" },
    { "l*.ff.up.weight", { ff .. "DenseReluDense.wi_1.weight", when = { "gated", true } } },
    { "l*.ff.{up,down}", ff .. "DenseReluDense.{wi,wo}" },
    { "l*.norm2", ff .. "layer_norm" },
    { "final_norm", "encoder.final_layer_norm" },
  },
  config = heads.config({ vocab = 32128, d_model = 512, layers = 6, heads = 8, d_ff = 2048, longest = 512, eps = 1e-6,
    head_dim = 64 }, {
    { "relative_attention_num_buckets", to = "t5_buckets", default = 32, kind = "count" },
    { "relative_attention_max_distance", to = "t5_distance", default = 128, kind = "count" },
    { "feed_forward_proj", to = "ff_word", default = "relu", kind = "text" },
    { "dense_act_fn", to = "own_activation", default = false, kind = "text" },
  }, { d_model = "d_model hidden_size", head_dim = "d_kv head_dim", d_ff = "d_ff",
    layers = "num_layers num_hidden_layers", heads = "num_heads num_attention_heads", longest = "n_positions",
    eps = "layer_norm_epsilon" }),
  defaults = { ["mt5:encoder"] = multilingual, ["umt5:encoder"] = multilingual },
  fixed = { norm = "pre", norm_kind = "rms", final_norm = true, positions = "t5", scale = false,
    bias = { qkv = false, out = false, ff = false } },
  derive = function(facts)
    local word
    word, facts.gated = feed_forward(facts.ff_word)
    facts.activation = heads.activations[facts.own_activation or word]
    if not facts.activation then
      faults.raise("usage", "config.json: %s: %s is not supported", facts.own_activation and "dense_act_fn"
        or "feed_forward_proj", faults.quote(facts.own_activation or facts.ff_word))
    end
    facts.t5_by_layer = facts.model_type:find("^umt5") and true or nil
  end,
  heads = { EncoderModel = heads.model(), Model = heads.model() },
  notes = { Model = "only the encoder is built: T5ForConditionalGeneration has a decoder that writes" },
}
