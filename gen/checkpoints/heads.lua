-- heads.lua: holds the data that families share: configuration keys, tensors' names, and the stages of task heads.
-- A task head follows a model's layers. A stage of a head is { constructor, fields .. }:
--
--   to        the width, or the name of a fact
--   name      the name of the output
--   tensor    the name of its weight and bias; with `within`, after the model's prefix
--   tensors   { weight =, bias = }, if weight and bias have names of their own
local words = require("common.words")

local heads = {}

--- transformers' words for activations -> attn2c's.
heads.activations = {
  gelu = "gelu", gelu_python = "gelu", gelu_new = "gelu_tanh", gelu_accurate = "gelu_tanh", gelu_fast = "gelu_tanh",
  gelu_pytorch_tanh = "gelu_tanh", gelu_python_tanh = "gelu_tanh", quick_gelu = "quick_gelu", silu = "silu",
  swish = "silu", relu = "relu", sigmoid = "sigmoid", tanh = "tanh",
}

-- The keys of config.json that many families have: { a name for a default, the key, its kind }; to: the fact, if it
-- has another name.
local usual = {
  { "vocab", "vocab_size", "count" },
  { "d_model", "hidden_size", "count" },
  { "layers", "num_hidden_layers", "count" },
  { "heads", "num_attention_heads", "count" },
  { "d_ff", "intermediate_size", "count" },
  { "activation", "hidden_act", "activation" },
  { "max_position", "max_position_embeddings", "count" },
  { "longest", "max_position_embeddings", "count" },
  { "original", "original_max_position_embeddings", "count" },
  { "eps", "layer_norm_eps", "number" },
  { "rms_eps", "rms_norm_eps", "number", to = "eps" },
  { "rope_theta", "rope_theta", "number" },
  { "rope_scaling", "rope_scaling", "object" },
  { "rope_parameters", "rope_parameters", "object" },
  { "tied", "tie_word_embeddings", "flag" },
  { "kv_heads", "num_key_value_heads", "count", null = false },
  { "head_dim", "head_dim", "count" },
  { "types", "type_vocab_size", "size" },
  { "pad", "pad_token_id", "size" },
  { "embedding", "embedding_size", "count" },
  { "partial", "partial_rotary_factor", "number" },
  { "attention_bias", "attention_bias", "flag" },
  { "mlp_bias", "mlp_bias", "flag" },
  { "use_window", "use_sliding_window", "flag" },
  { "window", "sliding_window", "count", null = false },
  { "layer_types", "layer_types", "list" },
  { "image", "image_size", "sides" },
  { "patch", "patch_size", "sides" },
  { "channels", "num_channels", "count" },
  { "qkv_bias", "qkv_bias", "flag" },
  { "pooler_width", "pooler_output_size", "count" },
  { "pooler_activation", "pooler_act", "activation" },
}

--- Returns a family's `config` (families.lua): the usual keys that have a default, then `others`. An entry of `others`
--- takes the place of the usual one for the same fact. names: the family's own names of usual keys, as words.
function heads.config(defaults, others, names)
  local list, has = {}, {}
  for _, entry in ipairs(others or {}) do has[entry.to] = true end
  local unread = words.merged(defaults)
  for _, each in ipairs(usual) do
    local name, to = each[1], each.to or each[1]
    unread[name] = nil
    if defaults[name] ~= nil and not has[to] then
      list[#list + 1] = words.merged(words.list(names and names[name] or each[2]), { to = to, default = defaults[name],
        kind = each[3], null = each.null })
    end
  end
  assert(next(unread) == nil, next(unread))
  return words.append(list, others or {})
end

--- GPT-2's names of keys.
heads.gpt_names = { d_model = "n_embd hidden_size", layers = "n_layer num_hidden_layers",
  heads = "n_head num_attention_heads", d_ff = "n_inner", activation = "activation_function",
  max_position = "n_positions max_position_embeddings", longest = "n_positions max_position_embeddings",
  eps = "layer_norm_epsilon" }

--- Returns the stages of a model without a task: the hidden states, and the pooler's output if the file has a pooler.
function heads.model(pooler)
  local stages = { { "hidden", name = "last_hidden_state" } }
  if pooler then
    stages[2] = { "pool", over = "first", needs = pooler }
    stages[3] = { "linear", to = "pooler_width", activation = "pooler_activation", name = "pooler_output",
      tensor = pooler, within = true, needs = pooler }
  end
  return stages
end

heads.word_embeddings = "embeddings.word_embeddings.weight"

heads.token_classification = { { "linear", to = "labels", name = "logits", tensor = "classifier" } }

heads.question_answering = {
  { "linear", to = 1, name = "start_logits", squeeze = true, tensor = "qa_outputs", part = 1, parts = 2 },
  { "linear", to = 1, name = "end_logits", of = 0, squeeze = true, tensor = "qa_outputs", part = 2, parts = 2 },
}

--- Returns the stages of a classifier on the pooler's output.
function heads.pooled(pooler)
  return {
    { "pool", over = "first" },
    { "linear", to = "d_model", activation = "tanh", tensor = pooler, within = true },
    { "linear", to = "labels", name = "logits", tensor = "classifier" },
  }
end

--- Returns the stages of a classifier of two layers on the first token.
function heads.two_layers(activation)
  return {
    { "pool", over = "first" },
    { "linear", to = "d_model", activation = activation, tensor = "classifier.dense" },
    { "linear", to = "labels", name = "logits", tensor = "classifier.out_proj" },
  }
end

--- Returns the stages of masked language models: a linear layer, a norm, and a score for each token of the vocabulary.
--- If the decoder has its own bias, that is taken, else t.bias. t.transform_bias, t.vocabulary_bias: facts that say
--- whether the layers have a bias; without them they have one.
function heads.masked_lm(t)
  return {
    { "linear", to = t.to or "d_model", activation = t.activation or "activation", bias = t.transform_bias,
      tensor = t.transform },
    { "norm", tensor = t.norm },
    { "vocabulary", tied = "tied", bias = t.vocabulary_bias or true, name = "logits", tensors = {
      weight = { t.vocabulary .. ".weight" },
      bias = t.vocabulary .. ".bias" == t.bias and { t.bias } or { t.vocabulary .. ".bias", t.bias } } },
  }
end

--- Returns the heads of an encoder: those without names of their own, and `own`.
function heads.of_encoder(own)
  return words.merged({ Model = heads.model(), ForTokenClassification = heads.token_classification,
    ForQuestionAnswering = heads.question_answering }, own)
end

heads.bert = heads.of_encoder {
  Model = heads.model("pooler.dense"),
  ForSequenceClassification = heads.pooled("pooler.dense"),
  ForMaskedLM = heads.masked_lm { transform = "cls.predictions.transform.dense",
    norm = "cls.predictions.transform.LayerNorm", vocabulary = "cls.predictions.decoder",
    bias = "cls.predictions.bias" },
}

heads.roberta = heads.of_encoder {
  Model = heads.model("pooler.dense"),
  ForSequenceClassification = heads.two_layers("tanh"),
  ForMaskedLM = heads.masked_lm { transform = "lm_head.dense", activation = "gelu", norm = "lm_head.layer_norm",
    vocabulary = "lm_head.decoder", bias = "lm_head.bias" },
}

--- The scores of a prompt's last token; with output.1.over=all, of all its tokens. A model that writes
--- has no pool: calls that continue a sequence say whose scores they want.
heads.causal_lm = {
  writes = true,
  { "pool", over = "last", remark = "of the prompt's last token; over = \"all\": of all tokens" },
  { "vocabulary", tied = "tied", name = "logits", tensors = { weight = { "lm_head.weight" } } },
}

--- Returns the stages of a causal language model whose own vocabulary has one of these names.
function heads.causal_lm_named(...)
  return { writes = true, heads.causal_lm[1],
    { "vocabulary", tied = "tied", name = "logits", tensors = { weight = { ... } } } }
end

--- The same, with a bias.
heads.causal_lm_with_bias = { writes = true, heads.causal_lm[1],
  { "vocabulary", tied = "tied", bias = true, name = "logits",
    tensors = { weight = { "lm_head.weight" }, bias = { "lm_head.bias" } } } }

heads.last_token = {
  { "pool", over = "last", pad = true },
  { "linear", to = "labels", bias = false, name = "logits", tensor = "score" },
}

--- Returns the tensors of tables of tokens and token types without one of positions, followed by `others`. For families
--- with `sums_types`.
function heads.typed_tokens(others)
  local list = {
    -- Without token types as an input, all tokens have the first type.
    { "input.tokens.weight", { heads.word_embeddings, plus = { "embeddings.token_type_embeddings.weight", row = 0 },
      when = { "input.types", 0 } } },
    { "input.tokens.weight", heads.word_embeddings },
    { "input.types", "embeddings.token_type_embeddings" },
  }
  return words.append(list, others)
end

--- Returns the tensors of BERT's embedding tables, followed by `others`.
function heads.bert_tables(others)
  local list = {
    { "input.tokens", "embeddings.word_embeddings" },
    -- Without token types as an input, all tokens have the first type.
    { "input.positions.weight", { "embeddings.position_embeddings.weight", plus = {
      "embeddings.token_type_embeddings.weight", row = 0 }, when = { "input.types", 0 } } },
    { "input.{positions,types,norm}", "embeddings.{position_embeddings,token_type_embeddings,LayerNorm}" },
  }
  return words.append(list, others)
end

--- The tensors of BERT's layers.
heads.bert_layers = {
  { "l*.attn.{q,k,v,out}", "encoder.layer.*.attention.{self.query,self.key,self.value,output.dense}" },
  { "l*.{norm1,norm2}", "encoder.layer.*.{attention.output,output}.LayerNorm" },
  { "l*.ff.{up,down}", "encoder.layer.*.{intermediate,output}.dense" },
}

--- Returns BERT's tensors. projection: the name of the projection from narrow tables to d_model, or nil.
function heads.bert_tensors(projection)
  local list = heads.bert_tables(heads.bert_layers)
  if projection then list[#list + 1] = { "input.projection", projection } end
  return list
end

--- Returns BERT's configuration keys with a family's defaults, and `others` (heads.config).
function heads.bert_config(defaults, others)
  return heads.config(words.merged({ activation = "gelu", max_position = 512, eps = 1e-12, tied = true }, defaults),
    others)
end

--- Returns a vision transformer's tensors. class: the rule for the tokens before the patches.
function heads.vit_tensors(class)
  local function both(old, new) return { "encoder.layer.*." .. old, "layers.*." .. new } end
  return {
    { "input.class", class },
    { "input.positions.weight", "embeddings.position_embeddings" },
    { "input.patches", "embeddings.patch_embeddings.projection" },
    { "l*.attn.{q,k,v}", both("attention.attention.{query,key,value}", "attention.{q,k,v}_proj") },
    { "l*.attn.out", both("attention.output.dense", "attention.o_proj") },
    { "l*.{norm1,norm2}", both("layernorm_{before,after}", "layernorm_{before,after}") },
    { "l*.ff.{up,down}", both("{intermediate,output}.dense", "mlp.{fc1,fc2}") },
    { "final_norm", "layernorm" },
  }
end

--- Returns the configuration keys of a tower for images with a family's defaults, and `others` (heads.config).
function heads.image_config(defaults, others)
  return heads.config(words.merged({ d_model = 768, layers = 12, heads = 12, d_ff = 3072, activation = "gelu",
    eps = 1e-12, image = 224, patch = 16, channels = 3 }, defaults), others)
end

--- Returns a vision transformer's configuration keys.
function heads.vit_config()
  return heads.image_config { qkv_bias = true, head_dim = false, pooler_width = false, pooler_activation = "tanh" }
end

--- The usual activation of CLIP.
heads.of_clip = "quick_gelu"

--- The tensors of a tower for texts of CLIP's kind that are of no layer.
heads.of_clip_texts = {
  { "input.{tokens,positions}", "embeddings.{token,position}_embedding" },
  { "final_norm", "final_layer_norm" },
}

--- Returns the tensors of a tower of CLIP, after `own`.
function heads.clip_layers(own)
  return words.append({}, own, {
    { "l*.attn.{q,k,v,out}", "encoder.layers.*.self_attn.{q,k,v,out}_proj" },
    { "l*.ff.{up,down}", "encoder.layers.*.mlp.{fc1,fc2}" },
    { "l*.{norm1,norm2}", "encoder.layers.*.{layer_norm1,layer_norm2}" },
  })
end

heads.llama_fixed = { norm = "pre", norm_kind = "rms", final_norm = true, positions = "rope", gated = true }

--- Returns Llama's fixed keys with `more` of them.
function heads.llama_with(more) return words.merged(heads.llama_fixed, more) end

--- Returns Llama's tensors after `own`, whose tensors come first where paths are the same.
function heads.llama_tensors(own)
  local list = {
    { "input.tokens", "embed_tokens" },
    { "l*.attn.{q,k,v,out}", "layers.*.self_attn.{q,k,v,o}_proj" },
    { "l*.{norm1,norm2}", "layers.*.{input,post_attention}_layernorm" },
    { "l*.ff.{gate,up,down}", "layers.*.mlp.{gate,up,down}_proj" },
    { "final_norm", "norm" },
  }
  return words.append({}, own, list)
end

--- Returns Llama's configuration keys with a family's defaults, and `others` (heads.config).
function heads.llama_config(defaults, others)
  return heads.config(words.merged({ d_model = 4096, layers = 32, heads = 32, activation = "silu", original = false,
    rms_eps = not defaults.eps and 1e-6 or nil, rope_theta = false, rope_scaling = false, rope_parameters = false,
    tied = false, kv_heads = false, head_dim = false }, defaults), others)
end

heads.llama = {
  Model = heads.model(),
  ForCausalLM = heads.causal_lm,
  ForSequenceClassification = heads.last_token,
  ForTokenClassification = { { "linear", to = "labels", name = "logits", tensor = "score" } },
  ForQuestionAnswering = heads.question_answering,
}

--- The heads that most later families have.
heads.decoder = {
  Model = heads.model(),
  ForCausalLM = heads.causal_lm,
  ForSequenceClassification = heads.last_token,
  ForTokenClassification = heads.llama.ForTokenClassification,
}

--- The heads of families that began with GPT-2.
heads.gpt = words.merged(heads.decoder, { ForTokenClassification = heads.token_classification,
  ForQuestionAnswering = heads.question_answering })

--- Returns a family that began with Llama: what `own` has, and Llama's other fields.
function heads.llama_family(own)
  return words.merged({ prefixes = { "model.", "transformer.", "" }, tensors = heads.llama_tensors(),
    fixed = heads.llama_fixed, rotary = true, causal = true, heads = heads.llama }, own)
end

--- Sets the biases of a family that began with Llama.
function heads.set_biases(facts)
  local has = facts.attention_bias or false
  facts.bias = { qkv = has, out = has, ff = facts.mlp_bias or false }
end

return heads
