-- values_writers.lua: what values.lua has, for encoders with decoders that write.
return function(values)
  local parts, NONE = values.parts, values.NONE
  local like, plus = parts.like, parts.plus

  -- The output of a class that writes. more: fields of the scores, and names.
  local function writes(scheme, more, names)
    return parts.output({ { "pool", over = "last" }, like({ "vocabulary", name = "logits" }, more) }, scheme,
      like({ ["output.2.vocabulary.weight"] = "lm_head.weight model.shared.weight shared.weight" }, names))
  end

  -- Returns a family that began with BART. more: changes of the description; more_keys: further cases.
  local function bart(scheme, class, more, more_cases, without_bias)
    local output = writes(scheme, without_bias and {} or { bias = true },
      without_bias and {} or { ["output.2.vocabulary.bias"] = "final_logits_bias" })
    local base = plus(like({ seq = 128, d_model = 1024, heads = 16, layers = 12, activation = "gelu",
      mask = "causal padding", ["input.stage"] = "tokens", ["input.vocab"] = 50265,
      ["inputs.ids"] = "decoder_input_ids", ["inputs.source_ids"] = "input_ids", ["memory.stage"] = "encoder",
      ["memory.seq"] = 128, ["memory.layers"] = 12,
      ["memory.heads"] = 16, ["memory.d_ff"] = 4096, ["memory.mask"] = "padding",
      ["memory.input.stage"] = "tokens", ["memory.input.vocab"] = 50265 }, output), more)
    for key, value in pairs(base) do if value == NONE then base[key] = nil end end
    local is_learned, is_scaled = base.positions == "learned", base["input.scale"] ~= nil
    local longest = { seq = 40, ["memory.seq"] = 40, max_position = is_learned and 42 or nil,
      ["memory.max_position"] = is_learned and 42 or nil }
    local function width(d_model)
      return { d_model = d_model, d_ff = 4096, ["input.scale"] = is_scaled and d_model ^ 0.5 or nil,
        ["memory.input.scale"] = is_scaled and d_model ^ 0.5 or nil }
    end
    local cases = {
      { { vocab_size = 99 }, { ["input.vocab"] = 99, ["memory.input.vocab"] = 99 } },
      { { d_model = 256 }, width(256) }, { { hidden_size = 256 }, width(256) },
      { { max_position_embeddings = 40 }, longest },
      { { encoder_layers = 3 }, { ["memory.layers"] = 3 } }, { { num_hidden_layers = 3 }, { ["memory.layers"] = 3 } },
      { { encoder_attention_heads = 4 }, { ["memory.heads"] = 4 } },
      { { num_attention_heads = 4 }, { ["memory.heads"] = 4 } },
      { { encoder_ffn_dim = 100 }, { ["memory.d_ff"] = 100 } },
      { { decoder_layers = 3 }, { layers = 3 } }, { { decoder_attention_heads = 4 }, { heads = 4 } },
      { { decoder_ffn_dim = 100 }, { d_ff = 100 } },
      { { activation_function = "swish" }, { activation = "silu" } },
      { { scale_embedding = true }, { ["input.scale"] = 32, ["memory.input.scale"] = 32 } },
      { { scale_embedding = false }, { ["input.scale"] = NONE, ["memory.input.scale"] = NONE } },
      { { tie_word_embeddings = false }, { ["output.2.tied"] = false,
        ["names.output.2.vocabulary.weight"] = "lm_head.weight" } },
    }
    table.move(more_cases or {}, 1, #(more_cases or {}), #cases + 1, cases)
    return { base = base, cases = cases, classes = { [class] = { output } } }
  end

  local learned = { positions = "learned", first_position = 2, max_position = 1026, ["memory.positions"] = "learned",
    ["memory.first_position"] = 2, ["memory.max_position"] = 1026 }
  local normed = like(learned, { ["input.norm"] = true, ["memory.input.norm"] = true })
  local sines = { positions = "sinusoidal", ["memory.positions"] = "sinusoidal", sinusoids = "halves" }
  local before = { norm = "pre", final_norm = true }

  local t5 = values.families.t5
  local function t5_family(more, classes_scale)
    local output = writes("t5_writer", { scale = classes_scale })
    local base = plus(plus(like(t5.base, { mask = "causal padding", ["inputs.ids"] = "decoder_input_ids",
      ["inputs.source_ids"] = "input_ids", ["memory.stage"] = "encoder", ["memory.seq"] = 128, ["memory.layers"] = 6,
      ["memory.mask"] = "padding", ["memory.positions"] = "t5", ["memory.input.stage"] = "tokens",
      ["memory.input.vocab"] = 32128, ["output.1.name"] = NONE }), output), more)
    for key, value in pairs(base) do if value == NONE then base[key] = nil end end
    local cases = {}
    for i, case in ipairs(t5.cases) do
      local keys, changes = case[1], like(case[2], {})
      changes["memory.input.vocab"], changes["memory.layers"] = changes["input.vocab"], changes.layers
      changes["memory.seq"] = changes.seq
      if changes.d_model and classes_scale then changes["output.2.scale"] = changes.d_model ^ -0.5 end
      if changes.gated == nil and keys.feed_forward_proj and base.gated then changes.gated = NONE end
      if (keys.d_model or keys.hidden_size) and base.d_ff then changes.d_ff = NONE end
      if (keys.d_model or keys.hidden_size) and base.head_dim then changes.head_dim = 64 end
      cases[i] = { keys, changes }
    end
    cases[#cases + 1] = { { num_decoder_layers = 3 }, { layers = 3 } }
    cases[#cases + 1] = { { tie_word_embeddings = false }, { ["output.2.scale"] = NONE } }
    cases[#cases + 1] = { { scale_decoder_outputs = false }, { ["output.2.scale"] = NONE } }
    cases[#cases + 1] = { { scale_decoder_outputs = true, tie_word_embeddings = false }, {} }
    return { base = base, cases = cases, classes = { ForConditionalGeneration = { output } } }
  end
  -- The same without a decoder.
  local function encoder(more)
    local base, cases = like(t5.base, more), {}
    for i, case in ipairs(t5.cases) do
      local changes = like(case[2], {})
      if case[1].feed_forward_proj then changes.gated = changes.gated or NONE end
      if changes.d_model then changes.d_ff, changes.head_dim = NONE, 64 end
      cases[i] = { case[1], changes }
    end
    return { base = base, cases = cases, classes = t5.classes }
  end

  local whisper = writes("whisper", {}, { ["output.2.vocabulary.weight"] = "proj_out.weight" })
  local spoken = plus({ seq = 128, d_model = 384, heads = 6, layers = 4, activation = "gelu", norm = "pre",
    final_norm = true, ["bias.k"] = false, mask = "causal padding", positions = "learned", max_position = 448,
    ["input.stage"] = "tokens", ["input.vocab"] = 51865, ["inputs.ids"] = "decoder_input_ids",
    ["inputs.source_features"] = "input_features", ["memory.stage"] = "encoder", ["memory.seq"] = 1500,
    ["memory.layers"] = 4, ["memory.heads"] = 6, ["memory.d_ff"] = 1536, ["memory.positions"] = "learned",
    ["memory.input.stage"] = "frames", ["memory.input.from"] = 80 }, whisper)
  local said = writes("moonshine", {}, { ["output.2.vocabulary.weight"] = "proj_out.weight" })
  local moonshine = plus({ seq = 128, d_model = 288, heads = 8, layers = 6, gated = true, activation = "silu",
    norm = "pre", eps = 1e-5, final_norm = true, ["bias.qkv"] = false, ["bias.out"] = false, ["bias.norm"] = false,
    mask = "causal padding", positions = "rope", rope_theta = 1e4, rope_style = "pairs", rope_dim = 32,
    ["input.stage"] = "tokens", ["input.vocab"] = 32768, ["inputs.ids"] = "decoder_input_ids",
    ["inputs.source_hidden"] = "input_values", ["memory.stage"] = "encoder", ["memory.seq"] = 1248,
    ["memory.layers"] = 6, ["memory.positions"] = "rope", ["memory.activation"] = "gelu", ["memory.gated"] = false,
    ["memory.input.stage"] = "hidden" }, said)
  local multilingual = { ["input.vocab"] = 250112, ["memory.input.vocab"] = 250112, d_ff = 1024, layers = 8, heads = 6,
    ["memory.layers"] = 8, head_dim = 64, gated = true, activation = "gelu_tanh" }
  local t5_encoder = { ["input.vocab"] = 250112, d_ff = 1024, layers = 8, heads = 6, head_dim = 64, gated = true,
    activation = "gelu_tanh" }
  return {
    bart = bart("bart", "ForConditionalGeneration", like(normed, { norm = "post" })),
    mbart = bart("mbart", "ForConditionalGeneration", like(normed, before)),
    pegasus = bart("pegasus", "ForConditionalGeneration", like(sines, before)),
    marian = bart("marian", "MTModel", like(sines, { norm = "post", ["input.vocab"] = 58101,
      ["memory.input.vocab"] = 58101 }), {
      { { decoder_vocab_size = 99 }, {} }, { { share_encoder_decoder_embeddings = false }, {} },
      { { decoder_vocab_size = 99, share_encoder_decoder_embeddings = false }, { ["input.vocab"] = 99 } } }),
    m2m_100 = bart("m2m_100", "ForConditionalGeneration", like(like(sines, before), { sinusoids = "fairseq",
      activation = "relu", first_position = 2, ["memory.first_position"] = 2, ["input.vocab"] = 128112,
      ["memory.input.vocab"] = 128112, ["input.scale"] = 32, ["memory.input.scale"] = 32 }), {
      { { pad_token_id = 4 }, { first_position = 5, ["memory.first_position"] = 5 } } }, true),
    whisper = { base = spoken, classes = { ForConditionalGeneration = { whisper } }, cases = {
      { { vocab_size = 99 }, { ["input.vocab"] = 99 } }, { { d_model = 256, decoder_attention_heads = 4 }, {
        d_model = 256, heads = 4, d_ff = 1536 } },
      { { hidden_size = 256, decoder_attention_heads = 4 }, { d_model = 256, heads = 4, d_ff = 1536 } },
      { { max_target_positions = 40 }, { seq = 40, max_position = 40 } },
      { { max_source_positions = 40 }, { ["memory.seq"] = 40 } },
      { { num_mel_bins = 128 }, { ["memory.input.from"] = 128 } }, { { median_filter_width = 9 }, {} },
      { { encoder_layers = 3 }, { ["memory.layers"] = 3 } }, { { num_hidden_layers = 3 }, { ["memory.layers"] = 3 } },
      { { encoder_attention_heads = 4 }, { ["memory.heads"] = 4 } },
      { { num_key_value_heads = 4 }, { ["memory.heads"] = 4 } },
      { { num_attention_heads = 4 }, { ["memory.heads"] = 4 } },
      { { encoder_ffn_dim = 100 }, { ["memory.d_ff"] = 100 } }, { { decoder_layers = 3 }, { layers = 3 } },
      { { decoder_attention_heads = 4 }, { heads = 4 } }, { { decoder_ffn_dim = 100 }, { d_ff = 100 } },
      { { activation_function = "relu" }, { activation = "relu" } }, { { scale_embedding = true }, {} },
      { { tie_word_embeddings = false }, { ["output.2.tied"] = false } } } },
    moonshine = { base = moonshine, classes = { ForConditionalGeneration = { said } }, cases = {
      { { vocab_size = 99 }, { ["input.vocab"] = 99 } },
      { { hidden_size = 256 }, { d_model = 256, d_ff = 1152, rope_dim = 28 } },
      { { intermediate_size = 100 }, { d_ff = 100 } }, { { max_position_embeddings = 40 }, { seq = 40 } },
      { { head_dim = 20 }, { head_dim = 20, rope_dim = 18 } }, { { attention_bias = true }, { ["bias.qkv"] = true } },
      { { partial_rotary_factor = 0.5 }, { rope_dim = 18 } }, { { rope_theta = 100 }, { rope_theta = 100 } },
      { { rope_parameters = { rope_theta = 50, partial_rotary_factor = 1 } }, { rope_theta = 50, rope_dim = NONE } },
      { { rope_scaling = { type = "linear", factor = 2 } }, { ["rope_scaling.type"] = "linear",
        ["rope_scaling.factor"] = 2 } }, { { original_max_position_embeddings = 20 }, {} },
      { { decoder_num_hidden_layers = 3 }, { layers = 3 } }, { { num_hidden_layers = 3 }, { layers = 3 } },
      { { encoder_num_hidden_layers = 3 }, { ["memory.layers"] = 3 } },
      { { decoder_num_attention_heads = 8 }, {} }, { { num_attention_heads = 8 }, {} },
      { { encoder_num_attention_heads = 8 }, {} }, { { decoder_num_key_value_heads = 8 }, {} },
      { { num_key_value_heads = 8 }, {} }, { { encoder_num_key_value_heads = 8 }, {} },
      { { decoder_hidden_act = "relu" }, { activation = "relu" } },
      { { hidden_act = "relu" }, { activation = "relu" } },
      { { encoder_hidden_act = "relu" }, { ["memory.activation"] = "relu" } },
      { { pad_head_dim_to_multiple_of = 8 }, {} },
      { { tie_word_embeddings = false }, { ["output.2.tied"] = false } } } },
    ["t5:writer"] = t5_family({}, 512 ^ -0.5),
    mt5 = t5_family(multilingual), ["mt5:encoder"] = encoder(t5_encoder),
    ["umt5:encoder"] = encoder(like(t5_encoder, { t5_by_layer = true })),
    umt5 = t5_family(like(multilingual, { t5_by_layer = true }), 512 ^ -0.5),
  }
end
