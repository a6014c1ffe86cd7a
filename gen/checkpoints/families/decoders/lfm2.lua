-- lfm2.lua: describes LFM2 (Liquid AI 2025): most layers have a gated short convolution, not an attention.
local heads = require("checkpoints.heads")
local layers = require("checkpoints.layers")
local words = require("common.words")

local lfm2 = {}

-- Returns the rule of one of the three projections that a convolution reads.
--- The names of a layer's tensors that differ from Llama's.
lfm2.layer_tensors = {
  { "l*.conv.{b,c,x}", { "layers.*.conv.in_proj", parts = 3 } },
  { "l*.conv", "layers.*.conv.conv" },
  { "l*.conv.out", "layers.*.conv.out_proj" },
  { "l*.attn.{q_norm,k_norm,out}", "layers.*.self_attn.{q_layernorm,k_layernorm,out_proj}" },
  { "l*.{norm1,norm2}", "layers.*.{operator,ffn}_norm" },
  { "l*.ff.{gate,up,down}", "layers.*.feed_forward.{w1,w3,w2}" },
  { "final_norm", "embedding_norm" },
}

--- Returns configuration keys with a family's defaults, and `others`.
function lfm2.config_of(defaults, others)
  return heads.config(words.merged({ vocab = 65536, layers = 32, heads = 32, kv_heads = 8, head_dim = false,
    longest = 128000, original = false, layer_types = false, rope_theta = 1e6, rope_scaling = false,
    rope_parameters = false }, defaults), words.append({
    { "norm_eps", to = "eps", default = 1e-5, kind = "number" },
    { "tie_embedding", "tie_word_embeddings", to = "tied", default = true, kind = "flag" },
    { "conv_bias", to = "conv_bias", default = false, kind = "flag" },
    { "conv_L_cache", to = "conv_rows", default = 3, kind = "count" },
  }, others))
end

--- Sets what differs from Llama. attends(index): whether a layer has an attention, if layer_types does not say it.
function lfm2.set_layers(facts, attends)
  facts.bias, facts.activation = { qkv = false, out = false, ff = false }, "silu"
  for i, convolves in ipairs(layers.sliding(facts, function(i) return not attends(i) end, "conv")) do
    if convolves then
      local own = layers.own(facts, i - 1)
      own.short_conv = facts.conv_rows
      if facts.conv_bias then own.bias = { qkv = true, out = true, ff = false } end
    end
  end
end

-- Returns the width of the feed-forward that the keys state.
local function width_of(facts)
  if not facts.adjusts then return facts.d_ff end
  local width = 2 * facts.d_ff // 3
  if not facts.multiplier then return width end
  local unit = facts.multiple_of
  return (math.floor(facts.multiplier * width) + unit - 1) // unit * unit
end

return words.merged(heads.llama_family {
  known = "LFM2 (350M, 700M, 1.2B, 2.6B)",
  model_types = { lfm2 = "Lfm2" },
  called = { lfm2 = "LFM2" },
  tensors = heads.llama_tensors(lfm2.layer_tensors),
  config = lfm2.config_of({ d_model = 2560 }, {
    { "block_ff_dim", "intermediate_size", to = "d_ff", default = 12288, kind = "count" },
    { "block_auto_adjust_ff_dim", to = "adjusts", default = true, kind = "flag" },
    { "block_ffn_dim_multiplier", to = "multiplier", default = 1.0, kind = "number", null = false },
    { "block_multiple_of", to = "multiple_of", default = 256, kind = "count" },
    { "full_attn_idxs", to = "attending", default = false, kind = "list" },
  }),
  fixed = heads.llama_with { qk_norm = "heads" },
  derive = function(facts)
    facts.d_ff = width_of(facts)
    local attending = facts.attending and words.set(facts.attending)
    lfm2.set_layers(facts, function(i) return not attending or attending[i] end)
  end,
  heads = { Model = heads.model(), ForCausalLM = heads.causal_lm },
}, lfm2)
