-- values_experts: the part of values for families of mixtures of experts. Returns a function that returns them by
-- model_type. Defaults are those of transformers 5.24.
local json = require("common.json")

return function(values)
  local parts, NONE = values.parts, values.NONE
  local like, plus, joined, listed = parts.like, parts.plus, parts.joined, parts.listed
  local d = parts.decoders
  local common, bias_case, classes, sliding, without_bias = d.common, d.bias_case, d.classes, d.sliding, d.without_bias

  -- The experts of a description.
  local function experts(count, used, width, more)
    local result = { ["experts.count"] = count, ["experts.used"] = used, ["experts.d_ff"] = width }
    for key, value in pairs(more or {}) do result["experts." .. key] = value end
    return result
  end

  -- Cases of the numbers of experts.
  local function of_experts()
    return {
      { { num_experts = 20 }, { ["experts.count"] = 20 } },
      { { num_local_experts = 30 }, { ["experts.count"] = 30 } },
      { { num_experts_per_tok = 3 }, { ["experts.used"] = 3 } },
      { { moe_intermediate_size = 44 }, { ["experts.d_ff"] = 44 } },
      { { head_dim = 96 }, { head_dim = 96 } },
    }
  end

  local normalised = { { norm_topk_prob = true }, { ["experts.normalise"] = true } }

  -- Cases of layers without experts, of 4 layers.
  local dense = {
    { { num_hidden_layers = 4, decoder_sparse_step = 2 },
      listed(4, function(i) return i % 2 == 1 and { experts = false } or {} end) },
    { { num_hidden_layers = 4, mlp_only_layers = { 1 } },
      listed(4, function(i) return i == 2 and { experts = false } or {} end) },
  }

  -- The fields that another width of a feed-forward changes: the width of the experts.
  local function with_width(list)
    local result = {}
    for _, case in ipairs(list) do
      local width = case[1].intermediate_size
      result[#result + 1] = { case[1], width and plus(case[2], { ["experts.d_ff"] = width }) or case[2] }
      if case[1].architectures then table.remove(result) end -- of another class
    end
    return result
  end

  local families = {}

  families.mixtral = {
    base = like(without_bias(experts(8, 2, 14336)), { kv_heads = 8, d_ff = 14336, eps = 1e-5, names = "mixtral",
      rope_theta = 1e6, ["bias.qkv"] = false, ["bias.out"] = false, ["bias.ff"] = false }),
    cases = joined(with_width(common { width = 4096, heads = 32, of_wide = {} }), of_experts(), {
      { { sliding_window = 5 }, { mask = NONE, ["mask.1"] = "causal", ["mask.window"] = "4 0" } },
      { { sliding_window = json.null }, {} },
    }),
    classes = parts.rope_classes("mixtral"),
  }

  families.qwen3_moe = {
    base = like(without_bias(experts(128, 8, 768, { normalise = false })), { d_model = 2048, layers = 24, kv_heads = 4,
      d_ff = 6144, qk_norm = "heads", ["input.vocab"] = 151936, names = "qwen3_moe" }),
    cases = joined(common { width = 2048, heads = 32, of_wide = {} }, of_experts(), dense,
      { bias_case, normalised, { { sliding_window = 5 }, {} },
      { { sliding_window = 5, use_sliding_window = true },
        { mask = NONE, ["mask.1"] = "causal", ["mask.window"] = "4 0" } } }),
    classes = classes("qwen3_moe", d.four),
  }

  families.qwen2_moe = {
    base = like(without_bias(experts(60, 4, 1408, { normalise = false, shared = 5632, shared_gate = true })),
      { d_model = 2048, heads = 16, layers = 24, d_ff = 5632, ["bias.qkv"] = true, ["input.vocab"] = 151936,
        names = "qwen2_moe" }),
    cases = joined(common { width = 2048, heads = 16, of_wide = {} }, of_experts(), dense, {
      normalised, { { shared_expert_intermediate_size = 48 }, { ["experts.shared"] = 48 } },
      { { qkv_bias = false }, { ["bias.qkv"] = false } },
      { { sliding_window = 0 }, {} }, { { sliding_window = 5 }, {} },
      { { sliding_window = 5, use_sliding_window = true, max_window_layers = 2, num_hidden_layers = 3 },
        listed(3, function(i) return i == 3 and sliding(5) or {} end) },
      { { sliding_window = 5, use_sliding_window = true, num_hidden_layers = 2,
        layer_types = { "sliding_attention", "full_attention" } },
        listed(2, function(i) return i == 1 and sliding(5) or {} end) },
    }),
    classes = classes("qwen2_moe", d.four),
  }

  families.olmoe = {
    base = like(without_bias(experts(64, 8, 2048, { normalise = false })), { d_model = 2048, heads = 16, layers = 16,
      d_ff = 2048, eps = 1e-5, qk_norm = "all", ["input.vocab"] = 50304, names = "olmoe" }),
    cases = joined(with_width(common { width = 2048, heads = 16, of_wide = {} }), of_experts(),
      { bias_case, normalised, { { clip_qkv = 8.0 }, { qkv_limit = 8.0 } } }),
    classes = classes("olmoe", { "Model", "ForCausalLM" }),
  }

  -- Every second layer of gpt-oss slides.
  local function second(window) return function(i) return i % 2 == 1 and sliding(window) or {} end end

  -- Where the last rows of padded sequences are taken, layers with a window hide padding, too.
  local gpt_oss, padded = classes("gpt_oss", d.four), {}
  for i = 1, 36, 2 do padded[("layers.%d.mask.2"):format(i)] = "padding" end
  for _, name in ipairs { "ForCausalLM", "ForSequenceClassification" } do
    gpt_oss[name][1] = plus(gpt_oss[name][1], padded)
  end

  -- Its experts have one activation, whatever hidden_act says.
  local of_gpt_oss = with_width(common { width = 2880, heads = 64, own_rope = true, of_wide = {},
    of = function(count) return listed(count, second(128)) end })
  for i, case in ipairs(of_gpt_oss) do if case[1].hidden_act then of_gpt_oss[i] = { case[1], {} } end end

  local linear = { ["rope_scaling.type"] = "linear", ["rope_scaling.factor"] = 8.0, ["rope_scaling.original"] = NONE,
    ["rope_scaling.beta_fast"] = NONE, ["rope_scaling.beta_slow"] = NONE, ["rope_scaling.truncate"] = NONE }

  families.gpt_oss = {
    base = like(without_bias(plus(listed(36, second(128)), experts(128, 4, 2880, { bias = true }))), { d_model = 2880,
      heads = 64, kv_heads = 8, head_dim = 64, layers = NONE, d_ff = 2880, activation = "quick_gelu", gate_limit = 7.0,
      sinks = true, eps = 1e-5, rope_theta = 150000, ["rope_scaling.type"] = "yarn", ["rope_scaling.factor"] = 32.0,
      ["rope_scaling.original"] = 4096, ["rope_scaling.beta_fast"] = 32.0, ["rope_scaling.beta_slow"] = 1.0,
      ["rope_scaling.truncate"] = false, ["bias.qkv"] = true, ["bias.out"] = true, ["bias.ff"] = true,
      ["input.vocab"] = 201088, names = "gpt_oss" }),
    cases = joined(of_gpt_oss, of_experts(), {
      { { swiglu_limit = 3.5, swiglu_alpha = 1.702 }, { gate_limit = 3.5 } },
      { { attention_bias = false }, { ["bias.qkv"] = false, ["bias.out"] = false } },
      { { original_max_position_embeddings = 2048 }, { ["rope_scaling.original"] = 2048 } },
      { { rope_scaling = { rope_type = "linear", factor = 8.0 } }, linear },
      { { rope_parameters = { rope_type = "linear", factor = 8.0, rope_theta = 150000 } }, linear },
      { { sliding_window = 5 }, listed(36, second(5)) },
      { { num_hidden_layers = 2, layer_types = { "full_attention", "sliding_attention" } },
        listed(2, function(i) return i == 2 and sliding(128) or {} end) },
    }),
    classes = gpt_oss,
  }

  families.granitemoe = {
    base = like(values.families.granite.base, plus(experts(8, 2, 11008), { names = "granitemoe" })),
    cases = joined(with_width(values.families.granite.cases), of_experts()),
    classes = classes("granitemoe", { "Model", "ForCausalLM" }),
  }
  return families
end
