-- gpt_oss.lua: describes gpt-oss (OpenAI 2025): a mixture of experts in each layer, whose gates have a limit, and
-- attention with sinks, in every second layer within a window.
local experts = require("checkpoints.experts")
local heads = require("checkpoints.heads")
local layers = require("checkpoints.layers")
local words = require("common.words")

-- Returns the rules of an expert's weights. Folders in MXFP4 have the weights as [out][in], others as [in][out]. A row
-- of the gate and a row of up alternate.
local function weights(when)
  local is_stored = when == nil
  return {
    { "l*.ff.experts.{gate,up}.weight", { "layers.*.mlp.experts.gate_up_proj", parts = 2, groups = "rows",
      transpose = is_stored, when = when } },
    { "l*.ff.experts.down.weight", { "layers.*.mlp.experts.down_proj", transpose = is_stored, when = when } },
  }
end

local tensors = words.append(weights { "names.quantised", "mxfp4" }, weights(), {
  { "l*.ff.experts.{gate,up}.bias", { "layers.*.mlp.experts.gate_up_proj_bias", parts = 2, groups = "rows" } },
  { "l*.ff.experts.down.bias", "layers.*.mlp.experts.down_proj_bias" },
  { "l*.ff.router", "layers.*.mlp.router" },
  { "l*.attn.sinks", "layers.*.self_attn.sinks" },
})

-- The positions of a folder that names none.
local YARN = { rope_type = "yarn", factor = 32.0, beta_fast = 32.0, beta_slow = 1.0, truncate = false,
  original_max_position_embeddings = 4096 }

return heads.llama_family {
  known = "gpt-oss-20b, gpt-oss-120b",
  model_types = { gpt_oss = "GptOss" },
  called = { gpt_oss = "gpt-oss" },
  tensors = heads.llama_tensors(tensors),
  config = heads.llama_config({ vocab = 201088, d_model = 2880, layers = 36, heads = 64, kv_heads = 8, head_dim = 64,
    d_ff = 2880, longest = 131072, attention_bias = true, rms_eps = 1e-5, window = 128, layer_types = false },
    experts.config({ experts_count = 128, experts_used = 4, experts_width = false }, {
      { "swiglu_limit", to = "gate_limit", default = 7.0, kind = "number" },
    })),
  fixed = heads.llama_with { sinks = true },
  derive = function(facts)
    facts.bias = { qkv = facts.attention_bias, out = facts.attention_bias, ff = true }
    facts.activation, facts.rope_theta = "quick_gelu", facts.rope_theta or 150000
    if not (facts.rope_scaling or facts.rope_parameters) then facts.rope_parameters = YARN end
    experts.set(facts, { bias = true })
    layers.set_windows(facts, layers.sliding(facts, function(i) return i % 2 == 0 end))
  end,
  heads = heads.decoder,
}
