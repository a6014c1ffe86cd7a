-- values_hybrids: the part of values for families whose layers differ in kind: LFM2, Gemma 3n and 4. Returns a function
-- that returns them by model_type. Defaults are those of transformers 5.24.
local json = require("common.json")

return function(values)
  local parts, NONE = values.parts, values.NONE
  local like, plus, joined, output = parts.like, parts.plus, parts.joined, parts.output
  local d = parts.decoders

  -- A list of layers, of which of_layer(i) has what differs. It takes the place of a base's list or number.
  local function listed(count, of_layer)
    local result = { layers = NONE }
    for i = 1, 40 do
      for key in pairs { ["mask.1"] = 1, ["mask.window"] = 1, head_dim = 1, kv_heads = 1, rope_theta = 1, values = 1,
        ["rope_scaling.type"] = 1, ["rope_scaling.rotated"] = 1, ["rope_scaling.factor"] = 1, experts = 1,
        gate_sparsity = 1, keys_of = 1, d_ff = 1 } do
        result[("layers.%d.%s"):format(i, key)] = NONE
      end
      for key, value in pairs(i <= count and of_layer(i) or {}) do result[("layers.%d.%s"):format(i, key)] = value end
    end
    return result
  end

  -- The case of a list of layers.
  local function case(config, count, of_layer, more)
    return { plus(config, { num_hidden_layers = count }), plus(listed(count, of_layer), more or {}) }
  end

  local function tied(scheme, more)
    return { plus(output({ parts.last, { "vocabulary", name = "logits", tied = true } }, scheme,
      { ["output.2.vocabulary.weight"] = "lm_head.weight" }),
      plus({ mask = "causal padding", ["output.2.tied"] = NONE }, more or {})) }
  end

  local families = {}

  -- LFM2: layers without an attention.
  local convolves = { short_conv = 3 }
  local types = { "conv", "full_attention" }
  local function alternating(own) return function(i) return i == 1 and own or {} end end

  local function cases(width, more)
    return joined({
      { { vocab_size = 99 }, { ["input.vocab"] = 99 } },
      { { hidden_size = 2 * width }, { d_model = 2 * width } },
      { { num_attention_heads = 16 }, { heads = 16 } },
      { { num_hidden_layers = 3 }, { layers = 3 } },
      { { num_key_value_heads = 4 }, { kv_heads = 4 } },
      { { num_key_value_heads = json.null }, { kv_heads = NONE } },
      { { head_dim = 96 }, { head_dim = 96 } },
      { { max_position_embeddings = 40 }, { seq = 40 } },
      { { norm_eps = 1e-4 }, { eps = 1e-4 } },
      { { rope_theta = 500.0 }, { rope_theta = 500.0 } },
      { { rope_parameters = { rope_theta = 700.0, rope_type = "default" } }, { rope_theta = 700.0 } },
      { { original_max_position_embeddings = 8, rope_scaling = { rope_type = "linear", factor = 2.0 } },
        { ["rope_scaling.type"] = "linear", ["rope_scaling.factor"] = 2.0 } },
      { { tie_word_embeddings = false }, {} }, { { tie_embedding = false }, {} },
    }, more)
  end

  local function base(more)
    return like(d.without_bias { heads = 32, kv_heads = 8, eps = 1e-5, rope_theta = 1e6, qk_norm = "heads",
      ["input.vocab"] = 65536 }, more)
  end

  families.lfm2 = {
    base = base { d_model = 2560, d_ff = 8192, names = "lfm2" },
    cases = cases(2560, {
      { { intermediate_size = 3000 }, { d_ff = 2048 } }, { { block_ff_dim = 3000 }, { d_ff = 2048 } },
      { { block_ffn_dim_multiplier = 0.5 }, { d_ff = 4096 } },
      { { block_ffn_dim_multiplier = json.null, intermediate_size = 100 }, { d_ff = 66 } },
      { { block_multiple_of = 5000 }, { d_ff = 10000 } },
      { { block_auto_adjust_ff_dim = false }, { d_ff = 12288 } },
      case({ layer_types = types }, 2, alternating(convolves)),
      case({ layer_types = types, conv_L_cache = 5 }, 2, alternating { short_conv = 5 }),
      case({ layer_types = types, conv_bias = true }, 2, alternating { short_conv = 3, ["bias.qkv"] = true,
        ["bias.out"] = true, ["bias.ff"] = false }),
      case({ full_attn_idxs = { 1 } }, 2, alternating(convolves)),
    }),
    classes = { Model = d.classes("lfm2", { "Model" }).Model, ForCausalLM = tied "lfm2" },
  }

  local of_experts = { ["experts.count"] = 32, ["experts.used"] = 4, ["experts.d_ff"] = 1792,
    ["experts.router"] = "sigmoid", ["experts.correction"] = true, ["experts.normalise"] = true,
    ["experts.sum_eps"] = 1e-6, ["experts.factor"] = 1.0 }
  local function dense(count)
    return function(i) return i <= count and { experts = false } or {} end
  end

  local moe = base(plus(of_experts, { d_model = 2048, d_ff = 7168, names = "lfm2_moe" }))
  local all = cases(2048, {
    { { intermediate_size = 3000 }, { d_ff = 3000 } },
    { { num_experts = 20 }, { ["experts.count"] = 20 } }, { { num_local_experts = 30 }, { ["experts.count"] = 30 } },
    { { num_experts_per_tok = 3 }, { ["experts.used"] = 3 } },
    { { moe_intermediate_size = 44 }, { ["experts.d_ff"] = 44 } },
    { { norm_topk_prob = false }, { ["experts.normalise"] = false } },
    { { use_expert_bias = false }, { ["experts.correction"] = false } },
    { { routed_scaling_factor = 2.0 }, { ["experts.factor"] = 2.0 } },
    case({ num_dense_layers = 1, layer_types = types }, 2, alternating(plus(convolves, { experts = false }))),
    case({ num_dense_layers = 0, layer_types = types, conv_L_cache = 5, conv_bias = true }, 2, alternating {
      short_conv = 5, ["bias.qkv"] = true, ["bias.out"] = true, ["bias.ff"] = false }),
  })
  for _, each in ipairs(all) do
    if each[1].num_hidden_layers == 3 then each[2] = listed(3, dense(2)) end
  end
  families.lfm2_moe = { base = like(moe, listed(32, dense(2))), cases = all,
    classes = { Model = d.classes("lfm2_moe", { "Model" }).Model, ForCausalLM = tied "lfm2_moe" } }

  -- Gemma 4: every sixth layer has no window and wider heads.
  local full = { head_dim = 512, rope_theta = 1e6, ["rope_scaling.type"] = "proportional",
    ["rope_scaling.rotated"] = 128 }
  local function sixths(window, of_full, of_sliding)
    return function(i)
      if i % 6 == 0 then return of_full or full end
      return plus(window and d.sliding(window) or {}, of_sliding or {})
    end
  end
  local function thirty(...) return listed(30, sixths(...)) end
  -- Two layers, the first with a window, in all six configurations of which heads differ.
  local short = { layer_types = { "sliding_attention", "full_attention" } }
  local function pair(config, of_full)
    return case(plus(short, config), 2, function(i) return i == 1 and d.sliding(512) or of_full end)
  end

  local gemma4 = like(d.without_bias {}, plus(thirty(512), { d_model = 2304, heads = 8, kv_heads = 4, head_dim = 256,
    d_ff = NONE, activation = "gelu_tanh", norm = "sandwich", scale = 1.0, qk_norm = "heads", values = "normed",
    layer_scale = true, layer_inputs = 256, ["input.vocab"] = 262144, ["input.scale"] = 48.0, names = "gemma4" }))

  local padded = { mask = "causal padding" }
  for i = 1, 30 do if i % 6 ~= 0 then padded[("layers.%d.mask.2"):format(i)] = "padding" end end
  local causal = tied("gemma4", padded)
  local model = d.classes("gemma4", { "Model" }).Model

  local mixture = { enable_moe_block = true, num_experts = 5, top_k_experts = 2, moe_intermediate_size = 704 }
  local of_mixture = { ["experts.count"] = 5, ["experts.used"] = 2, ["experts.d_ff"] = 704, ["experts.shared"] = 9216,
    ["experts.own_norms"] = true, ["experts.scales"] = true }

  families.gemma4_text = {
    base = gemma4,
    cases = {
      { { vocab_size = 99, vocab_size_per_layer_input = 99 }, { ["input.vocab"] = 99 } },
      { { hidden_size = 4608 }, { d_model = 4608, d_ff = 9216, ["input.scale"] = math.sqrt(4608) } },
      { { intermediate_size = 100 }, { d_ff = 100 } },
      { { num_attention_heads = 16 }, { heads = 16 } },
      { { num_key_value_heads = 2 }, { kv_heads = 2 } },
      { { head_dim = 128 }, { head_dim = 128 } },
      pair({}, full),
      { { hidden_activation = "relu" }, { activation = "relu" } },
      { { max_position_embeddings = 40 }, { seq = 40 } },
      { { rms_norm_eps = 1e-4 }, { eps = 1e-4 } },
      { { tie_word_embeddings = false }, {} }, d.bias_case,
      { { sliding_window = 5 }, thirty(5) },
      { { sliding_window = json.null }, thirty(nil) },
      { { final_logit_softcapping = 20.0 }, {} },
      { { use_bidirectional_attention = "vision" }, {} },
      { { use_bidirectional_attention = "all" }, plus({ mask = "padding" }, listed(30, function(i)
        return i % 6 == 0 and full or { ["mask.1"] = "padding", ["mask.window"] = "256 256" }
      end)) },
      { { rope_parameters = { sliding_attention = { rope_theta = 300.0, rope_type = "default" },
        full_attention = { rope_theta = 600.0, rope_type = "proportional", partial_rotary_factor = 0.5,
          factor = 2.0 } } },
        plus(thirty(512, { head_dim = 512, rope_theta = 600.0, ["rope_scaling.type"] = "proportional",
          ["rope_scaling.rotated"] = 256, ["rope_scaling.factor"] = 2.0 }), { rope_theta = 300.0 }) },
      pair({ global_head_dim = 64 }, plus(full, { head_dim = 64, ["rope_scaling.rotated"] = 16 })),
      pair({ num_global_key_value_heads = 2 }, full),
      pair({ num_global_key_value_heads = 2, attention_k_eq_v = true }, plus(full, { kv_heads = 2, values = "keys" })),
      pair({ per_layer_config = { ["1"] = { head_dim = 64, num_key_value_heads = 1 } } },
        plus(full, { head_dim = 64, kv_heads = 1, ["rope_scaling.rotated"] = 16 })),
      { { hidden_size_per_layer_input = 0 }, { layer_inputs = NONE } },
      { mixture, of_mixture }, { plus(mixture, { num_experts = 7 }), plus(of_mixture, { ["experts.count"] = 7 }) },
      case(plus(mixture, { num_kv_shared_layers = 2, use_double_wide_mlp = true, layer_types = { "sliding_attention",
        "full_attention", "sliding_attention", "full_attention" } }), 4, function(i)
        local wide = { keys_of = i - 3, d_ff = 18432, ["experts.count"] = 5, ["experts.used"] = 2,
          ["experts.d_ff"] = 704, ["experts.shared"] = 18432, ["experts.own_norms"] = true, ["experts.scales"] = true }
        return plus(i % 2 == 1 and d.sliding(512) or full, i > 2 and wide or {})
      end, of_mixture),
      case({ num_kv_shared_layers = 2, use_double_wide_mlp = true, layer_types = { "sliding_attention",
        "full_attention", "sliding_attention", "full_attention" } }, 4, function(i)
        local shared = i > 2 and { keys_of = i - 3, d_ff = 18432 } or {}
        return plus(i % 2 == 1 and d.sliding(512) or full, shared)
      end),
    },
    classes = { Model = model, TextModel = model, ForCausalLM = causal, ForConditionalGeneration = causal },
  }

  -- Gemma 3n: every fifth layer has no window, the first ten have sparse gates, the last fifteen share keys.
  local function fifths(window)
    return listed(35, function(i)
      local own = i % 5 == 0 and { rope_theta = 1e6 } or window and d.sliding(window) or {}
      return plus(own, { gate_sparsity = i <= 10 and 0.95 or nil,
        keys_of = i > 20 and (i % 5 == 0 and 19 or 18) or nil })
    end)
  end
  -- The names of the layers' tables, in which tokens from `count` on have the first row; 0: no such names.
  local function names_of(count)
    local result, path = { names = "gemma3n", ["names.1"] = NONE }, "names.input.layers_tokens.weight."
    if count > 0 then result = { names = NONE, ["names.1"] = "gemma3n" } end
    for i, prefix in ipairs { "model.", "model.language_model.", "" } do
      local name = prefix .. "embed_tokens_per_layer.weight"
      for piece = 1, 2 do result[("%s%d.%d"):format(path, piece, i)] = count > 0 and name or NONE end
    end
    result[path .. "join"], result[path .. "1.count"] = count > 0 and "rows" or NONE, count > 0 and count or NONE
    result[path .. "2.row"] = count > 0 and 0 or NONE
    return result
  end
  local two = { num_kv_shared_layers = 0, layer_types = { "sliding_attention", "full_attention" } }
  local function of_two(config, of_first, more, of_second)
    return case(plus(two, config), 2, function(i)
      return i == 1 and plus(d.sliding(512), of_first or {}) or plus({ rope_theta = 1e6 }, of_second or {})
    end, more)
  end
  local padded_too = plus(names_of(262144), { mask = "causal padding", ["output.2.softcap"] = 30.0 })
  for i = 1, 35 do if i % 5 ~= 0 then padded_too[("layers.%d.mask.2"):format(i)] = "padding" end end
  local writer, states = tied("gemma3n", padded_too), { plus(model[1], names_of(262144)) }

  families.gemma3n_text = {
    base = like(d.without_bias {}, plus(plus(fifths(512), names_of(262144)), { d_model = 2048, heads = 8, kv_heads = 2,
      d_ff = 16384, activation = "gelu_tanh", norm = "sandwich", scale = 1.0, qk_norm = "heads", values = "normed",
      layer_inputs = 256, residual_rank = 64, ["streams.count"] = 4, ["streams.active"] = 0, ["streams.scaled"] = true,
      ["input.vocab"] = 262400, ["input.scale"] = math.sqrt(2048) })),
    cases = {
      { { vocab_size = 99, vocab_size_per_layer_input = 99 }, plus({ ["input.vocab"] = 99 }, names_of(0)) },
      { { vocab_size_per_layer_input = 70 }, names_of(70) },
      { { hidden_size = 4096 }, { d_model = 4096, d_ff = NONE, head_dim = 256, ["input.scale"] = 64.0 } },
      { { intermediate_size = 100 }, { d_ff = 100 } },
      of_two({ intermediate_size = { 100, 200 } }, {}, { d_ff = 100 }, { d_ff = 200 }),
      of_two({ intermediate_size = { 100, 100 } }, {}, { d_ff = 100 }),
      { { num_attention_heads = 16 }, { heads = 16, head_dim = 256 } },
      { { num_key_value_heads = 4 }, { kv_heads = 4 } },
      { { head_dim = 128 }, { head_dim = 128 } },
      { { hidden_activation = "relu" }, { activation = "relu" } },
      { { max_position_embeddings = 40 }, { seq = 40 } },
      { { rms_norm_eps = 1e-4 }, { eps = 1e-4 } },
      { { tie_word_embeddings = false }, {} }, d.bias_case,
      { { sliding_window = 5 }, fifths(5) }, { { sliding_window = json.null }, fifths(nil) },
      { { final_logit_softcapping = 20.0 }, {} },
      { { hidden_size_per_layer_input = 16 }, { layer_inputs = 16 } },
      { { laurel_rank = 8 }, { residual_rank = 8 } },
      { { altup_num_inputs = 2 }, { ["streams.count"] = 2 } }, { { altup_active_idx = 1 }, { ["streams.active"] = 1 } },
      { { altup_correct_scale = false }, { ["streams.scaled"] = false } },
      of_two({}), of_two({ activation_sparsity_pattern = { 0.5, 0.0 } }, { gate_sparsity = 0.5 }),
      of_two({ rope_theta = 500.0 }, {}, {}, { rope_theta = 500.0 }),
      of_two({ rope_local_base_freq = 50.0 }, {}, { rope_theta = 50.0 }),
      of_two({ rope_scaling = { rope_type = "linear", factor = 2.0 } }, {}, {}, { ["rope_scaling.type"] = "linear",
        ["rope_scaling.factor"] = 2.0 }),
      of_two({ rope_parameters = { sliding_attention = { rope_theta = 300.0, rope_type = "default" },
        full_attention = { rope_theta = 600.0, rope_type = "default" } } }, {}, { rope_theta = 300.0 },
        { rope_theta = 600.0 }),
    },
    classes = { Model = states, TextModel = states, ForCausalLM = writer, ForConditionalGeneration = writer },
  }
  return families
end
