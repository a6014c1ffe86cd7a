-- gptj.lua: describes GPT-J (Wang and Komatsuzaki 2021): parallel parts with one norm, and neighbouring dimensions of a
-- part of each head rotated.
local faults = require("common.faults")
local heads = require("checkpoints.heads")

return {
  known = "GPT-J",
  model_types = { gptj = "GPTJ" },
  called = { gptj = "GPT-J" },
  tensors = {
    { "input.tokens", "wte" },
    { "l*.attn.{q,k,v,out}", "h.*.attn.{q,k,v,out}_proj" },
    { "l*.norm1", "h.*.ln_1" },
    { "l*.ff.{up,down}", "h.*.mlp.fc_{in,out}" },
    { "final_norm", "ln_f" },
  },
  config = heads.config({ vocab = 50400, longest = 2048, d_model = 4096, layers = 28, heads = 16, d_ff = false,
    activation = "gelu_new", eps = 1e-5, tied = false }, {
    { "rotary_dim", to = "rotary_dim", default = 64, kind = "count", null = false },
  }, heads.gpt_names),
  fixed = { norm = "pre", final_norm = true, parallel = "one_norm", positions = "rope", rope_style = "pairs",
    bias = { qkv = false, out = false } },
  rotary = true,
  derive = function(facts)
    if not facts.rotary_dim then faults.raise("usage", "config.json: rotary_dim: null is not supported") end
    facts.partial = facts.rotary_dim / (facts.d_model // facts.heads)
  end,
  heads = {
    Model = heads.model(),
    ForCausalLM = heads.causal_lm_with_bias,
    ForSequenceClassification = heads.last_token,
    ForQuestionAnswering = heads.question_answering,
  },
}
