-- values_decoders: the part of values for families of decoders after Qwen 2. Returns a function that returns them by
-- model_type. Defaults are those of transformers 5.23.
local json = require("common.json")

return function(values)
  local parts, NONE = values.parts, values.NONE
  local like, plus, joined, output, listed = parts.like, parts.plus, parts.joined, parts.output, parts.listed

  -- The classes of a causal model: those of Llama that a family has, or others.
  local function classes(scheme, list, more)
    local all, result = parts.rope_classes(scheme), {}
    for _, word in ipairs(list) do result[word] = all[word] end
    return like(result, more or {})
  end

  local four = { "Model", "ForCausalLM", "ForSequenceClassification", "ForTokenClassification" }

  -- Embeddings that the output shares.
  local function tied(class) return { plus(class[1], { ["output.2.tied"] = NONE }) } end

  local function tied_classes(scheme, list, more)
    local result = classes(scheme, list, more)
    result.ForCausalLM = tied(result.ForCausalLM)
    return result
  end

  local function sliding(window) return { ["mask.1"] = "causal", ["mask.window"] = window - 1 .. " 0" } end

  -- Cases that all of them have. d: the base's d_model, heads, kv_heads and head_dim, and the name of its activation
  -- and eps keys; of(count): what a model of `count` layers has.
  local function common(d)
    local of = d.of or function(count) return { layers = count } end
    local list = {
      { { vocab_size = 99 }, { ["input.vocab"] = 99 } },
      { { hidden_size = 2 * d.width }, plus({ d_model = 2 * d.width }, d.of_wide or {}) },
      { { intermediate_size = 100 }, { d_ff = 100 } },
      { { num_hidden_layers = 3 }, of(3) },
      { { [d.activation or "hidden_act"] = "relu" }, { activation = "relu" } },
      { { max_position_embeddings = 40 }, { seq = 40 } },
      { { [d.eps or "rms_norm_eps"] = 1e-4 }, { eps = 1e-4 } },
      { { [d.theta or "rope_theta"] = 500.0 }, d.of_theta or { rope_theta = 500.0 } },
      { { tie_word_embeddings = not d.tied }, {} },
    }
    if not d.own_rope then
      list = joined(list, {
        { { rope_parameters = { rope_theta = 700.0, rope_type = "default" } }, { rope_theta = 700.0 } },
        { { original_max_position_embeddings = 8, rope_scaling = { rope_type = "longrope", short_factor = { 1.5 },
          long_factor = { 2.5 }, factor = 1.0 } }, { ["rope_scaling.type"] = "longrope", ["rope_scaling.original"] = 8,
          ["rope_scaling.short_factor"] = "1.5", ["rope_scaling.long_factor"] = "2.5" } },
      })
    end
    if d.same_heads then
      list[#list + 1] = { { num_attention_heads = 2 * d.heads }, plus({ heads = 2 * d.heads }, d.of_heads or {}) }
      return list
    end
    return joined(list, {
      { { num_attention_heads = 2 * d.heads, num_key_value_heads = 2 * d.heads, head_dim = 8 },
        plus({ heads = 2 * d.heads, kv_heads = NONE, head_dim = 8 }, d.of_narrow or {}) },
      { { num_key_value_heads = 1 }, { kv_heads = 1 } },
      { { num_key_value_heads = json.null }, { kv_heads = NONE } },
    })
  end

  local bias_case = { { attention_bias = true }, { ["bias.qkv"] = true, ["bias.out"] = true } }

  local function without_bias(base) return like(parts.rope, base) end

  parts.decoders = { classes = classes, tied_classes = tied_classes, sliding = sliding, common = common,
    bias_case = bias_case, without_bias = without_bias, four = four }

  local families = {}

  families.gpt_neox = {
    base = { seq = 128, d_model = 6144, heads = 64, layers = 44, activation = "gelu", norm = "pre",
      parallel = "two_norms", eps = 1e-5, final_norm = true, ["bias.qkv"] = true, ["bias.out"] = true,
      ["bias.ff"] = true, mask = "causal", positions = "rope", rope_theta = 10000.0, rope_dim = 24,
      ["input.stage"] = "tokens", ["input.vocab"] = 50432, ["inputs.ids"] = "input_ids",
      ["output.1.stage"] = "hidden", ["output.1.name"] = "last_hidden_state", names = "gpt_neox" },
    cases = joined(common { width = 6144, heads = 64, same_heads = true, eps = "layer_norm_eps",
      theta = "rotary_emb_base", of_wide = { d_ff = 24576, rope_dim = 48 }, of_heads = { rope_dim = 12 } }, {
      { { rotary_pct = 1.0 }, { rope_dim = NONE } }, { { rotary_pct = 0.5 }, { rope_dim = 48 } },
      { { rope_parameters = { rope_theta = 10000.0, partial_rotary_factor = 0.5 }, rotary_pct = 0.25 },
        { rope_dim = 48 } },
      { { attention_bias = false }, { ["bias.qkv"] = false, ["bias.out"] = false } },
      { { use_parallel_residual = false }, { parallel = NONE } },
      { { is_decoder = true }, {} },
    }),
    classes = classes("gpt_neox", { "Model", "ForSequenceClassification" }, {
      ForCausalLM = { plus(output({ parts.last, { "vocabulary", name = "logits", tied = false } }, "gpt_neox",
        { ["output.2.vocabulary.weight"] = "embed_out.weight lm_head.weight" }), { mask = "causal padding" }) },
      ForTokenClassification = parts.tokens("gpt_neox"), ForQuestionAnswering = parts.question("gpt_neox") }),
  }

  families.qwen3 = {
    base = without_bias { d_ff = 22016, ["input.vocab"] = 151936, qk_norm = "heads", names = "qwen3" },
    cases = joined(common { width = 4096, heads = 32, of_wide = { head_dim = 128 } }, { bias_case,
      { { head_dim = 64 }, { head_dim = 64 } },
      { { sliding_window = 5 }, {} },
      { { sliding_window = 5, use_sliding_window = true, max_window_layers = 2, num_hidden_layers = 3 },
        listed(3, function(i) return i == 3 and sliding(5) or {} end) },
      { { sliding_window = 5, use_sliding_window = true, num_hidden_layers = 2,
        layer_types = { "sliding_attention", "full_attention" } },
        listed(2, function(i) return i == 1 and sliding(5) or {} end) },
      { { is_causal = false }, { mask = "padding" } },
      { { is_causal = false, sliding_window = 5, use_sliding_window = true, max_window_layers = 0 },
        { mask = NONE, ["mask.1"] = "padding", ["mask.window"] = "5 5" } },
    }),
    classes = parts.rope_classes("qwen3"),
  }

  local gemma = without_bias { d_model = 3072, heads = 16, layers = 28, head_dim = 256, d_ff = 24576,
    activation = "gelu_tanh", ["input.vocab"] = 256000, ["input.scale"] = math.sqrt(3072), names = "gemma" }

  families.gemma = {
    base = gemma,
    cases = joined(common { width = 3072, heads = 16, tied = true,
      of_wide = { ["input.scale"] = math.sqrt(6144), d_ff = NONE } }, { bias_case,
      { { head_dim = 192 }, { head_dim = NONE } }, { { hidden_act = "gelu" }, {} },
      { { hidden_act = "gelu_python" }, { activation = "gelu" } },
      { { hidden_activation = json.null, use_bidirectional_attention = json.null }, {} },
    }),
    classes = tied_classes("gemma", four),
  }
  families.gemma.base.kv_heads = nil

  -- Windows in the layers that `slides` says, as many as the base has.
  local function windows(count, slides, more)
    local result = {}
    for i = 1, count do
      for key, value in pairs(slides(i) and sliding(4096) or more or {}) do
        result[("layers.%d.%s"):format(i, key)] = value
      end
    end
    return result
  end

  local function odd(i) return i % 2 == 1 end

  local of_caps = { { final_logit_softcapping = 20.0, architectures = { "Gemma2ForCausalLM" } },
    plus(output({ parts.last, { "vocabulary", name = "logits", softcap = 20.0 } }, "gemma2",
      { ["output.2.vocabulary.weight"] = "lm_head.weight" }),
      { ["output.1.name"] = NONE, mask = "causal padding" }) }
  for i = 1, 26, 2 do of_caps[2][("layers.%d.mask.1"):format(i)] = NONE end
  for i = 1, 26, 2 do
    of_caps[2][("layers.%d.mask.1"):format(i)], of_caps[2][("layers.%d.mask.2"):format(i)] = "causal", "padding"
  end

  local gemma2 = like(gemma, plus(windows(26, odd), { d_model = 2304, heads = 8, kv_heads = 4, layers = NONE,
    d_ff = NONE, ["input.scale"] = 48.0, norm = "sandwich", scale = 1 / 16, softcap = 50.0, names = "gemma2" }))

  -- The masks of layers with a window where the model pools the last rows of padded sequences.
  local function padded(count, slides)
    local result = {}
    for i = 1, count do
      if slides(i) then result[("layers.%d.mask.2"):format(i)] = "padding" end
    end
    return result
  end

  -- The classes of a tied model with windows in some layers.
  local function of_windows(list, count, slides, cap)
    for word, class in pairs(list) do
      if class[1].mask == "causal padding" then list[word] = { plus(class[1], padded(count, slides)) } end
    end
    if cap then list.ForCausalLM[1]["output.2.softcap"] = cap end
    return list
  end

  families.gemma2 = {
    base = gemma2,
    cases = joined(common { width = 2304, heads = 8, tied = true, activation = "hidden_activation",
      of_wide = { ["input.scale"] = math.sqrt(4608), d_ff = 9216 },
      of = function(count) return listed(count, function(i) return odd(i) and sliding(4096) or {} end) end }, {
      bias_case,
      { { head_dim = 288 }, { head_dim = NONE } },
      { { query_pre_attn_scalar = 144 }, { scale = 1 / 12 } },
      { { sliding_window = 5 }, listed(26, function(i) return odd(i) and sliding(5) or {} end) },
      { { sliding_window = json.null }, plus(listed(0), { layers = 26 }) },
      { { num_hidden_layers = 2, layer_types = { "full_attention", "sliding_attention" } },
        listed(2, function(i) return i == 2 and sliding(4096) or {} end) },
      { { attn_logit_softcapping = json.null }, { softcap = NONE } },
      { { attn_logit_softcapping = 20.0 }, { softcap = 20.0 } },
      of_caps, { { hidden_act = "gelu_pytorch_tanh" }, {} },
    }),
    classes = of_windows(tied_classes("gemma2", four), 26, odd, 30.0),
  }

  local function but_sixth(i) return i % 6 ~= 0 end

  local of_full = { rope_theta = 1e6 }
  local gemma3 = like(gemma2, plus(listed(0), plus(windows(26, but_sixth, of_full), { layers = NONE, softcap = NONE,
    qk_norm = "heads", ["input.vocab"] = 262208, names = "gemma3" })))

  -- Layers with windows but every nth.
  local function pattern(n, window, full)
    return function(i) return i % n ~= 0 and sliding(window or 4096) or full or of_full end
  end

  -- All layers without a window, those of the others' base marked.
  local function bases(full) return listed(26, function(i) return but_sixth(i) and {} or full or of_full end) end

  local gemma3_classes = tied_classes("gemma3", { "Model", "ForCausalLM", "ForSequenceClassification" })
  local gemma3_heads = { Model = gemma3_classes.Model, TextModel = gemma3_classes.Model,
    ForCausalLM = gemma3_classes.ForCausalLM, ForConditionalGeneration = { plus(gemma3_classes.ForCausalLM[1], {}) },
    TextForSequenceClassification = gemma3_classes.ForSequenceClassification }

  families.gemma3_text = {
    base = gemma3,
    cases = joined(common { width = 2304, heads = 8, tied = true, activation = "hidden_activation", own_rope = true,
      of_wide = { ["input.scale"] = math.sqrt(4608), d_ff = 9216 },
      of = function(count) -- all with a window
        return plus(listed(0), { layers = count, mask = NONE, ["mask.1"] = "causal", ["mask.window"] = "4095 0" })
      end,
      of_theta = listed(26, pattern(6, 4096, { rope_theta = 500.0 })) }, { bias_case,
      { { head_dim = 288 }, { head_dim = NONE } },
      { { query_pre_attn_scalar = 144 }, { scale = 1 / 12 } },
      { { sliding_window = 5 }, listed(26, pattern(6, 5)) },
      { { sliding_window = json.null }, bases() },
      { { use_bidirectional_attention = true, sliding_window = 512 }, plus({ mask = "padding" },
        listed(26, function(i)
          return but_sixth(i) and { ["mask.1"] = "padding", ["mask.window"] = "256 256" } or of_full
        end)) },
      { { use_bidirectional_attention = true, is_causal = false, sliding_window = 512 }, plus({ mask = "padding" },
        listed(26, function(i)
          return but_sixth(i) and { ["mask.1"] = "padding", ["mask.window"] = "257 257" } or of_full
        end)) },
      { { sliding_window_pattern = 2 }, listed(26, pattern(2)) },
      { { num_hidden_layers = 2, layer_types = { "full_attention", "full_attention" } },
        plus(listed(0), { layers = 2, rope_theta = 1e6 }) },
      { { num_hidden_layers = 2, layer_types = { "full_attention", "sliding_attention" } },
        plus(listed(2, function(i) return i == 2 and plus(sliding(4096), { rope_theta = 1e4 }) or {} end),
          { rope_theta = 1e6 }) },
      { { rope_local_base_freq = 700.0 }, { rope_theta = 700.0 } },
      { { rope_scaling = { type = "linear", factor = 8.0 } }, {} },
      { { rope_scaling = { rope_type = "yarn", factor = 8.0, truncate = false } }, listed(26, pattern(6, 4096, {
        rope_theta = 1e6, ["rope_scaling.type"] = "yarn", ["rope_scaling.factor"] = 8.0,
        ["rope_scaling.original"] = 131072, ["rope_scaling.beta_fast"] = 32.0, ["rope_scaling.beta_slow"] = 1.0 })) },
      { { rope_scaling = { rope_type = "linear", factor = 8.0 } }, listed(26, pattern(6, 4096, { rope_theta = 1e6,
        ["rope_scaling.type"] = "linear", ["rope_scaling.factor"] = 8.0 })) },
      { { rope_parameters = { sliding_attention = { rope_theta = 300.0, rope_type = "default" },
        full_attention = { rope_theta = 600.0, rope_type = "linear", factor = 2.0 } } },
        plus(listed(26, pattern(6, 4096, { rope_theta = 600.0, ["rope_scaling.type"] = "linear",
          ["rope_scaling.factor"] = 2.0 })), { rope_theta = 300.0 }) },
      { { original_max_position_embeddings = 64 }, {} },
      { { attn_logit_softcapping = 20.0, final_logit_softcapping = json.null }, {} },
    }),
    classes = of_windows(gemma3_heads, 26, but_sixth),
  }

  local half_biased = { ["bias.qkv"] = true, ["bias.out"] = true, ["bias.ff"] = true }

  families.phi = {
    base = like(like(families.gpt_neox.base, { ["bias.qkv"] = NONE, ["bias.out"] = NONE, ["bias.ff"] = NONE }), {
      d_model = 2048, heads = 32, layers = 24, activation = "gelu_tanh", parallel = "one_norm", rope_dim = 32,
      ["input.vocab"] = 51200, names = "phi" }),
    cases = joined(common { width = 2048, heads = 32, eps = "layer_norm_eps",
      of_wide = { d_ff = 8192, rope_dim = 64 }, of_narrow = { rope_dim = 4 } }, {
      { { head_dim = 32 }, { head_dim = 32, rope_dim = 16 } },
      { { partial_rotary_factor = 1.0 }, { rope_dim = NONE } }, { { partial_rotary_factor = 0.76 }, { rope_dim = 48 } },
      { { qk_layernorm = true }, { qk_norm = "heads" } },
    }),
    classes = classes("phi", four, {
      ForCausalLM = { plus(output({ parts.last, { "vocabulary", name = "logits", tied = false, bias = true } }, "phi",
        { ["output.2.vocabulary.weight"] = "lm_head.weight", ["output.2.vocabulary.bias"] = "lm_head.bias" }),
        { mask = "causal padding" }) } }),
  }

  families.phi3 = {
    base = without_bias { d_model = 3072, d_ff = 8192, eps = 1e-5, ["input.vocab"] = 32064, names = "phi3" },
    cases = joined(common { width = 3072, heads = 32, of_wide = {} }, {
      { { head_dim = 64 }, { head_dim = 64 } },
      { { partial_rotary_factor = 0.75 }, { rope_dim = 72 } },
      { { sliding_window = 5 }, { mask = NONE, ["mask.1"] = "causal", ["mask.window"] = "4 0" } },
      { { sliding_window = json.null }, {} },
      { { sliding_window = 262144 }, { mask = NONE, ["mask.1"] = "causal", ["mask.window"] = "32767 0" } },
      { { attention_bias = false, auto_map = { AutoConfig = "configuration_phi3.Phi3Config" } }, {} },
      { { rope_scaling = { type = "su", short_factor = { 1.5 }, long_factor = { 2.5 }, factor = 1.0 } },
        { ["rope_scaling.type"] = "longrope", ["rope_scaling.original"] = 4096,
          ["rope_scaling.short_factor"] = "1.5", ["rope_scaling.long_factor"] = "2.5" } },
    }),
    classes = classes("phi3", four),
  }

  local function fourth(i) return i % 4 == 0 and { rope_dim = 0 } or {} end

  families.smollm3 = {
    base = without_bias(plus((function()
      local result = {}
      for i = 4, 36, 4 do result[("layers.%d.rope_dim"):format(i)] = 0 end
      return result
    end)(), { d_model = 2048, heads = 16, kv_heads = 4, layers = NONE, rope_theta = 2e6, ["input.vocab"] = 128256,
      names = "smollm3" })),
    cases = joined(common { width = 2048, heads = 16, tied = true, of_wide = {},
      of = function(count) return plus(listed(0), { layers = count }) end }, { bias_case,
      { { mlp_bias = true }, { ["bias.ff"] = true } },
      { { head_dim = 64 }, { head_dim = 64 } },
      { { no_rope_layer_interval = 2 }, listed(36, function(i) return i % 2 == 0 and { rope_dim = 0 } or {} end) },
      { { num_hidden_layers = 3, no_rope_layers = { 0, 1, 1 } },
        listed(3, function(i) return i == 1 and { rope_dim = 0 } or {} end) },
      { { sliding_window = 5 }, {} },
      { { sliding_window = 5, use_sliding_window = true }, listed(36, function(i)
        return i % 4 == 0 and plus(fourth(i), sliding(5)) or {}
      end) },
      { { num_hidden_layers = 2, sliding_window = 5, use_sliding_window = true,
        layer_types = { "sliding_attention", "full_attention" } },
        listed(2, function(i) return i == 1 and sliding(5) or {} end) },
    }),
    classes = tied_classes("smollm3", { "Model", "ForCausalLM", "ForSequenceClassification", "ForTokenClassification",
      "ForQuestionAnswering" }),
  }

  families.olmo2 = {
    base = without_bias { norm = "res_post", qk_norm = "all", eps = 1e-5, ["input.vocab"] = 50304, names = "olmo2" },
    cases = joined(common { width = 4096, heads = 32, of_wide = {} }, { bias_case,
      { { head_dim = 64 }, { head_dim = 64 } } }),
    classes = classes("olmo2", { "Model", "ForCausalLM", "ForSequenceClassification" }),
  }

  local logits = classes("granite", { "ForCausalLM" }).ForCausalLM[1]

  families.granite = {
    base = without_bias { scale = 1.0, names = "granite" },
    cases = joined(common { width = 4096, heads = 32, of_wide = {} }, { bias_case,
      { { mlp_bias = true }, { ["bias.ff"] = true } },
      { { head_dim = 64 }, { head_dim = 64 } },
      { { embedding_multiplier = 12.0 }, { ["input.scale"] = 12.0 } },
      { { residual_multiplier = 0.22 }, { residual_scale = 0.22 } },
      { { attention_multiplier = 0.0078125 }, { scale = 0.0078125 } },
      { { logits_scaling = 8.0 }, {} },
      { { logits_scaling = 8.0, architectures = { "GraniteForCausalLM" } },
        plus(logits, { ["output.1.name"] = NONE, ["output.2.scale"] = 0.125 }) },
    }),
    classes = classes("granite", { "Model", "ForCausalLM" }),
  }

  families.starcoder2 = {
    base = like(like(families.gpt_neox.base, half_biased), { d_model = 3072, heads = 24, kv_heads = 2, layers = 30,
      activation = "gelu_tanh", parallel = NONE, rope_dim = NONE, ["input.vocab"] = 49152, names = "starcoder2" }),
    cases = joined(common { width = 3072, heads = 24, tied = true, eps = "norm_epsilon", of_wide = { d_ff = 12288 } }, {
      { { head_dim = 64 }, { head_dim = 64 } },
      { { use_bias = false }, { ["bias.qkv"] = false, ["bias.out"] = false, ["bias.ff"] = false } },
      { { sliding_window = 5 }, { mask = NONE, ["mask.1"] = "causal", ["mask.window"] = "4 0" } },
      { { sliding_window = 4096 }, { mask = NONE, ["mask.1"] = "causal", ["mask.window"] = "4095 0" } },
      { { sliding_window = json.null }, {} },
    }),
    classes = tied_classes("starcoder2", four),
  }
  return families
end
