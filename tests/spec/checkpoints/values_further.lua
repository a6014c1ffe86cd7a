-- values_further: the part of values for further encoders, and DINOv3. Returns a function that returns them by
-- model_type. Defaults are those of transformers 5.23.
local json = require("common.json")

return function(values)
  local parts, NONE = values.parts, values.NONE
  local like, plus, joined, output, listed = parts.like, parts.plus, parts.joined, parts.output, parts.listed
  local labels, first = { "linear", to = 2, name = "logits" }, { "pool", over = "first" }
  local families = {}

  local function bert_classes(scheme, prefix)
    return { Model = parts.model(scheme), ForTokenClassification = parts.tokens(scheme),
      ForQuestionAnswering = parts.question(scheme),
      ForSequenceClassification = parts.pooled(scheme, ("%s.pooler.dense pooler.dense"):format(prefix), 768),
      ForMaskedLM = parts.masked(scheme, 768, "gelu", "cls.predictions.transform.dense",
        "cls.predictions.transform.LayerNorm", "cls.predictions.decoder.weight",
        "cls.predictions.decoder.bias cls.predictions.bias") }
  end

  local size_case = { { hidden_size = 384 }, { d_model = 384, d_ff = 3072 } }
  local positions, tables = "embeddings.position_embeddings.weight", "embeddings.task_type_embeddings.weight"
  families.ernie = {
    base = like(parts.bert, { names = "ernie" }),
    cases = joined(parts.bert_cases(768), parts.types_cases, parts.position_cases(0), { size_case,
      { { use_task_id = true }, { names = NONE, ["names.1"] = "ernie",
        ["names.input.positions.weight.1"] = "ernie." .. positions, ["names.input.positions.weight.2"] = positions,
        ["names.input.positions.weight.plus.1"] = "ernie." .. tables,
        ["names.input.positions.weight.plus.2"] = tables, ["names.input.positions.weight.plus.row"] = 0 } },
    }),
    classes = bert_classes("ernie", "ernie"),
  }

  families.layoutlm = {
    base = like(parts.bert, { names = "layoutlm", ["input.boxes"] = 1024, ["inputs.boxes"] = "bbox",
      ["input.separator_place"] = 1000 }),
    cases = joined(parts.bert_cases(768), parts.types_cases, parts.position_cases(0), { size_case,
      { { max_2d_position_embeddings = 512 }, { ["input.boxes"] = 512 } } }),
    classes = bert_classes("layoutlm", "layoutlm"),
  }

  -- LayoutLMv3's tables of numbers that are added to scores.
  local biases = {}
  for path, name in pairs { ["positions.bias"] = "rel_pos_bias", ["places.across.bias"] = "rel_pos_x_bias",
    ["places.down.bias"] = "rel_pos_y_bias" } do
    local rule = ("names.%s.weight."):format(path)
    biases[path] = { [rule .. "1"] = ("layoutlmv3.encoder.%s.weight"):format(name),
      [rule .. "2"] = ("encoder.%s.weight"):format(name), [rule .. "transpose"] = true, [rule .. "factor"] = 0.125 }
  end
  local function without(path)
    local changes = {}
    for key in pairs(biases[path]) do changes[key] = NONE end
    return changes
  end
  local function divided(width) -- of heads of another width
    local changes = {}
    for path in pairs(biases) do changes[("names.%s.weight.factor"):format(path)] = 1 / math.sqrt(width) end
    return changes
  end
  local of_no_boxes = plus(plus(without("places.across.bias"), without("places.down.bias")),
    { box_buckets = NONE, box_distance = NONE })
  local layout = { names = NONE, ["names.1"] = "layoutlmv3" }
  local function of_layout(class, more) return { plus(class[1], plus(layout, more or {})) } end
  local layout_question = of_layout({ output({ { "linear", to = 768, activation = "tanh" },
    { "linear", to = 1, squeeze = true, name = "start_logits" },
    { "linear", to = 1, of = 1, squeeze = true, name = "end_logits" } }, "layoutlmv3", {
      ["output.1.linear"] = "qa_outputs.dense",
      ["output.2.linear.1"] = "qa_outputs.out_proj", ["output.2.linear.part"] = 1, ["output.2.linear.parts"] = 2,
      ["output.3.linear.1"] = "qa_outputs.out_proj", ["output.3.linear.part"] = 2, ["output.3.linear.parts"] = 2 }) })
  local deep = { { architectures = { "LayoutLMv3ForTokenClassification" } },
    plus(plus(output({ { "linear", to = 768, activation = "tanh" }, labels }, "layoutlmv3",
      { ["output.1.linear"] = "classifier.dense", ["output.2.linear"] = "classifier.out_proj" }), layout),
      { ["output.1.name"] = NONE }), tensors = { ["classifier.dense.weight"] = { 768, 768 } } }
  -- The picture of a page, whose file has patches.
  local function page(settings, changes)
    return { settings, plus({ seq = 510, ["memory.stage"] = "encoder", ["memory.joined"] = true, ["memory.layers"] = 0,
      ["memory.positions"] = "learned", ["memory.input.stage"] = "image", ["memory.input.norm"] = true,
      ["memory.input.channels"] = 3, ["memory.input.height"] = 224, ["memory.input.width"] = 224,
      ["memory.input.patch"] = 16, ["memory.input.eps"] = 1e-6, ["inputs.source_image"] = "pixel_values" }, changes),
      tensors = { ["patch_embed.proj.weight"] = { 768, 3, 16, 16 } } }
  end
  families.layoutlmv3 = {
    base = like(parts.roberta, plus(plus(plus(biases["positions.bias"], biases["places.across.bias"]),
      biases["places.down.bias"]), plus(layout, { ["input.boxes"] = 1024, ["input.place_width"] = 128,
      ["inputs.boxes"] = "bbox", positions = "learned t5", t5_buckets = 32, t5_distance = 128, box_buckets = 64,
      box_distance = 256, eps = 1e-5 }))),
    cases = joined(parts.bert_cases(768), parts.types_cases, parts.position_cases(2), { deep, page({}, {}),
      page({ input_size = 32 }, { ["memory.input.height"] = 32, ["memory.input.width"] = 32 }),
      page({ patch_size = 8 }, { ["memory.input.patch"] = 8 }),
      page({ num_channels = 1 }, { ["memory.input.channels"] = 1 }),
      { { visual_embed = false }, {}, tensors = { ["patch_embed.proj.weight"] = { 768, 3, 16, 16 } } },
      { { hidden_size = 384, coordinate_size = 40, shape_size = 112 },
        plus({ d_model = 384, d_ff = 3072, ["input.place_width"] = 40 }, divided(32)) },
      { { pad_token_id = 5 }, { first_position = 6 } },
      { { max_2d_position_embeddings = 512 }, { ["input.boxes"] = 512 } },
      { { has_relative_attention_bias = false }, plus(plus(of_no_boxes, without("positions.bias")),
        { positions = "learned", t5_buckets = NONE, t5_distance = NONE, names = "layoutlmv3", ["names.1"] = NONE }) },
      { { has_spatial_attention_bias = false }, of_no_boxes },
      { { rel_pos_bins = 16, max_rel_pos = 40 }, { t5_buckets = 16, t5_distance = 40 } },
      { { rel_2d_pos_bins = 32, max_rel_2d_pos = 100 }, { box_buckets = 32, box_distance = 100 } },
    }),
    classes = { Model = of_layout(parts.model("layoutlmv3")), ForTokenClassification =
      of_layout(parts.tokens("layoutlmv3")), ForQuestionAnswering = layout_question,
      ForSequenceClassification = of_layout(parts.roberta_classes("layoutlmv3").ForSequenceClassification) },
  }
  for _, case in ipairs(families.layoutlmv3.cases) do
    if case[1].num_attention_heads then case[2] = plus(case[2], divided(192)) end
  end

  families.rembert = {
    base = like(parts.bert, { names = "rembert", d_model = 1152, heads = 18, layers = 32, ["input.vocab"] = 250300,
      ["input.width"] = 256 }),
    cases = joined(parts.bert_cases(1152), parts.types_cases, parts.position_cases(0), {
      { { hidden_size = 384, num_attention_heads = 6 }, { d_model = 384, heads = 6, d_ff = 4608 } },
      { { input_embedding_size = 128 }, { ["input.width"] = 128 } }, { { output_embedding_size = 64 }, {} } }),
    classes = { Model = parts.model("rembert"), ForTokenClassification = parts.tokens("rembert"),
      ForQuestionAnswering = parts.question("rembert"),
      ForSequenceClassification = parts.pooled("rembert", "rembert.pooler.dense pooler.dense", 1152),
      ForMaskedLM = { plus(parts.masked("rembert", 64, "gelu", "cls.predictions.dense", "cls.predictions.LayerNorm",
        "cls.predictions.decoder.weight", "cls.predictions.decoder.bias")[1], { ["output.3.tied"] = false }),
        config = { output_embedding_size = 64 } } },
  }

  -- A kind of RoBERTa. width: d_model; first_position: 2; eps, seq as `more` says.
  local function roberta(scheme, width, more, cases)
    local classes = parts.roberta_classes(scheme)
    for _, name in ipairs { "ForSequenceClassification", "ForMaskedLM" } do
      for key, value in pairs(classes[name][1]) do if value == 768 then classes[name][1][key] = width end end
    end
    return { base = like(parts.roberta, plus({ names = scheme }, more)), classes = classes,
      cases = joined(parts.bert_cases(width), parts.types_cases, parts.position_cases(2), {
        { { pad_token_id = 5 }, { first_position = 6 } }, table.unpack(cases) }) }
  end

  families["data2vec-text"] = roberta("roberta", 768, { ["input.vocab"] = 30522 }, { size_case })
  local pre = { norm = "pre", final_norm = true }
  families["roberta-prelayernorm"] = roberta("roberta_pre", 768, pre, { size_case })
  families["xlm-roberta-xl"] = roberta("roberta_pre", 2560, plus(pre, { ["input.vocab"] = 250880, d_model = 2560,
    layers = 36, heads = 32, eps = 1e-5, max_position = 514, ["input.norm"] = NONE, ["input.types"] = NONE,
    ["inputs.token_types"] = NONE }), { { { hidden_size = 384, num_attention_heads = 6 }, { d_model = 384, heads = 6,
      d_ff = 10240 } } })
  for _, case in ipairs(families["xlm-roberta-xl"].cases) do
    if case[1].type_vocab_size == 3 then case[2]["inputs.token_types"] = "token_type_ids" end
  end

  local function windows(side)
    return { mask = NONE, ["mask.1"] = "padding", ["mask.window"] = ("%d %d"):format(side, side) }
  end
  families.longformer = roberta("longformer", 768, plus(windows(256), { ["input.vocab"] = 30522 }), { size_case,
    { { attention_window = 64 }, windows(32) },
    { { attention_window = { 64, 32 }, num_hidden_layers = 2 }, plus({ mask = "padding", ["mask.1"] = NONE,
      ["mask.window"] = NONE }, listed(2, function(i)
        return { ["mask.1"] = "padding", ["mask.window"] = i == 1 and "32 32" or "16 16" }
      end)) } })
  for _, case in ipairs(families.longformer.cases) do
    local most = case[1].max_position_embeddings
    if most and most < 260 then
      case[2] = plus(case[2], { mask = "padding", ["mask.1"] = NONE, ["mask.window"] = NONE })
    end
  end
  for name in pairs { ForSequenceClassification = 1, ForQuestionAnswering = 1 } do
    families.longformer.classes[name] = nil
  end

  local esm = like(like(parts.bert, parts.no_types), { names = "esm", positions = "learned", norm = "pre",
    final_norm = true, max_position = 1026, first_position = 2, ["input.vocab"] = 33, ["input.norm"] = NONE })
  families.esm = {
    base = esm,
    cases = { { { vocab_size = 99 }, { ["input.vocab"] = 99 } }, size_case,
      { { num_hidden_layers = 3 }, { layers = 3 } },
      { { num_attention_heads = 6 }, { heads = 6 } }, { { intermediate_size = 100 }, { d_ff = 100 } },
      { { layer_norm_eps = 1e-5 }, { eps = 1e-5 } }, { { pad_token_id = 0 }, { first_position = 1 } },
      { { tie_word_embeddings = true, hidden_act = "relu" }, {} },
      { { max_position_embeddings = 40 }, { max_position = 40, seq = 38 } },
      { { position_embedding_type = "rotary", rope_theta = 500.0, max_position_embeddings = 40 }, { positions = "rope",
        rope_theta = 500.0, max_position = NONE, first_position = NONE, seq = 40 } },
      { { emb_layer_norm_before = true }, { ["input.norm"] = true } },
      { { emb_layer_norm_before = json.null }, {} },
      { { token_dropout = true, mask_token_id = 32 }, { ["input.dropped"] = 32 } } },
    classes = { Model = parts.model("esm"), ForTokenClassification = parts.tokens("esm"),
      ForQuestionAnswering = parts.question("esm"), ForSequenceClassification = parts.two_layers("esm", 768, "tanh"),
      ForMaskedLM = parts.masked("esm", 768, "gelu", "lm_head.dense", "lm_head.layer_norm", "lm_head.decoder.weight",
        "lm_head.decoder.bias lm_head.bias") },
  }

  local dense = { "linear", to = 768, activation = "gelu" }
  local euro = like(parts.rope, { names = "eurobert", d_model = 768, heads = 12, layers = 12, d_ff = NONE, eps = 1e-5,
    mask = "padding", ["input.vocab"] = 128256 })
  local function sequence(stages, at)
    return output(stages, "eurobert",
      { [("output.%d.linear"):format(at)] = "dense", ["output.3.linear"] = "classifier" })
  end
  families.eurobert = {
    base = euro,
    cases = { { { vocab_size = 99 }, { ["input.vocab"] = 99 } }, size_case,
      { { num_hidden_layers = 3 }, { layers = 3 } },
      { { num_attention_heads = 6, num_key_value_heads = 6 }, { heads = 6 } },
      { { num_key_value_heads = 4 }, { kv_heads = 4 } }, { { intermediate_size = 100 }, { d_ff = 100 } },
      { { head_dim = 32 }, { head_dim = 32 } }, { { hidden_act = "gelu" }, { activation = "gelu" } },
      { { max_position_embeddings = 40 }, { seq = 40 } }, { { rms_norm_eps = 1e-6 }, { eps = 1e-6 } },
      { { rope_theta = 500.0 }, { rope_theta = 500.0 } },
      { { rope_parameters = { rope_theta = 700.0, rope_type = "default" } }, { rope_theta = 700.0 } },
      { { rope_scaling = { type = "linear", factor = 2.5 } }, { ["rope_scaling.type"] = "linear",
        ["rope_scaling.factor"] = 2.5 } },
      { { original_max_position_embeddings = 8 }, {} },
      { { classifier_pooling = "mean", clf_pooling = "late" }, {} }, { { tie_word_embeddings = true }, {} },
      { { attention_bias = true }, { ["bias.qkv"] = true, ["bias.out"] = true } },
      { { mlp_bias = true }, { ["bias.ff"] = true } } },
    classes = { Model = parts.model("eurobert"), ForTokenClassification = parts.tokens("eurobert"),
      ForMaskedLM = { plus(output({ { "vocabulary", bias = true, name = "logits", tied = false } }, "eurobert",
        { ["output.1.vocabulary.weight"] = "lm_head.weight", ["output.1.vocabulary.bias"] = "lm_head.bias" }),
        { ["bias.ff"] = true }), config = { mlp_bias = true } },
      ForSequenceClassification = { sequence({ dense, { "pool", over = "mean" }, labels }, 1) } },
  }

  -- DeBERTa, the first version; v2's cases have the rest.
  local function names(of)
    return plus({ names = NONE, ["names.1"] = "deberta", ["names.input.positions.weight"] =
      "deberta.embeddings.position_embeddings.weight embeddings.position_embeddings.weight" }, of or {})
  end
  local both = { positions = "learned disentangled", position_buckets = 0, position_distance = 512,
    position_projections = "half_biased", scale = 1 / math.sqrt(3 * 64) }
  local relative = { relative_attention = true, pos_att_type = { "c2p", "p2c" } }
  families.deberta = {
    base = like(parts.bert, plus(plus(parts.no_types, names()), { eps = 1e-7, scale = 0.125, positions = "learned",
      ["input.vocab"] = 50265, ["bias.k"] = false })),
    cases = { { { vocab_size = 99 }, { ["input.vocab"] = 99 } },
      { { hidden_size = 384 }, { d_model = 384, d_ff = 3072, scale = 1 / math.sqrt(32) } },
      { { num_hidden_layers = 3 }, { layers = 3 } },
      { { num_attention_heads = 24 }, { heads = 24, scale = 1 / math.sqrt(32) } },
      { { intermediate_size = 100 }, { d_ff = 100 } }, { { hidden_act = "relu" }, { activation = "relu" } },
      { { max_position_embeddings = 40 }, { seq = 40, max_position = 40 } },
      { { type_vocab_size = 2 }, { ["input.types"] = 2, ["inputs.token_types"] = "token_type_ids", names = "deberta",
        ["names.1"] = NONE, ["names.input.positions.weight"] = NONE } },
      { { layer_norm_eps = 1e-5 }, { eps = 1e-5 } }, { { tie_word_embeddings = false }, {} },
      { { embedding_size = 128 }, { ["input.width"] = 128, ["input.projected"] = "before_norm" } },
      { relative, both }, { plus(relative, { max_relative_positions = 100 }), plus(both, { position_distance = 100 }) },
      { plus(relative, { position_biased_input = false }), plus(both, { positions = "disentangled",
        max_position = NONE, names = "deberta", ["names.1"] = NONE, ["names.input.positions.weight"] = NONE }) } },
    classes = { Model = parts.model("deberta"),
      ForTokenClassification = parts.tokens("deberta"),
      ForQuestionAnswering = parts.question("deberta"),
      ForSequenceClassification = { output({ first, { "linear", to = 768, activation = "tanh" }, labels },
        "deberta", { ["output.2.linear"] = "pooler.dense", ["output.3.linear"] = "classifier" }),
        config = { pooler_hidden_act = "tanh", pooler_hidden_size = 768 } },
      ForMaskedLM = { parts.masked("deberta", 768, "gelu", "cls.predictions.transform.dense",
        "cls.predictions.transform.LayerNorm", "cls.predictions.decoder.weight",
        "cls.predictions.decoder.bias cls.predictions.bias")[1], config = { legacy = true } } },
  }
  for _, class in pairs(families.deberta.classes) do class[1] = plus(class[1], names()) end

  local stages = { parts.hidden, { "pool", over = "first", name = "pooler_output" } }
  families.dinov3_vit = {
    base = like(like(parts.image, output(stages, "dinov3")), { d_model = 384, heads = 6, eps = 1e-5,
      positions = "rope", rope_theta = 100.0, rope_patches = true, ["bias.k"] = false, ["bias.q"] = true,
      ["bias.v"] = true, ["bias.out"] = true, ["bias.ff"] = true }),
    cases = { { { hidden_size = 768 }, { d_model = 768, d_ff = 1536 } },
      { { num_hidden_layers = 3 }, { layers = 3 } },
      { { num_attention_heads = 12 }, { heads = 12 } }, { { intermediate_size = 100 }, { d_ff = 100 } },
      { { hidden_act = "silu" }, { activation = "silu" } }, { { layer_norm_eps = 1e-6 }, { eps = 1e-6 } },
      { { image_size = { 32, 48 } }, { ["input.height"] = 32, ["input.width"] = 48 } },
      { { patch_size = 8 }, { ["input.patch"] = 8 } }, { { num_channels = 1 }, { ["input.channels"] = 1 } },
      { { rope_theta = 50.0 }, { rope_theta = 50.0 } }, { { query_bias = false }, { ["bias.q"] = false } },
      { { key_bias = true }, { ["bias.k"] = true } }, { { value_bias = false }, { ["bias.v"] = false } },
      { { proj_bias = false }, { ["bias.out"] = false } }, { { mlp_bias = false }, { ["bias.ff"] = false } },
      { { use_gated_mlp = true }, { gated = true } }, { { num_register_tokens = 4 }, { ["input.registers"] = 4 } } },
    classes = { Model = { output(stages, "dinov3") } },
  }
  return families
end
