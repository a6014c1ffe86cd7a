-- values_encoders: the part of values for families of encoders after MPNet. Returns a function that returns them by
-- model_type. Defaults are those of transformers 5.23, or of the published code where transformers has none.
local json = require("common.json")

return function(values)
  local parts, NONE = values.parts, values.NONE
  local like, plus, joined, output, listed = parts.like, parts.plus, parts.joined, parts.output, parts.listed
  local labels = { "linear", to = 2, name = "logits" }

  local families = {}

  local function local_layer(side, theta)
    return { ["mask.1"] = "padding", ["mask.window"] = ("%d %d"):format(side, side), rope_theta = theta or 10000.0 }
  end

  -- Layers of ModernBERT: all but each nth have a window. more: what each of those with a window has beside it.
  local function modern(count, n, side, theta, more)
    return listed(count, function(i)
      local own = (i - 1) % n == 0 and {} or plus(local_layer(side, theta), more or {})
      return i == 1 and plus(own, { norm = "pre_ff" }) or own
    end)
  end

  local modernbert = like(parts.bert, plus(modern(22, 3, 64), { names = "modernbert", d_ff = 1152, norm = "pre",
    eps = 1e-5, gated = true, final_norm = true, ["bias.qkv"] = false, ["bias.out"] = false, ["bias.ff"] = false,
    ["bias.norm"] = false, positions = "rope", rope_theta = 160000.0, max_position = NONE, ["input.vocab"] = 50368,
    ["input.types"] = NONE, ["inputs.token_types"] = NONE }))
  local dense, norm = { "linear", to = 768, activation = "gelu", bias = false }, { "norm" }

  local function modern_head(stages, first, names)
    local all = { [("output.%d.linear"):format(first)] = "head.dense",
      [("output.%d.norm"):format(first + 1)] = "head.norm" }
    return output(stages, "modernbert", plus(all, names or {}))
  end

  local function modern_sequence(pool, more)
    local stages = { { "pool", over = pool }, dense, norm, labels }
    return plus(modern_head(stages, 2, { ["output.4.linear"] = "classifier" }), more or {})
  end

  local function modern_masked(more)
    return plus(modern_head({ dense, norm, { "vocabulary", bias = true, name = "logits" } }, 1, {
      ["output.3.vocabulary.weight"] = "decoder.weight", ["output.3.vocabulary.bias"] = "decoder.bias" }), more or {})
  end

  families.modernbert = {
    base = modernbert,
    cases = {
      { { vocab_size = 99 }, { ["input.vocab"] = 99 } },
      { { hidden_size = 384 }, { d_model = 384 } },
      { { intermediate_size = 3072 }, { d_ff = NONE } },
      { { num_hidden_layers = 3 }, modern(3, 3, 64) },
      { { num_attention_heads = 6 }, { heads = 6 } },
      { { hidden_activation = "silu" }, { activation = "silu" } },
      { { max_position_embeddings = 40 }, plus(modern(22, 3, 64), { seq = 40 }) },
      { { norm_eps = 1e-6, layer_norm_eps = 1e-7 }, { eps = 1e-6 } },
      { { norm_bias = true }, { ["bias.norm"] = true } },
      { { attention_bias = true }, { ["bias.qkv"] = true, ["bias.out"] = true } },
      { { mlp_bias = true }, { ["bias.ff"] = true } },
      { { local_attention = 9 }, modern(22, 3, 4) },
      { { local_attention = 9, sliding_window = 6 }, modern(22, 3, 6) },
      { { global_attn_every_n_layers = 2 }, modern(22, 2, 64) },
      { { num_hidden_layers = 2, layer_types = { "sliding_attention", "full_attention" } },
        plus(listed(2, function(i)
          return i == 2 and { rope_theta = 160000.0 }
            or { norm = "pre_ff", ["mask.1"] = "padding", ["mask.window"] = "64 64" }
        end), { rope_theta = 10000.0 }) },
      { { global_rope_theta = 500.0 }, { rope_theta = 500.0 } },
      { { local_rope_theta = 500.0 }, modern(22, 3, 64, 500.0) },
      { { rope_parameters = { full_attention = { rope_theta = 600.0, rope_type = "default" },
        sliding_attention = { rope_theta = 300.0, rope_type = "default" } } },
        plus(modern(22, 3, 64, 300.0), { rope_theta = 600.0 }) },
      { { rope_scaling = { rope_type = "linear", factor = 2.0 } }, plus(modern(22, 3, 64, nil,
        { ["rope_scaling.type"] = "linear", ["rope_scaling.factor"] = 2.0 }),
        { ["rope_scaling.type"] = "linear", ["rope_scaling.factor"] = 2.0 }) },
      { { tie_word_embeddings = false, pad_token_id = json.null }, {} },
    },
    classes = {
      Model = parts.model("modernbert"),
      ForMaskedLM = { modern_masked({ ["output.3.bias"] = false, ["names.output.3.vocabulary.bias"] = NONE }),
        config = { decoder_bias = false } },
      ForSequenceClassification = { modern_sequence("mean", { ["output.2.activation"] = "relu",
        ["output.2.bias"] = NONE }), config = { classifier_pooling = "mean", classifier_activation = "relu",
        classifier_bias = true } },
      ForTokenClassification = { modern_head({ dense, norm, labels }, 1, { ["output.3.linear"] = "classifier" }) },
      ForQuestionAnswering = { modern_head({ dense, norm,
        { "linear", to = 1, squeeze = true, name = "start_logits" },
        { "linear", to = 1, of = 2, squeeze = true, name = "end_logits" } }, 1, {
          ["output.3.linear.1"] = "classifier", ["output.3.linear.part"] = 1, ["output.3.linear.parts"] = 2,
          ["output.4.linear.1"] = "classifier", ["output.4.linear.part"] = 2, ["output.4.linear.parts"] = 2 }) },
    },
  }

  -- An encoder with rotary positions, a gated feed-forward and a table of tokens that has the first type added.
  local function rotary_bert(names, more)
    return like(parts.bert, plus({ positions = "rope", gated = true, max_position = NONE, names = names }, more))
  end

  -- The names of a vocabulary's weight where the table of tokens has a type added.
  local function table_names(own, prefixes)
    local list = { own }
    for _, prefix in ipairs(prefixes) do list[#list + 1] = prefix .. "embeddings.word_embeddings.weight" end
    return table.concat(list, " ")
  end

  local nomic = rotary_bert("nomic_bert", { activation = "silu", ["bias.qkv"] = false, ["bias.out"] = false,
    ["bias.ff"] = false, rope_theta = 1000.0, ["input.vocab"] = 30528 })
  local prefixes = { "nomic_bert.", "bert.", "" }
  local published = { activation_function = "swiglu", rotary_emb_fraction = 1.0, qkv_proj_bias = false,
    mlp_fc1_bias = false, mlp_fc2_bias = false, rotary_emb_base = 1000, layer_norm_epsilon = 1e-12 }
  local no_biases = { ["bias.ff"] = NONE, ["bias.up"] = false, ["bias.down"] = false }

  -- A published folder's keys and what they change.
  local function as_published(keys, changes) return { plus(published, keys), plus(no_biases, changes or {}) } end

  local function no_table(list)
    return plus(parts.no_types, { names = NONE, ["names.1"] = "nomic_bert", ["names.input.tokens.weight"] = list })
  end

  local nomic_masked = parts.masked("nomic_bert", 768, "silu", "cls.predictions.transform.dense",
    "cls.predictions.transform.layer_norm", "cls.predictions.decoder.weight",
    "cls.predictions.decoder.bias cls.predictions.bias")

  families.nomic_bert = {
    base = nomic,
    cases = joined(parts.bert_cases(768), {
      { { hidden_size = 384 }, { d_model = 384, d_ff = 3072 } },
      { { head_dim = 32 }, { head_dim = 32 } },
      { { max_position_embeddings = 40 }, { seq = 40 } },
      { { type_vocab_size = 1 }, parts.no_types },
      { { type_vocab_size = 3 }, { ["input.types"] = 3 } },
      { { type_vocab_size = 0 }, no_table(table_names(nil, prefixes)) },
      { { rope_theta = 500.0 }, { rope_theta = 500.0 } },
      { { rope_parameters = { rope_theta = 700.0, rope_type = "default" } }, { rope_theta = 700.0 } },
      { { rope_scaling = { rope_type = "linear", factor = 2.0 } }, { ["rope_scaling.type"] = "linear",
        ["rope_scaling.factor"] = 2.0 } },
      as_published({}),
      as_published({ n_embd = 384, n_inner = json.null }, { d_model = 384 }),
      as_published({ n_layer = 3 }, { layers = 3 }), as_published({ n_head = 6 }, { heads = 6 }),
      as_published({ n_inner = 100 }, { d_ff = 100 }), as_published({ n_positions = 40 }, { seq = 40 }),
      as_published({ layer_norm_epsilon = 1e-5 }, { eps = 1e-5 }),
      as_published({ vocab_size = 99, pad_vocab_size_multiple = 64 }, { ["input.vocab"] = 128 }),
      as_published({ qkv_proj_bias = true }, { ["bias.qkv"] = true, ["bias.out"] = true }),
      as_published({ mlp_fc1_bias = true }, { ["bias.up"] = true }),
      as_published({ mlp_fc2_bias = true }, { ["bias.down"] = true }),
      { { activation_function = "gelu", rotary_emb_fraction = 1.0 }, { activation = "gelu", gated = NONE,
        ["bias.qkv"] = true, ["bias.out"] = true, ["bias.ff"] = NONE, ["bias.up"] = true, ["bias.down"] = true,
        rope_theta = 10000.0, eps = 1e-5 } }, -- defaults of the published code
      as_published({ activation_function = "geglu" }, { activation = "gelu" }),
      as_published({ moe_every_n_layers = 2, num_experts = 6, moe_top_k = 2, moe_normalize_expert_weights = true,
        n_layer = 2 }, { layers = NONE, ["layers.1"] = NONE, ["layers.2.gated"] = false, ["layers.2.bias.qkv"] = false,
        ["layers.2.bias.out"] = false, ["layers.2.bias.up"] = false, ["layers.2.bias.down"] = false,
        ["layers.2.experts.count"] = 6, ["layers.2.experts.used"] = 2, ["layers.2.experts.d_ff"] = 3072,
        ["layers.2.experts.normalise"] = true, ["layers.2.experts.sum_bias"] = false }),
      as_published({ rotary_emb_base = 500 }, { rope_theta = 500 }),
      as_published({ rotary_scaling_factor = 2, max_trained_positions = 512 }, { ["rope_scaling.type"] = "dynamic",
        ["rope_scaling.factor"] = 2, ["rope_scaling.max_position"] = 512 }),
    }),
    classes = { Model = parts.model("nomic_bert"), ForTokenClassification = parts.tokens("nomic_bert"),
      ForSequenceClassification = parts.pooled("nomic_bert",
        "nomic_bert.pooler.dense bert.pooler.dense pooler.dense", 768),
      ForMaskedLM = { plus(nomic_masked[1], plus(parts.no_types, { ["output.3.tied"] = false,
        ["names.output.3.vocabulary.weight"] = table_names("cls.predictions.decoder.weight", prefixes) })),
        config = { type_vocab_size = 1 } },
      ForPreTraining = { plus(nomic_masked[1], plus(no_biases, { ["output.1.bias"] = false, ["output.3.bias"] = false,
        ["names.output.3.vocabulary.bias"] = NONE })), config = published } },
  }

  local gte = rotary_bert("gte", { ["bias.up"] = false, rope_theta = 160000.0, ["input.vocab"] = 250048,
    ["input.types"] = NONE, ["inputs.token_types"] = NONE })
  local with_types = { ["input.types"] = 2, ["inputs.token_types"] = "token_type_ids" }
  local gte_prefixes = { "new.", "gte.", "" }

  local function linear(base, factor)
    return { rope_theta = base, ["rope_scaling.type"] = "linear", ["rope_scaling.factor"] = factor }
  end

  -- Queries, keys and values in tensors of their own.
  local unpacked = { names = NONE, ["names.1"] = "gte" }
  for part, name in pairs { q = "q_proj", k = "k_proj", v = "v_proj" } do
    local own = "encoder.layer.*.attention." .. name
    unpacked["names.l*.attn." .. part] = ("new.%s %s"):format(own, own)
  end

  -- Cases that published folders and those of transformers have.
  local function gte_cases(more)
    return joined(parts.bert_cases(768), { { { hidden_size = 384 }, { d_model = 384, d_ff = 3072 } },
      { { max_position_embeddings = 40 }, { seq = 40 } },
      { { type_vocab_size = 2 }, with_types },
      { { type_vocab_size = 0 }, { names = NONE, ["names.1"] = "gte",
        ["names.input.tokens.weight"] = table_names(nil, gte_prefixes) } },
      { { rope_theta = 500.0 }, { rope_theta = 500.0 } },
      { { head_dim = 32 }, { head_dim = 32 } },
      { { pack_qkv = false }, unpacked },
    }, more)
  end

  -- Classes; activation: of the masked language model whose hidden_act is relu.
  local function gte_classes(activation)
    local masked = parts.masked("gte", 768, activation, "lm_head.dense", "lm_head.norm", "lm_head.decoder.weight",
      "lm_head.decoder.bias")
    return { Model = parts.model("gte"), ForTokenClassification = parts.tokens("gte"),
      ForQuestionAnswering = parts.question("gte"), ForSequenceClassification = parts.pooled("gte",
        "new.pooler.dense gte.pooler.dense pooler.dense", 768),
      ForMaskedLM = { plus(masked[1], { activation = "relu", ["output.3.tied"] = false,
        ["names.output.3.vocabulary.weight"] = table_names("lm_head.decoder.weight", gte_prefixes) }),
        config = { hidden_act = "relu" } } }
  end

  families.gte = {
    base = gte,
    cases = gte_cases {
      { { rope_parameters = { rope_theta = 700.0, rope_type = "default" } }, { rope_theta = 700.0 } },
      { { rope_scaling = { rope_type = "linear", factor = 2.0 } }, linear(160000.0, 2.0) },
    },
    classes = gte_classes("gelu"),
  }

  families.new = {
    base = like(gte, { ["input.vocab"] = 30528, rope_theta = 10000.0 }),
    cases = gte_cases {
      { { rope_parameters = json.null, rope_scaling = json.null }, {} },
      { { rope_scaling = { type = "ntk", factor = 8.0 }, rope_theta = 20000 }, linear(160000.0, 8 ^ (1 / 32)) },
      { { rope_parameters = { rope_type = "ntk", factor = 8.0, rope_theta = 20000 } }, linear(160000.0, 8 ^ (1 / 32)) },
      { { rope_parameters = { rope_type = "default", rope_theta = 500.0 } }, { rope_theta = 500.0 } },
    },
    classes = gte_classes("relu"),
  }

  local jina_v3 = like(parts.bert, { positions = "rope", max_position = NONE, names = "jina_v3", rope_theta = 20000.0,
    eps = 1e-5, ["input.vocab"] = 250002, ["input.types"] = NONE, ["inputs.token_types"] = NONE, d_model = 1024,
    heads = 16, layers = 24 })
  for model_type, key in pairs { jina_embeddings_v3 = "rope_theta", ["xlm-roberta:rotary"] = "rotary_emb_base" } do
    families[model_type] = {
      base = jina_v3,
      cases = joined(parts.bert_cases(1024), {
        { { max_position_embeddings = 40 }, { seq = 40 } },
        { { type_vocab_size = 2 }, with_types },
        { { hidden_size = 384 }, { d_model = 384, d_ff = 4096 } },
        { { head_dim = 32 }, { head_dim = 32 } },
        { { [key] = 500.0 }, { rope_theta = 500.0 } },
        { { rope_parameters = { rope_theta = 700.0, rope_type = "default" } }, { rope_theta = 700.0 } },
        { { rope_theta = 300.0, rotary_emb_base = 400.0, rope_scaling = json.null }, { rope_theta = 400.0 } },
      }),
      classes = { Model = parts.model("jina_v3") },
    }
  end

  local jina = like(parts.bert, { positions = "alibi", max_position = NONE, names = "jina_bert" })
  local jina_gate = { gated = true, ["bias.up"] = false }
  local qk_norm = { ["encoder.layer.0.attention.self.layer_norm_q.weight"] = { 768 } }

  families.jina_bert = {
    base = jina,
    cases = joined(parts.bert_cases(768), {
      { { hidden_size = 384 }, { d_model = 384, d_ff = 3072 } },
      { { max_position_embeddings = 40 }, { seq = 40 } },
      { { type_vocab_size = 1 }, parts.no_types },
      { { feed_forward_type = "geglu", position_embedding_type = "alibi" }, jina_gate },
      { { feed_forward_type = "reglu" }, plus(jina_gate, { activation = "relu" }) },
      { { feed_forward_type = "geglu" }, plus(jina_gate, { qk_norm = "all" }), tensors = qk_norm },
      { {}, plus(jina_gate, { qk_norm = "all" }), tensors = qk_norm },
      { { feed_forward_type = "original" }, { qk_norm = "all", ["bias.up"] = false }, tensors = qk_norm },
      -- As the published folders say it.
      { { feed_forward_type = "geglu", model_type = "bert", position_embedding_type = "alibi" }, jina_gate },
    }),
    classes = { Model = parts.model("jina_bert"), ForTokenClassification = parts.tokens("jina_bert"),
      ForQuestionAnswering = parts.question("jina_bert"),
      ForSequenceClassification = parts.pooled("jina_bert", "bert.pooler.dense pooler.dense", 768),
      ForMaskedLM = parts.masked("jina_bert", 768, "gelu", "cls.predictions.transform.dense",
        "cls.predictions.transform.LayerNorm", "cls.predictions.decoder.weight",
        "cls.predictions.decoder.bias cls.predictions.bias") },
  }

  return families
end
