-- values_later: the part of values for families of decoders with other parts than Llama's: ALiBi, parallel parts, heads
-- of tensors that are joined. Returns a function that returns them by model_type. Defaults are those of transformers
-- 5.24.
local json = require("common.json")

return function(values)
  local parts, NONE = values.parts, values.NONE
  local like, plus, joined, output, listed = parts.like, parts.plus, parts.joined, parts.output, parts.listed
  local d = parts.decoders
  local common, classes, tied_classes, sliding = d.common, d.classes, d.tied_classes, d.sliding

  local function biases(qkv, out, ff) return { ["bias.qkv"] = qkv, ["bias.out"] = out, ["bias.ff"] = ff } end

  -- The logits of all of a vocabulary's tokens.
  local function logits(scheme, more)
    return { plus(output({ parts.last, plus({ "vocabulary", name = "logits" }, more or {}) }, scheme,
      { ["output.2.vocabulary.weight"] = "lm_head.weight" }), { mask = "causal padding" }) }
  end

  -- The classes of families that began with GPT-2.
  local function gpt_classes(scheme)
    return tied_classes(scheme, { "Model", "ForCausalLM", "ForSequenceClassification" },
      { ForTokenClassification = parts.tokens(scheme), ForQuestionAnswering = parts.question(scheme) })
  end

  -- A model that began with GPT-2. more: what else it has.
  local function gpt(scheme, more)
    return like({ seq = 128, norm = "pre", eps = 1e-5, final_norm = true, mask = "causal", ["input.stage"] = "tokens",
      ["inputs.ids"] = "input_ids", ["output.1.stage"] = "hidden", ["output.1.name"] = "last_hidden_state",
      names = scheme }, more)
  end

  -- Cases of each name of a size; names: key of a description -> its names in config.json.
  local function sizes(names, more)
    local list = {}
    for key, words in pairs(names) do
      for word in words:gmatch("%S+") do
        list[#list + 1] = { { [word] = key == "d_model" and 1920 or 40 }, plus(
          { [key] = key == "d_model" and 1920 or 40 }, more and more[key] or {}) }
      end
    end
    return joined(list, { { { vocab_size = 99 }, { ["input.vocab"] = 99 } }, { { tie_word_embeddings = false }, {} } })
  end

  local eps_case = { { layer_norm_epsilon = 1e-4 }, { eps = 1e-4 } }
  local families = {}

  families.opt = {
    base = gpt("opt", plus(biases(true, true, true), { d_model = 768, heads = 12, layers = 12, activation = "relu",
      positions = "learned", first_position = 2, max_position = 2050, ["input.vocab"] = 50272 })),
    cases = joined(sizes({ heads = "num_attention_heads", layers = "num_hidden_layers", d_ff = "ffn_dim" }), {
      { { hidden_size = 384 }, { d_model = 384, d_ff = 3072 } },
      { { max_position_embeddings = 40 }, { seq = 40, max_position = 42 } },
      { { activation_function = "gelu" }, { activation = "gelu" } },
      { { do_layer_norm_before = false }, { norm = "post", final_norm = NONE } },
      { { _remove_final_layer_norm = true }, { final_norm = NONE } },
      { { enable_bias = false }, biases(false, false, false) },
      { { word_embed_proj_dim = 768 }, {} },
      { { word_embed_proj_dim = 512 }, plus(output({ { "linear", to = 512, bias = false, name = "last_hidden_state" } },
        "opt", { ["output.1.linear"] = "model.decoder.project_out decoder.project_out" }),
        { ["input.width"] = 512, ["input.projected"] = "before_positions" }) },
      { { layer_norm_elementwise_affine = true }, {} },
    }),
    classes = tied_classes("opt", { "Model", "ForCausalLM", "ForSequenceClassification", "ForQuestionAnswering" }),
  }

  families.bloom = {
    base = gpt("bloom", { d_model = 64, heads = 8, layers = 2, activation = "gelu_tanh", positions = "alibi",
      ["input.vocab"] = 250880, ["input.norm"] = true }),
    cases = joined(sizes { d_model = "n_embed hidden_size", layers = "n_layer num_hidden_layers",
      heads = "n_head num_attention_heads", seq = "seq_length" }, { eps_case }),
    classes = gpt_classes("bloom"),
  }

  local alibi = { positions = "alibi", rope_theta = NONE, alibi_factor = 0.125 }
  families.falcon = {
    base = gpt("falcon", plus(biases(false, false, false), { d_model = 4544, heads = 71, kv_heads = 1, layers = 32,
      activation = "gelu", parallel = "one_norm", positions = "rope", rope_theta = 10000, ["input.vocab"] = 65024 })),
    cases = joined(sizes { d_model = "n_embed hidden_size", layers = "num_hidden_layers", heads = "num_attention_heads",
      d_ff = "ffn_hidden_size", seq = "max_position_embeddings" }, { eps_case,
      { { activation = "relu" }, { activation = "relu" } },
      { { num_kv_heads = 71 }, {} }, { { num_kv_heads = 71, multi_query = false }, { kv_heads = NONE } },
      { { num_kv_heads = 1, new_decoder_architecture = true }, { parallel = "two_norms" } },
      { { new_decoder_architecture = true, num_ln_in_parallel_attn = 1 }, { kv_heads = NONE } },
      { { parallel_attn = false }, { parallel = NONE } }, { { bias = true }, biases(true, true, true) },
      { { alibi = true }, alibi }, { { rope_theta = 500.0 }, { rope_theta = 500.0 } },
      { { rope_parameters = { rope_theta = 700.0, rope_type = "default" } }, { rope_theta = 700.0 } },
      { { original_max_position_embeddings = 8, rope_scaling = { type = "linear", factor = 2.5 } },
        { ["rope_scaling.type"] = "linear", ["rope_scaling.factor"] = 2.5 } },
    }),
    classes = gpt_classes("falcon"),
  }

  families.mpt = {
    base = gpt("mpt", plus(biases(false, false, false), { ["bias.norm"] = false, d_model = 2048, heads = 16,
      layers = 24, activation = "gelu", positions = "alibi", ["input.vocab"] = 50368 })),
    cases = joined(sizes { d_model = "d_model hidden_size", layers = "n_layers num_hidden_layers",
      heads = "n_heads num_attention_heads", seq = "max_seq_len" }, { eps_case,
      { { attn_config = { alibi_bias_max = 16, attn_impl = "torch", clip_qkv = json.null } }, { alibi_max = 16 } },
      { { attn_config = { alibi_bias_max = 8, clip_qkv = 6.0, softmax_scale = 0.25 } },
        { qkv_limit = 6.0, scale = 0.25 } },
    }),
    classes = gpt_classes("mpt"),
  }

  families.gptj = {
    base = gpt("gptj", { ["bias.qkv"] = false, ["bias.out"] = false, d_model = 4096, heads = 16, layers = 28,
      activation = "gelu_tanh", parallel = "one_norm", positions = "rope", rope_theta = 10000, rope_style = "pairs",
      rope_dim = 64, ["input.vocab"] = 50400 }),
    cases = joined(sizes { d_model = "n_embd hidden_size", layers = "n_layer num_hidden_layers",
      heads = "n_head num_attention_heads", d_ff = "n_inner", seq = "n_positions max_position_embeddings" }, { eps_case,
      { { rotary_dim = 32 }, { rope_dim = 32 } }, { { rotary_dim = 256 }, { rope_dim = NONE } },
      { { activation_function = "relu" }, { activation = "relu" } }, { { rotary = true }, {} },
    }),
    classes = classes("gptj", { "Model", "ForSequenceClassification", "ForQuestionAnswering" }, {
      ForCausalLM = { plus(logits("gptj", { bias = true, tied = false })[1],
        { ["names.output.2.vocabulary.bias"] = "lm_head.bias" }) } }),
  }

  -- GPT-Neo's layers, of which every other has a window.
  local function neo(count, window, slides)
    return listed(count, function(i)
      return (slides and slides(i) or not slides and i % 2 == 0) and sliding(window) or {}
    end)
  end

  local of_neo = gpt_classes("gpt_neo")
  for i = 2, 24, 2 do
    for _, word in ipairs { "ForCausalLM", "ForSequenceClassification" } do
      of_neo[word][1][("layers.%d.mask.2"):format(i)] = "padding"
    end
  end
  families.gpt_neo = {
    base = gpt("gpt_neo", plus(neo(24, 256), { ["bias.qkv"] = false, d_model = 2048, heads = 16, layers = NONE,
      activation = "gelu_tanh", scale = false, max_position = 2048, ["input.vocab"] = 50257 })),
    cases = joined(sizes { d_model = "hidden_size", heads = "num_heads num_attention_heads",
      d_ff = "intermediate_size" }, { eps_case, { { activation_function = "relu" }, { activation = "relu" } },
      { { num_layers = 2, attention_types = { { { "global" }, 2 } } }, plus(listed(0), { layers = 2 }) },
      { { num_hidden_layers = 3, attention_types = { { { "local", "global" }, 1 }, { { "local" }, 1 } } },
        neo(3, 256, function(i) return i ~= 2 end) },
      { { num_layers = 2, attention_layers = { "local", "global" } }, neo(2, 256, function(i) return i == 1 end) },
      { { window_size = 5 }, neo(24, 5) },
      { { max_position_embeddings = 300 }, { max_position = 300 } },
    }),
    classes = of_neo,
  }

  local half = { d_model = 2560, d_ff = 6912, norm_kind = NONE, eps = 1e-5, rope_dim = 20, ["input.vocab"] = 50304 }
  local function heads_of(path, count)
    local result = {}
    for i = 1, count do
      local name = ("layers.*.self_attn.%s_layernorm.norms.%d.weight"):format(path, i - 1)
      result[("names.l*.attn.%s_norm.weight.%d"):format(path, i)] = "model." .. name .. " " .. name
    end
    result[("names.l*.attn.%s_norm.weight.join"):format(path)] = "rows"
    return result
  end
  families.stablelm = {
    base = d.without_bias(plus(half, { names = "stablelm" })),
    cases = joined(common { width = 2560, heads = 32, eps = "layer_norm_eps", of_wide = { rope_dim = 40 },
      of_narrow = { rope_dim = 2 } }, {
      { { partial_rotary_factor = 0.5 }, { rope_dim = 40 } },
      { { use_qkv_bias = true }, { ["bias.qkv"] = true } },
      { { use_parallel_residual = true }, { parallel = "one_norm" } },
      { { qk_layernorm = true, num_attention_heads = 2, num_key_value_heads = 1, head_dim = 80 },
        plus(plus(heads_of("q", 2), heads_of("k", 1)), { heads = 2, kv_heads = 1, head_dim = 80, qk_norm = "each",
          names = NONE, ["names.1"] = "stablelm" }) },
    }),
    classes = classes("stablelm", d.four),
  }

  -- Command R's, with all but the number of layers and what they have.
  local function cohere(scheme, more)
    return d.without_bias(plus({ d_model = 8192, d_ff = 22528, heads = 64, layers = 40, norm_kind = NONE, eps = 1e-5,
      parallel = "one_norm", rope_style = "pairs", ["bias.norm"] = false, ["input.vocab"] = 256000, names = scheme },
      more))
  end

  local function scaled_case(word, more)
    return { { logit_scale = 0.25, architectures = { word .. "ForCausalLM" } }, plus(plus(
      logits(word:lower(), { scale = 0.25 })[1], { ["output.1.name"] = NONE }), more or {}) }
  end

  local function cohere_classes(scheme) return { Model = parts.model(scheme),
    ForCausalLM = logits(scheme, { scale = 0.0625 }) } end

  families.cohere = {
    base = cohere("cohere", { rope_theta = 5e5 }),
    cases = joined(common { width = 8192, heads = 64, tied = true, eps = "layer_norm_eps", of_wide = {} }, {
      d.bias_case, scaled_case("Cohere"), { { use_qk_norm = true }, { qk_norm = "each" } } }),
    classes = cohere_classes("cohere"),
  }

  local STILL = { rope_dim = 0 }
  local function fourth(window) return function(i) return i % 4 == 0 and STILL or sliding(window or 4096) end end

  -- The masks of a model's layers with a window where it pools the last rows of padded sequences.
  local function padded(count, slides)
    local result = {}
    for i = 1, count do if slides(i) then result[("layers.%d.mask.2"):format(i)] = "padding" end end
    return result
  end

  local function but_fourth(i) return i % 4 ~= 0 end

  -- Gives that to classes that pool the last row, where every fourth layer has no window.
  local function with_padded(count, list)
    for _, name in ipairs { "ForCausalLM", "ForSequenceClassification" } do
      list[name][1] = plus(list[name][1], padded(count, but_fourth))
    end
    return list
  end

  local cohere2 = cohere_classes("cohere2")
  cohere2.ForCausalLM = { plus(cohere2.ForCausalLM[1], padded(40, but_fourth)) }
  local all_slide = { mask = NONE, ["mask.1"] = "causal", ["mask.window"] = "4095 0" }
  families.cohere2 = {
    base = cohere("cohere2", listed(40, fourth())),
    cases = joined(common { width = 8192, heads = 64, tied = true, eps = "layer_norm_eps", of_wide = {},
      of = function(count) return plus(plus(listed(0), { layers = count }), all_slide) end }, { d.bias_case,
      scaled_case("Cohere2", padded(40, but_fourth)),
      { { sliding_window = 5 }, listed(40, fourth(5)) },
      { { sliding_window_pattern = 2, num_hidden_layers = 2 },
        listed(2, function(i) return i == 1 and sliding(4096) or STILL end) },
      { { num_hidden_layers = 2, layer_types = { "full_attention", "sliding_attention" } },
        listed(2, function(i) return i == 2 and sliding(4096) or STILL end) },
      { { position_embedding_type = "rope_gptj" }, {} },
    }),
    classes = cohere2,
  }

  -- OLMo 3's layers.
  local function olmo3(window, full)
    return function(i)
      return i % 4 == 0 and (full or { rope_theta = 5e5 }) or sliding(window)
    end
  end

  families.olmo3 = {
    base = d.without_bias(plus(listed(32, olmo3(4096)), { norm = "res_post", qk_norm = "all", eps = 1e-5,
      rope_theta = 5e5, ["input.vocab"] = 50304, names = "olmo3" })),
    cases = joined(common { width = 4096, heads = 32, own_rope = true, of_wide = {},
      of = function(count) return plus(plus(listed(0), { layers = count }), all_slide) end,
      of_theta = listed(32, olmo3(4096, { rope_theta = 500.0 })) }, {
      d.bias_case, { { sliding_window = 5 }, listed(32, olmo3(5)) },
      { { num_hidden_layers = 2, sliding_window = 9, layer_types = { "full_attention", "sliding_attention" } },
        listed(2, function(i) return i == 2 and plus(sliding(9), { rope_theta = 5e5 }) or {} end) },
      { { original_max_position_embeddings = 64, rope_scaling = { rope_type = "linear", factor = 8.0 } },
        listed(32, olmo3(4096, { rope_theta = 5e5, ["rope_scaling.type"] = "linear",
          ["rope_scaling.factor"] = 8.0 })) },
      { { rope_parameters = { sliding_attention = { rope_theta = 300.0, rope_type = "default" },
        full_attention = { rope_theta = 600.0, rope_type = "default" } } },
        plus(listed(32, olmo3(4096, { rope_theta = 600.0 })), { rope_theta = 300.0 }) },
    }),
    classes = with_padded(32, classes("olmo3", { "Model", "ForCausalLM", "ForSequenceClassification" })),
  }

  local five = { "Model", "ForCausalLM", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering" }
  local causal = { mask = "causal", ["mask.1"] = NONE, ["mask.window"] = NONE }
  families.ministral = {
    base = d.without_bias { mask = NONE, ["mask.1"] = "causal", ["mask.window"] = "4095 0", d_ff = 14336, kv_heads = 8,
      names = "ministral" },
    cases = joined(common { width = 4096, heads = 32, of_wide = {} }, {
      { { sliding_window = 5 }, { ["mask.window"] = "4 0" } }, { { sliding_window = json.null }, causal },
      { { num_hidden_layers = 2, layer_types = { "full_attention", "sliding_attention" } },
        plus(causal, listed(2, function(i) return i == 2 and sliding(4096) or {} end)) },
    }),
    classes = parts.rope_classes("ministral", true),
  }

  local grown = { rope_theta = 1e6, ["rope_scaling.type"] = "yarn", ["rope_scaling.factor"] = 16.0,
    ["rope_scaling.original"] = 16384, ["rope_scaling.beta_fast"] = 32.0, ["rope_scaling.beta_slow"] = 1.0,
    ["rope_scaling.attention_factor"] = 1.0, ["rope_scaling.query_beta"] = 0.1 }
  local ministral3 = classes("mistral3", five)
  ministral3.ForConditionalGeneration = { plus(ministral3.ForCausalLM[1],
    { ["names.output.2.vocabulary.weight"] = "lm_head.weight language_model.lm_head.weight" }) }
  families.ministral3 = {
    base = d.without_bias(plus(grown, { d_ff = 14336, kv_heads = 8, layers = 34, eps = 1e-5,
      ["input.vocab"] = 131072, names = "mistral3" })),
    cases = joined(common { width = 4096, heads = 32, own_rope = true, of_wide = { head_dim = 128 },
      of_theta = { rope_theta = 1e6 } }, {
      { { sliding_window = 5 }, { mask = NONE, ["mask.1"] = "causal", ["mask.window"] = "4 0" } },
      { { original_max_position_embeddings = 64 }, { ["rope_scaling.original"] = 64 } },
      { { rope_scaling = { type = "yarn", factor = 2.0, original_max_position_embeddings = 8, rope_theta = 5.0,
        attention_factor = 1.5, llama_4_scaling_beta = 0.25 } }, { rope_theta = 5.0, ["rope_scaling.factor"] = 2.0,
        ["rope_scaling.original"] = 8, ["rope_scaling.attention_factor"] = 1.5, ["rope_scaling.query_beta"] = 0.25 } },
      { { rope_parameters = { type = "yarn", factor = 2.0, original_max_position_embeddings = 8, rope_theta = 5.0,
        attention_factor = 1.5, llama_4_scaling_beta = 0.25 } }, { rope_theta = 5.0, ["rope_scaling.factor"] = 2.0,
        ["rope_scaling.original"] = 8, ["rope_scaling.attention_factor"] = 1.5, ["rope_scaling.query_beta"] = 0.25 } },
    }),
    classes = ministral3,
  }

  local exaone = with_padded(32, classes("exaone4", five))
  families.exaone4 = {
    base = d.without_bias(plus(listed(32, fourth()), { norm = "res_post", qk_norm = "heads", eps = 1e-5, d_ff = NONE,
      layers = NONE, ["input.vocab"] = 102400, names = "exaone4" })),
    cases = joined(common { width = 4096, heads = 32, of_wide = { d_ff = 16384 },
      of = function(count) return plus(plus(listed(0), { layers = count }), all_slide) end }, {
      { { sliding_window = 5, num_hidden_layers = 4 }, listed(4, fourth(5)) },
      { { sliding_window = 5, num_hidden_layers = 2, sliding_window_pattern = 2 },
        listed(2, function(i) return i == 1 and sliding(5) or STILL end) },
      { { sliding_window = 5, num_hidden_layers = 2, sliding_window_pattern = "LLLG",
        layer_types = { "sliding_attention", "full_attention" } },
        listed(2, function(i) return i == 1 and sliding(5) or STILL end) },
      { { sliding_window = json.null, sliding_window_pattern = json.null }, plus(listed(0), { layers = 32 }) },
    }),
    classes = exaone,
  }

  local function glm(more)
    return {
      base = d.without_bias(plus({ ["bias.qkv"] = true, d_ff = 13696, layers = 40, kv_heads = 2, rope_dim = 64,
        eps = 1.5625e-7, rope_style = "pairs", ["input.vocab"] = 151552, names = "glm4" }, more)),
      cases = joined(common { width = 4096, heads = 32, of_wide = { head_dim = 128 }, of_narrow = { rope_dim = 4 } }, {
        { { partial_rotary_factor = 1.0 }, { rope_dim = NONE } },
        { { attention_bias = false }, { ["bias.qkv"] = false } },
      }),
      classes = classes("glm4", d.four),
    }
  end

  families.glm4, families.glm = glm { norm = "sandwich" }, glm {}

  families.internlm3 = {
    base = d.without_bias { d_ff = 10240, layers = 48, kv_heads = 2, eps = 1e-5, ["input.vocab"] = 128512,
      names = "internlm3" },
    cases = joined(common { width = 4096, heads = 32, of_wide = { head_dim = 128 } }, { d.bias_case,
      { { qkv_bias = true, bias = true }, biases(true, true, true) }, { { mlp_bias = true }, { ["bias.ff"] = true } },
      { { architectures = { "LlamaModel" } }, {} },
    }),
    classes = classes("internlm3", five),
  }

  families.internlm2 = {
    base = d.without_bias { ["bias.qkv"] = true, ["bias.out"] = true, d_ff = 11008, ["input.vocab"] = 103168,
      names = "internlm2" },
    cases = joined(common { width = 4096, heads = 32, of_wide = {} }, {
      { { bias = false, auto_map = { AutoConfig = "configuration_internlm2.InternLM2Config" } },
        { ["bias.qkv"] = false, ["bias.out"] = false } } }),
    classes = classes("internlm2", { "Model", "ForSequenceClassification" }, {
      ForCausalLM = { plus(logits("internlm2", { tied = false })[1],
        { ["names.output.2.vocabulary.weight"] = "output.weight" }) } }),
  }
  return families
end
