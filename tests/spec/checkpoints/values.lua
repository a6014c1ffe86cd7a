-- values: what values_spec expects: descriptions of configurations as path -> value; a list of plain values is one
-- text. base: of a configuration that states its family alone; cases: { keys of config.json, what changes,
-- tensors = of the file }; classes: by the end of the class's name, the output, and what else changes.
local json = require("common.json")

local values = {}

--- A key that is not there.
values.NONE = {}

local NONE = values.NONE

-- A base with keys more.
local function like(base, more)
  local result = {}
  for _, list in ipairs { base, more } do
    for key, value in pairs(list) do
      if value == NONE then result[key] = nil else result[key] = value end
    end
  end
  return result
end

-- Changes put together; what is NONE stays so.
local function plus(changes, more)
  local result = {}
  for _, list in ipairs { changes, more } do for key, value in pairs(list) do result[key] = value end end
  return result
end

-- Lists one after the other.
local function joined(...)
  local list = {}
  for _, each in ipairs { ... } do table.move(each, 1, #each, #list + 1, list) end
  return list
end

-- A model whose `layers` is a list: what the description has for each of `count` layers, in place of what the base has.
local function listed(count, of_layer)
  local result = { layers = NONE }
  for i = 1, 40 do
    for key in pairs { norm = 1, ["mask.1"] = 1, ["mask.window"] = 1, rope_theta = 1, rope_dim = 1,
      ["rope_scaling.type"] = 1, ["rope_scaling.factor"] = 1 } do
      result[("layers.%d.%s"):format(i, key)] = NONE
    end
    for key, value in pairs(i <= count and of_layer(i) or {}) do result[("layers.%d.%s"):format(i, key)] = value end
  end
  return result
end

-- The output of a class, and its tensors' names, as changes: stages as { stage, fields .. }.
local function output(stages, scheme, names)
  local result = {}
  for i, stage in ipairs(stages) do
    result[("output.%d.stage"):format(i)] = stage[1]
    for key, value in pairs(stage) do
      if key ~= 1 then result[("output.%d.%s"):format(i, key)] = value end
    end
  end
  result.names = scheme
  for path, name in pairs(names or {}) do
    result.names, result["names.1"], result["names." .. path] = values.NONE, scheme, name
  end
  return result
end

local hidden = { "hidden", name = "last_hidden_state" }
local first, last = { "pool", over = "first" }, { "pool", over = "last" }
local labels = { "linear", to = 2, name = "logits" }

local function model(scheme) return { output({ hidden }, scheme) } end

local function tokens(scheme)
  return { output({ labels }, scheme, { ["output.1.linear"] = "classifier" }) }
end

local function question(scheme)
  return { output({ { "linear", to = 1, squeeze = true, name = "start_logits" },
    { "linear", to = 1, of = 0, squeeze = true, name = "end_logits" } }, scheme, {
      ["output.1.linear.1"] = "qa_outputs", ["output.1.linear.part"] = 1, ["output.1.linear.parts"] = 2,
      ["output.2.linear.1"] = "qa_outputs", ["output.2.linear.part"] = 2, ["output.2.linear.parts"] = 2 }) }
end

-- A masked language model: width and activation of its layer, its tensors' names.
local function masked(scheme, to, activation, transform, norm, weight, bias, more)
  return { output({ { "linear", to = to, activation = activation }, { "norm" },
    { "vocabulary", bias = true, name = "logits" } }, scheme, like({ ["output.1.linear"] = transform,
      ["output.2.norm"] = norm, ["output.3.vocabulary.weight"] = weight, ["output.3.vocabulary.bias"] = bias },
      more or {})) }
end

-- As bert's, tied or not.
local function untied(class)
  return { plus(class[1], { ["output.3.tied"] = false }), config = { tie_word_embeddings = false } }
end

local function pooled(scheme, pooler, width)
  return { output({ first, { "linear", to = width, activation = "tanh" }, labels }, scheme, {
    ["output.2.linear"] = pooler, ["output.3.linear"] = "classifier" }) }
end

local function two_layers(scheme, width, activation)
  return { output({ first, { "linear", to = width, activation = activation }, labels }, scheme, {
    ["output.2.linear"] = "classifier.dense", ["output.3.linear"] = "classifier.out_proj" }) }
end

local bert = { seq = 128, d_model = 768, heads = 12, layers = 12, activation = "gelu", norm = "post", eps = 1e-12,
  mask = "padding", max_position = 512, ["input.stage"] = "tokens", ["input.vocab"] = 30522, ["input.types"] = 2,
  ["input.norm"] = true, ["inputs.ids"] = "input_ids", ["inputs.token_types"] = "token_type_ids",
  ["output.1.stage"] = "hidden", ["output.1.name"] = "last_hidden_state", names = "bert" }

local no_types = { ["input.types"] = NONE, ["inputs.token_types"] = NONE }

-- Cases of the keys that BERT has in common with its kin. width: d_model of the base; of_three: what else changes in a
-- model of three layers.
local function bert_cases(width, of_three)
  return {
    { { vocab_size = 99 }, { ["input.vocab"] = 99 } },
    { { num_hidden_layers = 3 }, plus({ layers = 3 }, of_three or {}) },
    { { num_attention_heads = 4 }, { heads = 4 } },
    { { intermediate_size = 100 }, { d_ff = 100 } },
    { { intermediate_size = 4 * width }, { d_ff = NONE } },
    { { hidden_act = "relu" }, { activation = "relu" } },
    { { layer_norm_eps = 1e-5 }, { eps = 1e-5 } },
    { { tie_word_embeddings = false }, {} },
  }
end

local types_cases = {
  { { type_vocab_size = 1 }, no_types },
  { { type_vocab_size = 0 }, no_types },
  { { type_vocab_size = 3 }, { ["input.types"] = 3 } },
}

local function position_cases(first_position)
  return { { { max_position_embeddings = 40 }, { max_position = 40, seq = 40 - first_position } },
    { { max_position_embeddings = 130 }, { max_position = 130, seq = 130 - math.max(first_position, 2) } } }
end

local rope = { seq = 128, d_model = 4096, heads = 32, layers = 32, gated = true, activation = "silu", norm = "pre",
  norm_kind = "rms", eps = 1e-6, final_norm = true, ["bias.qkv"] = false, ["bias.out"] = false, ["bias.ff"] = false,
  mask = "causal", positions = "rope", rope_theta = 10000.0, d_ff = 11008, ["input.stage"] = "tokens",
  ["input.vocab"] = 32000, ["inputs.ids"] = "input_ids", ["output.1.stage"] = "hidden",
  ["output.1.name"] = "last_hidden_state", names = "llama" }

-- Cases of the keys that Llama has in common with its kin; kv: the base's kv_heads.
local function rope_cases(kv)
  return {
    { { vocab_size = 99 }, { ["input.vocab"] = 99 } },
    { { hidden_size = 2048 }, { d_model = 2048 } },
    { { intermediate_size = 100 }, { d_ff = 100 } },
    { { intermediate_size = 16384 }, { d_ff = NONE } },
    { { num_hidden_layers = 3 }, { layers = 3 } },
    { { num_attention_heads = 16, num_key_value_heads = 16 }, { heads = 16, kv_heads = NONE } },
    { { num_key_value_heads = 4 }, { kv_heads = 4 } },
    { { num_key_value_heads = json.null }, { kv_heads = NONE } },
    { { num_key_value_heads = kv or 32 }, {} },
    { { head_dim = 64 }, { head_dim = 64 } },
    { { head_dim = 128 }, {} },
    { { hidden_act = "gelu" }, { activation = "gelu" } },
    { { max_position_embeddings = 40 }, { seq = 40 } },
    { { rms_norm_eps = 1e-5 }, { eps = 1e-5 } },
    { { rope_theta = 500.0 }, { rope_theta = 500.0 } },
    { { rope_parameters = { rope_theta = 700.0, rope_type = "default" } }, { rope_theta = 700.0 } },
    { { rope_parameters = { rope_theta = 700.0 }, rope_theta = 500.0 }, { rope_theta = 700.0 } },
    { { rope_scaling = { type = "linear", factor = 2.5 } }, { ["rope_scaling.type"] = "linear",
      ["rope_scaling.factor"] = 2.5 } },
    { { original_max_position_embeddings = 8, rope_scaling = { rope_type = "yarn", factor = 2.5,
      original_max_position_embeddings = 16 } }, { ["rope_scaling.type"] = "yarn", ["rope_scaling.factor"] = 2.5,
      ["rope_scaling.original"] = 8, ["rope_scaling.beta_fast"] = 32, ["rope_scaling.beta_slow"] = 1 } },
    { { tie_word_embeddings = true }, {} },
  }
end

-- Default of pad_token_id, by scheme.
local pads = { gemma = 0, gemma2 = 0, gemma3 = 0, gemma3n = 0, gemma4 = 0,
  glm4 = 151329, internlm3 = 2, olmo2 = 1, olmo3 = 1,
  opt = 1, phi3 = 32000, smollm3 = 128004 }

local function rope_classes(scheme, mask)
  local padded = mask and { ["mask.2"] = "padding" } or { mask = "causal padding" }
  local logits = { "vocabulary", name = "logits", tied = false }
  local score = plus(output({ last, { "linear", to = 2, bias = false, name = "logits" } }, scheme,
    { ["output.2.linear"] = "score" }), plus(padded, { ["output.1.pad"] = pads[scheme] }))
  return {
    Model = model(scheme),
    ForCausalLM = { plus(output({ last, logits }, scheme, { ["output.2.vocabulary.weight"] = "lm_head.weight" }),
      padded) },
    ForSequenceClassification = { score },
    ForTokenClassification = { output({ labels }, scheme, { ["output.1.linear"] = "score" }) },
    ForQuestionAnswering = question(scheme),
  }
end

local roberta = like(bert, { first_position = 2, ["input.vocab"] = 50265, names = "roberta" })

local function roberta_classes(scheme)
  return {
    Model = model(scheme),
    ForSequenceClassification = two_layers(scheme, 768, "tanh"),
    ForTokenClassification = tokens(scheme),
    ForQuestionAnswering = question(scheme),
    ForMaskedLM = masked(scheme, 768, "gelu", "lm_head.dense", "lm_head.layer_norm", "lm_head.decoder.weight",
      "lm_head.decoder.bias lm_head.bias"),
  }
end

local function roberta_family(vocab)
  return {
    base = like(roberta, { ["input.vocab"] = vocab }),
    cases = joined(bert_cases(768), types_cases, position_cases(2), {
      { { hidden_size = 256 }, { d_model = 256, d_ff = 3072 } },
      { { pad_token_id = 5 }, { first_position = 6 } },
      { { pad_token_id = 0, max_position_embeddings = 40 }, { first_position = 1, max_position = 40, seq = 39 } },
    }),
    classes = roberta_classes("roberta"),
  }
end

local image = { d_model = 768, heads = 12, layers = 12, activation = "gelu", norm = "pre", eps = 1e-12,
  final_norm = true, ["input.stage"] = "image", ["input.channels"] = 3, ["input.height"] = 224, ["input.width"] = 224,
  ["input.patch"] = 16, ["inputs.image"] = "pixel_values", ["output.1.stage"] = "hidden",
  ["output.1.name"] = "last_hidden_state", names = "vit" }

local pooler = { ["pooler.dense.weight"] = { 9, 768 } }

-- With a pooler in the file.
local function pooler_case(scheme, keys, to, activation)
  local prefix = scheme == "deit" and "deit." or "vit."
  local stages = { hidden, first, { "linear", to = to, activation = activation, name = "pooler_output" } }
  return { keys, output(stages, scheme, { ["output.3.linear"] = prefix .. "pooler.dense pooler.dense" }),
    tensors = pooler }
end

local function image_cases(scheme)
  return {
    { { hidden_size = 256 }, { d_model = 256, d_ff = 3072 } },
    { { num_hidden_layers = 3 }, { layers = 3 } },
    { { num_attention_heads = 4 }, { heads = 4 } },
    { { intermediate_size = 100 }, { d_ff = 100 } },
    { { hidden_act = "quick_gelu" }, { activation = "quick_gelu" } },
    { { layer_norm_eps = 1e-5 }, { eps = 1e-5 } },
    { { image_size = 32 }, { ["input.height"] = 32, ["input.width"] = 32 } },
    { { image_size = { 32, 48 } }, { ["input.height"] = 32, ["input.width"] = 48 } },
    { { patch_size = 8 }, { ["input.patch"] = 8 } },
    { { patch_size = { 8, 8 } }, { ["input.patch"] = 8 } },
    { { num_channels = 1 }, { ["input.channels"] = 1 } },
    { { qkv_bias = false }, { ["bias.qkv"] = false } },
    { { qkv_bias = true }, {} },
    { { head_dim = 32 }, { head_dim = 32 } },
    { { pooler_output_size = 9, pooler_act = "relu" }, {} },
    pooler_case(scheme, {}, 768, "tanh"),
    pooler_case(scheme, { pooler_output_size = 9, pooler_act = "relu" }, 9, "relu"),
    { {}, { names = "timm" }, tensors = { ["blocks.0.attn.qkv.weight"] = { 9, 9 } } },
  }
end

-- The rules of positions where the model has registers.
local function register_case(registers)
  local name = "embeddings.position_embeddings"
  return { { num_register_tokens = registers }, { ["input.registers"] = registers, names = values.NONE,
    ["names.1"] = "dinov2", ["names.input.positions.weight.1"] = "dinov2." .. name,
    ["names.input.positions.weight.2"] = "dinov2_with_registers." .. name, ["names.input.positions.weight.3"] = name,
    ["names.input.positions.weight.grid"] = "16 16" } }
end

local function dinov2()
  local stages = { hidden, { "pool", over = "first", name = "pooler_output" } }
  local base = like(like(image, { eps = 1e-6, ["input.patch"] = 14 }), output(stages, "dinov2"))
  local of_labels = output({ { "pool", over = "first patches" }, labels }, "dinov2",
    { ["output.2.linear"] = "classifier" })
  of_labels["output.2.over"] = NONE
  return { base = base, classes = { Model = { output(stages, "dinov2") }, ForImageClassification = { of_labels } },
    cases = {
    { { hidden_size = 384, num_attention_heads = 6 }, { d_model = 384, heads = 6 } },
    { { num_hidden_layers = 3 }, { layers = 3 } },
    { { hidden_act = "quick_gelu" }, { activation = "quick_gelu" } },
    { { layer_norm_eps = 1e-5 }, { eps = 1e-5 } },
    { { image_size = 28 }, { ["input.height"] = 28, ["input.width"] = 28 } },
    { { patch_size = 7 }, { ["input.patch"] = 7 } },
    { { num_channels = 1 }, { ["input.channels"] = 1 } },
    { { qkv_bias = false }, { ["bias.qkv"] = false } },
    { { head_dim = 32 }, { head_dim = 32 } },
    { { mlp_ratio = 2 }, { d_ff = 1536 } },
    { { use_swiglu_ffn = true }, { d_ff = 2048, gated = true, activation = "silu" } },
    register_case(4),
  } }
end

local with_registers = dinov2()
local smooth = plus(register_case(4)[2], { ["names.input.positions.weight.smooth"] = true })
with_registers.base = like(with_registers.base, smooth)
for _, class in pairs(with_registers.classes) do class[1] = plus(class[1], smooth) end
for _, case in ipairs(with_registers.cases) do
  if case[1].patch_size then case[2]["names.input.positions.weight.grid"] = "32 32" end
  if case[1].image_size then case[2]["names.input.positions.weight.grid"] = "2 2" end
end

-- Layers in n groups, as one text.
local function groups(layers, count)
  local list = {}
  for i = 0, layers - 1 do list[i + 1] = i * count // layers end
  return table.concat(list, " ")
end

local albert = like(bert, { d_model = 4096, heads = 64, activation = "gelu_tanh", ["input.vocab"] = 30000,
  ["input.width"] = 128, layer_groups = groups(12, 1), names = "albert" })

local electra = like(bert, { d_model = 256, heads = 4, ["input.width"] = 128, names = "electra" })

local distilbert = like(like(bert, no_types), { layers = 6, names = "distilbert" })

local mpnet = like(like(bert, no_types), { ["input.vocab"] = 30527, positions = "learned t5", first_position = 2,
  t5_buckets = 32, t5_distance = 128, names = "mpnet" })

local gpt2 = { seq = 128, d_model = 768, heads = 12, layers = 12, activation = "gelu_tanh", norm = "pre", eps = 1e-5,
  final_norm = true, mask = "causal", max_position = 1024, ["input.stage"] = "tokens", ["input.vocab"] = 50257,
  ["inputs.ids"] = "input_ids", ["output.1.stage"] = "hidden", ["output.1.name"] = "last_hidden_state",
  names = "gpt2" }

local t5 = { seq = 128, d_model = 512, heads = 8, layers = 6, activation = "relu", norm = "pre",
  norm_kind = "rms", eps = 1e-6, final_norm = true, ["bias.qkv"] = false, ["bias.out"] = false, ["bias.ff"] = false,
  scale = false, mask = "padding", positions = "t5", t5_buckets = 32, t5_distance = 128,
  ["input.stage"] = "tokens", ["input.vocab"] = 32128, ["inputs.ids"] = "input_ids", ["output.1.stage"] = "hidden",
  ["output.1.name"] = "last_hidden_state", names = "t5" }

local mistral = like(rope, { kv_heads = 8, d_ff = 14336, mask = NONE, ["mask.1"] = "causal",
  ["mask.window"] = "4095 0", names = "mistral" })

local qwen2 = like(rope, { d_ff = 22016, ["input.vocab"] = 151936, ["bias.qkv"] = true, names = "qwen2" })

local causal = { mask = "causal", ["mask.1"] = NONE, ["mask.window"] = NONE }

local function window(tokens_before)
  return { mask = NONE, ["mask.1"] = "causal", ["mask.window"] = tokens_before .. " 0" }
end

-- Queries of layers from the second on, as parts of what GPT-2 stores, divided by the layer's number.
local function inverse_names(layers)
  local result = { layers = layers, names = NONE, ["names.1"] = "gpt2" }
  for i = 1, layers - 1 do
    for _, parameter in ipairs { "weight", "bias" } do
      local path = ("names.l%d.attn.q.%s."):format(i, parameter)
      result[path .. "1"] = ("transformer.h.%d.attn.c_attn.%s"):format(i, parameter)
      result[path .. "2"] = ("h.%d.attn.c_attn.%s"):format(i, parameter)
      result[path .. "part"], result[path .. "parts"], result[path .. "factor"] = 1, 3, 1 / (i + 1)
      result[path .. "transpose"] = parameter == "weight" or nil
    end
  end
  return result
end

values.families = {
  bert = {
    base = bert,
    cases = joined(bert_cases(768), types_cases, position_cases(0), {
      { { hidden_size = 256 }, { d_model = 256, d_ff = 3072 } },
      { {}, output({ hidden, first, { "linear", to = 768, activation = "tanh", name = "pooler_output" } }, "bert",
        { ["output.3.linear"] = "bert.pooler.dense pooler.dense" }), tensors = pooler },
    }),
    classes = { Model = model("bert"),
      ForSequenceClassification = pooled("bert", "bert.pooler.dense pooler.dense", 768),
      ForTokenClassification = tokens("bert"), ForQuestionAnswering = question("bert"),
      ForMaskedLM = untied(masked("bert", 768, "gelu", "cls.predictions.transform.dense",
        "cls.predictions.transform.LayerNorm", "cls.predictions.decoder.weight",
        "cls.predictions.decoder.bias cls.predictions.bias")) },
  },

  roberta = roberta_family(50265), ["xlm-roberta"] = roberta_family(30522), camembert = roberta_family(30522),

  albert = {
    base = albert,
    cases = joined(bert_cases(4096, { layer_groups = groups(3, 1) }), types_cases, position_cases(0), {
      { { hidden_size = 256 }, { d_model = 256, d_ff = 16384 } },
      { { embedding_size = 64 }, { ["input.width"] = 64 } },
      { { embedding_size = 4096 }, { ["input.width"] = NONE } },
      { { num_hidden_layers = 5, num_hidden_groups = 2 }, { layers = 5, layer_groups = "0 0 0 1 1" } },
    }),
    classes = { Model = model("albert"), ForSequenceClassification = pooled("albert", "albert.pooler pooler", 4096),
      ForTokenClassification = tokens("albert"), ForQuestionAnswering = question("albert"),
      ForMaskedLM = masked("albert", 128, "gelu_tanh", "predictions.dense", "predictions.LayerNorm",
        "predictions.decoder.weight", "predictions.decoder.bias predictions.bias") },
  },

  electra = {
    base = electra,
    cases = joined(bert_cases(256), types_cases, position_cases(0), {
      { { hidden_size = 128 }, { d_model = 128, d_ff = 1024, ["input.width"] = NONE } },
      { { embedding_size = 64 }, { ["input.width"] = 64 } },
    }),
    classes = { Model = model("electra"), ForSequenceClassification = two_layers("electra", 256, "gelu"),
      ForTokenClassification = tokens("electra"), ForQuestionAnswering = question("electra"),
      ForMaskedLM = masked("electra", 128, "gelu", "generator_predictions.dense", "generator_predictions.LayerNorm",
        "generator_lm_head.weight", "generator_lm_head.bias"),
      ForPreTraining = { output({ { "linear", to = 256, activation = "gelu" },
        { "linear", to = 1, squeeze = true, name = "logits" } },
        "electra", { ["output.1.linear"] = "discriminator_predictions.dense",
          ["output.2.linear"] = "discriminator_predictions.dense_prediction" }) } },
  },

  distilbert = {
    base = distilbert,
    cases = joined(position_cases(0), {
      { { vocab_size = 99 }, { ["input.vocab"] = 99 } },
      { { dim = 256 }, { d_model = 256, d_ff = 3072 } }, { { hidden_size = 256 }, { d_model = 256, d_ff = 3072 } },
      { { n_layers = 3 }, { layers = 3 } }, { { num_hidden_layers = 3 }, { layers = 3 } },
      { { n_heads = 4 }, { heads = 4 } }, { { num_attention_heads = 4 }, { heads = 4 } },
      { { hidden_dim = 100 }, { d_ff = 100 } }, { { intermediate_size = 100 }, { d_ff = 100 } },
      { { activation = "relu" }, { activation = "relu" } },
    }),
    classes = { Model = model("distilbert"),
      ForSequenceClassification = { output({ first, { "linear", to = 768, activation = "relu" }, labels },
        "distilbert", { ["output.2.linear"] = "pre_classifier", ["output.3.linear"] = "classifier" }) },
      ForTokenClassification = tokens("distilbert"), ForQuestionAnswering = question("distilbert"),
      ForMaskedLM = untied(masked("distilbert", 768, "gelu", "vocab_transform", "vocab_layer_norm",
        "vocab_projector.weight", "vocab_projector.bias")) },
  },

  mpnet = {
    base = mpnet,
    cases = joined(bert_cases(768), position_cases(2), {
      { { hidden_size = 256 }, { d_model = 256, d_ff = 3072 } },
    }),
    classes = roberta_classes("mpnet"),
  },

  gpt2 = {
    base = gpt2,
    cases = {
      { { vocab_size = 99 }, { ["input.vocab"] = 99 } },
      { { n_positions = 40 }, { max_position = 40, seq = 40 } },
      { { max_position_embeddings = 40 }, { max_position = 40, seq = 40 } },
      { { n_embd = 256 }, { d_model = 256 } }, { { hidden_size = 256 }, { d_model = 256 } },
      { { n_layer = 3 }, { layers = 3 } }, { { num_hidden_layers = 3 }, { layers = 3 } },
      { { n_head = 4 }, { heads = 4 } }, { { num_attention_heads = 4 }, { heads = 4 } },
      { { n_inner = 100 }, { d_ff = 100 } }, { { n_inner = json.null }, {} }, { { n_inner = 3072 }, {} },
      { { activation_function = "relu" }, { activation = "relu" } },
      { { layer_norm_epsilon = 1e-6 }, { eps = 1e-6 } },
      { { n_layer = 3, scale_attn_by_inverse_layer_idx = true }, inverse_names(3) },
      { { scale_attn_by_inverse_layer_idx = false }, {} },
      { { tie_word_embeddings = false }, {} },
    },
    classes = like(rope_classes("gpt2"), {
      LMHeadModel = { plus(output({ last, { "vocabulary", name = "logits" } }, "gpt2", {
        ["output.2.vocabulary.weight"] = "lm_head.weight" }), { mask = "causal padding" }) },
      ForCausalLM = NONE, ForTokenClassification = tokens("gpt2") }),
  },

  t5 = {
    base = t5,
    cases = {
      { { vocab_size = 99 }, { ["input.vocab"] = 99 } },
      { { d_model = 256 }, { d_model = 256, head_dim = 64, d_ff = 2048 } },
      { { hidden_size = 256 }, { d_model = 256, head_dim = 64, d_ff = 2048 } },
      { { d_kv = 32 }, { head_dim = 32 } }, { { head_dim = 32 }, { head_dim = 32 } },
      { { d_ff = 100 }, { d_ff = 100 } },
      { { num_layers = 3 }, { layers = 3 } }, { { num_hidden_layers = 3 }, { layers = 3 } },
      { { num_heads = 4 }, { heads = 4, head_dim = 64 } },
      { { num_attention_heads = 4 }, { heads = 4, head_dim = 64 } },
      { { relative_attention_num_buckets = 16 }, { t5_buckets = 16 } },
      { { relative_attention_max_distance = 64 }, { t5_distance = 64 } },
      { { layer_norm_epsilon = 1e-5 }, { eps = 1e-5 } }, { { n_positions = 40 }, { seq = 40 } },
      { { feed_forward_proj = "gelu" }, { activation = "gelu" } },
      { { dense_act_fn = "silu" }, { activation = "silu" } },
      { { feed_forward_proj = "gated-gelu" }, { activation = "gelu_tanh", gated = true } },
      { { feed_forward_proj = "gated-silu" }, { activation = "silu", gated = true } },
      { { feed_forward_proj = "gated-relu" }, { activation = "relu", gated = true } },
    },
    classes = { Model = model("t5"), EncoderModel = model("t5"), ForConditionalGeneration = model("t5") },
  },

  llama = {
    base = rope,
    cases = joined(rope_cases(), {
      { { attention_bias = true }, { ["bias.qkv"] = true, ["bias.out"] = true } },
      { { mlp_bias = true }, { ["bias.ff"] = true } },
    }),
    classes = rope_classes("llama"),
  },

  mistral = {
    base = mistral,
    cases = joined(rope_cases(8), {
      { { sliding_window = 5 }, window(4) }, { { sliding_window = json.null }, causal },
    }),
    classes = rope_classes("mistral", true),
  },

  qwen2 = {
    base = qwen2,
    cases = joined(rope_cases(), {
      { { sliding_window = 5 }, {} },
      { { sliding_window = 5, use_sliding_window = true, max_window_layers = 0 }, window(4) },
      { { sliding_window = json.null, use_sliding_window = true, max_window_layers = 0 }, {} },
      { { sliding_window = 5, use_sliding_window = true, num_hidden_layers = 28 }, { layers = 28 } },
      { { sliding_window = 5, use_sliding_window = true, num_hidden_layers = 3, max_window_layers = 3 },
        { layers = 3 } },
      { { sliding_window = 5, use_sliding_window = true, num_hidden_layers = 2,
        layer_types = { "sliding_attention", "sliding_attention" } }, plus(window(4), { layers = 2 }) },
      { { sliding_window = 5, use_sliding_window = true, num_hidden_layers = 2, max_window_layers = 0,
        layer_types = { "full_attention", "full_attention" } }, { layers = 2 } },
      { { sliding_window = 5, use_sliding_window = true, num_hidden_layers = 2, max_window_layers = 1 },
        { layers = NONE, ["layers.1"] = NONE, ["layers.2.mask.1"] = "causal", ["layers.2.mask.window"] = "4 0" } },
    }),
    classes = rope_classes("qwen2"),
  },

  vit = {
    base = image,
    cases = image_cases("vit"),
    classes = { Model = model("vit"), ForImageClassification = { output({ first, labels }, "vit", {
      ["output.2.linear"] = "classifier" }) } },
  },


  dinov2 = dinov2(),
  dinov2_with_registers = with_registers,

  deit = {
    base = like(image, { ["input.distillation_token"] = true, names = "deit" }),
    cases = image_cases("deit"),
    classes = { Model = model("deit"),
      ForImageClassification = { output({ first, labels }, "deit", { ["output.2.linear"] = "classifier" }) },
      ForImageClassificationWithTeacher = { output({ { "pool", over = "first second" }, labels }, "deit", {
        ["output.2.linear.weight.join"] = "columns", ["output.2.linear.weight.factor"] = 0.5,
        ["output.2.linear.weight.1"] = "cls_classifier.weight",
        ["output.2.linear.weight.2"] = "distillation_classifier.weight",
        ["output.2.linear.bias.1"] = "cls_classifier.bias", ["output.2.linear.bias.factor"] = 0.5,
        ["output.2.linear.bias.plus.1"] = "distillation_classifier.bias",
        ["output.2.linear.bias.plus.factor"] = 0.5 }) } },
  },
}

values.activations = { gelu = "gelu", gelu_python = "gelu", gelu_new = "gelu_tanh", gelu_accurate = "gelu_tanh",
  gelu_fast = "gelu_tanh", gelu_pytorch_tanh = "gelu_tanh", gelu_python_tanh = "gelu_tanh", quick_gelu = "quick_gelu",
  silu = "silu", swish = "silu", relu = "relu", sigmoid = "sigmoid", tanh = "tanh" }

-- Of LlamaModel with 64 positions: the keys of scaled positions, and the numbers of transformers 5.23.
local function scaled(type, more)
  local result = { ["rope_scaling.type"] = type }
  for key, value in pairs(more) do result["rope_scaling." .. key] = value end
  return result
end

local function yarn(more, expected)
  return { { rope_parameters = like({ rope_type = "yarn", rope_theta = 10000.0, factor = 4.0,
    original_max_position_embeddings = 16 }, more) }, scaled("yarn", like({ factor = 4.0, original = 16,
    beta_fast = 32, beta_slow = 1 }, expected)) }
end

local llama3 = { factor = 8.0, low_freq_factor = 1.5, high_freq_factor = 4.5 }
local factors = { short_factor = { 1.5, 2.5 }, long_factor = { 3.5, 4.5 } }

local function long(more, expected)
  return { like({ rope_scaling = like({ rope_type = "longrope" }, like(factors, more.inside or {})) },
    more.beside or {}), scaled("longrope", like({ short_factor = "1.5 2.5", long_factor = "3.5 4.5" }, expected)) }
end

values.rotary = {
  { { rope_scaling = json.null }, {} },
  { { rope_scaling = { rope_type = "default" } }, {} },
  { { rope_scaling = { type = "linear", factor = 3 } }, scaled("linear", { factor = 3 }) },
  { { rope_scaling = { type = "dynamic", factor = 3.5 } }, scaled("dynamic", { factor = 3.5, max_position = 64 }) },
  { { rope_scaling = like(llama3, { rope_type = "llama3", original_max_position_embeddings = 32 }) },
    scaled("llama3", like(llama3, { original = 32 })) },
  { { rope_scaling = like(llama3, { rope_type = "llama3" }) }, scaled("llama3", like(llama3, { original = 64 })) },
  yarn({}, {}),
  yarn({ beta_fast = 16, beta_slow = 2 }, { beta_fast = 16, beta_slow = 2 }),
  yarn({ truncate = false }, { truncate = false }),
  yarn({ truncate = true }, {}),
  yarn({ attention_factor = 1.25 }, { attention_factor = 1.25 }),
  -- (0.1 * 0.707 * ln 4 + 1) / (0.1 * 0.5 * ln 4 + 1); with one of the two alone neither counts.
  yarn({ mscale = 0.707, mscale_all_dim = 0.5 }, { attention_factor = 1.0268361529030026 }),
  yarn({ mscale = 1.0, mscale_all_dim = 1.0 }, { attention_factor = 1.0 }),
  yarn({ mscale = 0.707 }, {}),
  yarn({ mscale_all_dim = 0.5 }, {}),
  yarn({ mscale = 0.707, mscale_all_dim = 0.5, attention_factor = 1.25 }, { attention_factor = 1.25 }),
  yarn({ mscale = 0.707, mscale_all_dim = 0.5, factor = 1.0 }, { factor = 1.0, attention_factor = 1.0 }),
  -- The square root of 1 + ln 4 / ln 16.
  long({ beside = { original_max_position_embeddings = 16 } }, { original = 16,
    attention_factor = 1.224744871391589 }),
  long({ inside = { original_max_position_embeddings = 16, factor = 2.0 } }, { original = 16,
    attention_factor = 1.118033988749895 }),
  long({ inside = { original_max_position_embeddings = 16, attention_factor = 1.5 } }, { original = 16,
    attention_factor = 1.5 }),
  long({}, { original = 64 }),
}

values.pools = { cls = "first", max = "max", mean = "mean", mean_sqrt_len_tokens = "root", weightedmean = "weighted",
  lasttoken = "last" }

values.older_pools = { cls_token = "first", max_tokens = "max", mean_tokens = "mean", mean_sqrt_len_tokens = "root",
  weightedmean_tokens = "weighted", lasttoken = "last" }

values.dense = { ["torch.nn.modules.activation.Tanh"] = "tanh", ["torch.nn.modules.activation.ReLU"] = "relu",
  ["torch.nn.modules.activation.GELU"] = "gelu", ["torch.nn.modules.activation.SiLU"] = "silu",
  ["torch.nn.modules.activation.Sigmoid"] = "sigmoid", ["torch.nn.modules.linear.Identity"] = NONE }

--- For the other files called values_*.lua.
values.parts = { listed = listed, like = like, plus = plus, joined = joined, output = output, model = model,
  tokens = tokens, question = question, rope = rope, rope_classes = rope_classes, last = last, bert = bert,
  bert_cases = bert_cases, masked = masked, pooled = pooled, untied = untied, types_cases = types_cases,
  position_cases = position_cases, no_types = no_types, image = image, hidden = hidden,
  roberta = roberta, roberta_classes = roberta_classes, two_layers = two_layers }

for _, part in ipairs { "decoders", "later", "experts", "hybrids", "encoders", "further", "deberta", "towers", "speech",
  "writers" } do
  for model_type, family in pairs(require("tests.spec.checkpoints.values_" .. part)(values)) do
    values.families[model_type] = family
  end
end

return values
