-- opt.lua: describes OPT (Zhang et al. 2022): positions from the third row of their table on. OPT-350M has norms after
-- the sums, and a table of tokens that is narrower than the layers.
local heads = require("checkpoints.heads")
local words = require("common.words")

local narrow = { "linear", to = "embedding", bias = false, tensor = "decoder.project_out", within = true }

-- Returns stages with the layer to the table's width before the last one.
local function narrowed(stages)
  local list = { writes = stages.writes, table.unpack(stages) }
  table.insert(list, #list, narrow)
  return list
end

-- Returns the stages of answers to questions, after the layer to the table's width.
local function narrow_answers()
  local first, second = table.unpack(heads.question_answering)
  return { narrow, first, words.merged(second, { of = 1 }) }
end

local hidden = { narrow[1], name = "last_hidden_state", to = narrow.to, bias = false, tensor = narrow.tensor,
  within = true }

return {
  known = "OPT (also 350M, whose norms are after the sums)",
  model_types = { opt = "OPT" },
  prefixes = { "model.", "" },
  tensors = {
    { "input.{tokens,positions,projection}", "decoder.{embed_tokens,embed_positions,project_in}" },
    { "l*.attn.{q,k,v,out}", "decoder.layers.*.self_attn.{q,k,v,out}_proj" },
    { "l*.{norm1,norm2}", "decoder.layers.*.{self_attn,final}_layer_norm" },
    { "l*.ff.{up,down}", "decoder.layers.*.{fc1,fc2}" },
    { "final_norm", "decoder.final_layer_norm" },
  },
  config = heads.config({ vocab = 50272, d_model = 768, layers = 12, heads = 12, longest = 2048, tied = true }, {
    { "ffn_dim", to = "d_ff", default = 3072, kind = "count" },
    { "activation_function", to = "activation", default = "relu", kind = "activation" },
    { "word_embed_proj_dim", to = "embedding", default = false, kind = "count" },
    { "do_layer_norm_before", to = "is_before", default = true, kind = "flag" },
    { "_remove_final_layer_norm", to = "has_no_final_norm", default = false, kind = "flag" },
    { "enable_bias", to = "enable_bias", default = true, kind = "flag" },
  }),
  fixed = { eps = 1e-5, input_norm = false, positions = "learned", first_position = 2 },
  pad = 1,
  derive = function(facts)
    local has = facts.enable_bias
    facts.bias = { qkv = has, out = has, ff = has }
    facts.norm, facts.final_norm = facts.is_before and "pre" or "post", nil
    if facts.is_before and not facts.has_no_final_norm then facts.final_norm = true end
    facts.max_position, facts.projected = facts.longest + 2, "before_positions"
    if facts.embedding and facts.embedding ~= facts.d_model then facts.variant = "narrow" else facts.projected = nil end
  end,
  heads = {
    Model = heads.model(),
    ForCausalLM = heads.causal_lm,
    ForSequenceClassification = heads.last_token,
    ForQuestionAnswering = heads.question_answering,
  },
  variants = { narrow = {
    Model = { hidden },
    ForCausalLM = narrowed(heads.causal_lm),
    ForSequenceClassification = narrowed(heads.last_token),
    ForQuestionAnswering = narrow_answers(),
  } },
}
