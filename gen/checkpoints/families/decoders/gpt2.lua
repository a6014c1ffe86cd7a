-- gpt2.lua: describes GPT-2 (Radford et al. 2019). Its linear layers are stored [in][out].
local heads = require("checkpoints.heads")

local function transposed(name, parts) return { name, parts = parts, transpose = true } end

return {
  known = "GPT-2, DistilGPT2",
  model_types = { gpt2 = "GPT2" },
  called = { gpt2 = "GPT-2" },
  tensors = {
    { "input.{tokens,positions}", "{wte,wpe}" },
    { "l*.attn.{q,k,v}", transposed("h.*.attn.c_attn", 3) },
    { "l*.attn.out", transposed("h.*.attn.c_proj") },
    { "l*.{norm1,norm2}", "h.*.ln_{1,2}" },
    { "l*.ff.{up,down}", transposed("h.*.mlp.c_{fc,proj}") },
    { "final_norm", "ln_f" },
  },
  config = heads.config({ vocab = 50257, max_position = 1024, d_model = 768, layers = 12, heads = 12, d_ff = false,
    activation = "gelu_new", eps = 1e-5, tied = true }, {
    { "scale_attn_by_inverse_layer_idx", to = "inverse_layers", default = false, kind = "flag" },
  }, heads.gpt_names),
  fixed = { norm = "pre", final_norm = true },
  --- Divides the scores of layer i by i + 1: its queries get that factor.
  derive = function(facts, _, names)
    for i = 1, facts.inverse_layers and facts.layers - 1 or 0 do
      for parameter, transpose in pairs { weight = true, bias = false } do
        names[("l%d.attn.q.%s"):format(i, parameter)] = {
          ("transformer.h.%d.attn.c_attn.%s"):format(i, parameter), ("h.%d.attn.c_attn.%s"):format(i, parameter),
          part = 1, parts = 3, transpose = transpose or nil, factor = 1 / (i + 1) }
      end
    end
  end,
  heads = {
    Model = heads.model(),
    LMHeadModel = heads.causal_lm,
    ForSequenceClassification = heads.last_token,
    ForTokenClassification = heads.token_classification,
    ForQuestionAnswering = heads.question_answering,
  },
}
