-- values_speech: the part of values for wav2vec 2.0, the models with its encoder, and WavLM. Returns a function that
-- returns it by model_type. Defaults are those of transformers 5.23.
return function(values)
  local parts, NONE = values.parts, values.NONE
  local like, plus = parts.like, parts.plus
  local base = { ["seq.any"] = 1499, d_model = 768, heads = 12, layers = 12, activation = "gelu", norm = "post",
    eps = 1e-5, mask = "padding", positions = "convolution", position_kernel = 128, position_groups = 16,
    position_activation = "gelu", names = "wav2vec2", ["input.stage"] = "linear", ["input.from"] = 512,
    ["input.features_norm"] = true, ["input.norm"] = true, ["output.1.stage"] = "hidden",
    ["output.1.name"] = "last_hidden_state" }

  -- The output of a class whose last stage is linear, with the names of its tensors: path -> name.
  local function class(stages, names)
    local result = plus(stages, { ["names.1"] = "wav2vec2" })
    for path, name in pairs(names) do result["names." .. path] = name end
    return result
  end

  local bare = { ["output.1.stage"] = "hidden", ["output.1.name"] = "last_hidden_state", names = "wav2vec2" }
  local function logits(to, tensor)
    return class({ ["output.1.stage"] = "linear", ["output.1.name"] = "logits", ["output.1.to"] = to },
      { ["output.1.linear"] = tensor })
  end
  local pooled = class({ ["output.1.stage"] = "linear", ["output.1.to"] = 256, ["output.2.stage"] = "pool",
    ["output.2.over"] = "mean", ["output.3.stage"] = "linear", ["output.3.name"] = "logits", ["output.3.to"] = 2 },
    { ["output.1.linear"] = "projector", ["output.3.linear"] = "classifier" })

  local spoken = class({ ["output.1.stage"] = "linear", ["output.1.to"] = 8, ["output.2.stage"] = "linear",
    ["output.2.to"] = 8, ["output.2.kernel"] = 5, ["output.2.dilation"] = 2, ["output.2.activation"] = "relu",
    ["output.3.stage"] = "linear", ["output.3.to"] = 9, ["output.3.activation"] = "relu", ["output.4.stage"] = "pool",
    ["output.4.over"] = "mean deviation", ["output.4.cut"] = 4, ["output.5.stage"] = "linear", ["output.5.to"] = 6,
    ["output.5.name"] = "embeddings", ["output.6.stage"] = "linear", ["output.6.to"] = 6,
    ["output.6.name"] = "logits" }, { ["output.1.linear"] = "projector", ["output.2.linear"] = "tdnn.0.kernel",
    ["output.3.linear"] = "tdnn.1.kernel", ["output.5.linear"] = "feature_extractor",
    ["output.6.linear"] = "classifier" })

  local family = {
    base = like(base, {}),
    cases = {
      { { hidden_size = 384 }, { d_model = 384, d_ff = 3072 } },
      { { num_hidden_layers = 3 }, { layers = 3 } },
      { { num_attention_heads = 8 }, { heads = 8 } },
      { { intermediate_size = 100 }, { d_ff = 100 } },
      { { hidden_act = "relu" }, { activation = "relu" } },
      { { layer_norm_eps = 1e-6 }, { eps = 1e-6 } },
      { { conv_dim = { 512, 256 } }, { ["input.from"] = 256 } },
      { { conv_kernel = { 10, 3, 3, 3, 3, 3, 2 }, conv_stride = { 5, 2, 2, 2, 2, 2, 1 }, conv_bias = true,
        feat_extract_norm = "layer" }, {} },
      { { num_conv_pos_embeddings = 95 }, { position_kernel = 95 } },
      { { num_conv_pos_embedding_groups = 8 }, { position_groups = 8 } },
      { { feat_extract_activation = "relu" }, { position_activation = "relu" } },
      { { do_stable_layer_norm = true }, { norm = "pre", final_norm = true, ["input.norm"] = NONE } },
      { { feat_proj_layer_norm = false }, { ["input.features_norm"] = NONE } },
      { { adapter_attn_dim = 16 }, { second_ff = NONE } },
      { { tdnn_dim = { 8 }, tdnn_kernel = { 3 }, tdnn_dilation = { 1 }, xvector_output_dim = 6 }, {} },
      { { add_adapter = false, use_weighted_layer_sum = false, conv_pos_batch_norm = false }, {} },
    },
    classes = {
      Model = { bare },
      ForPreTraining = { bare },
      ForCTC = { logits(40, "lm_head"), config = { vocab_size = 40 } },
      ForSequenceClassification = { plus(pooled, { ["output.1.to"] = 128 }), config = { classifier_proj_size = 128 } },
      ForAudioFrameClassification = { logits(2, "classifier") },
      ForXVector = { spoken, config = { tdnn_dim = { 8, 9 }, tdnn_kernel = { 5, 1 }, tdnn_dilation = { 2, 3 },
        xvector_output_dim = 6 } },
    },
  }
  -- WavLM has distances besides, and always a norm of the features.
  local gated = { base = like(base, { positions = "convolution t5", position_gate = true, t5_buckets = 320,
    t5_distance = 800, names = "wavlm" }), classes = {}, cases = {
      { { num_buckets = 64 }, { t5_buckets = 64 } },
      { { max_bucket_distance = 400 }, { t5_distance = 400 } },
      table.unpack(family.cases) } }
  for name, class_ in pairs(family.classes) do
    local changes = {}
    for path, value in pairs(class_[1]) do changes[path] = value == "wav2vec2" and "wavlm" or value end
    gated.classes[name] = { changes, config = class_.config }
  end
  local ast = { d_model = 768, heads = 12, layers = 12, activation = "gelu", norm = "pre", eps = 1e-12,
    final_norm = true, names = "ast", ["input.stage"] = "image", ["input.channels"] = 1, ["input.height"] = 128,
    ["input.width"] = 1024, ["input.patch"] = 16, ["input.row_stride"] = 10, ["input.column_stride"] = 10,
    ["input.distillation_token"] = true, ["inputs.features"] = "input_values", ["output.1.stage"] = "hidden",
    ["output.1.name"] = "last_hidden_state", ["output.2.stage"] = "pool", ["output.2.over"] = "tokens",
    ["output.2.name"] = "pooler_output" }
  local spectrogram = {
    base = ast,
    cases = {
      { { hidden_size = 384 }, { d_model = 384, d_ff = 3072 } },
      { { num_hidden_layers = 3 }, { layers = 3 } },
      { { num_attention_heads = 8 }, { heads = 8 } },
      { { head_dim = 32 }, { head_dim = 32 } },
      { { intermediate_size = 100 }, { d_ff = 100 } },
      { { hidden_act = "relu" }, { activation = "relu" } },
      { { layer_norm_eps = 1e-6 }, { eps = 1e-6 } },
      { { qkv_bias = false }, { ["bias.qkv"] = false } },
      { { patch_size = 8 }, { ["input.patch"] = 8 } },
      { { frequency_stride = 16 }, { ["input.row_stride"] = 16 } },
      { { time_stride = 12 }, { ["input.column_stride"] = 12 } },
      { { num_mel_bins = 64 }, { ["input.height"] = 64 } },
      { { max_length = 512 }, { ["input.width"] = 512 } },
    },
    classes = {
      Model = { { ["output.1.stage"] = "hidden", ["output.1.name"] = "last_hidden_state",
        ["output.2.stage"] = "pool", ["output.2.over"] = "tokens", ["output.2.name"] = "pooler_output",
        names = "ast" } },
      ForAudioClassification = { { ["output.1.stage"] = "pool", ["output.1.over"] = "tokens",
        ["output.2.stage"] = "norm", ["output.2.over"] = NONE, ["output.2.name"] = NONE,
        ["output.3.stage"] = "linear", ["output.3.name"] = "logits",
        ["output.3.to"] = 2, ["names.1"] = "ast", ["names.output.2.norm"] = "classifier.layernorm",
        ["names.output.3.linear"] = "classifier.dense" } },
    },
  }
  return { ["audio-spectrogram-transformer"] = spectrogram, wav2vec2 = family, hubert = family,
    unispeech = family, ["unispeech-sat"] = family, wavlm = gated }
end
