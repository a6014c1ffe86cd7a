-- values_deberta: the part of values for DeBERTa v2 and v3. Returns a function that returns it by model_type. Defaults
-- are those of transformers 5.23.
return function(values)
  local parts, NONE = values.parts, values.NONE
  local like, plus, output = parts.like, parts.plus, parts.output
  local labels = { "linear", to = 2, name = "logits" }

  local function names(of)
    local result = { names = NONE, ["names.1"] = "deberta_v2", ["names.input.positions.weight"] =
      "deberta.embeddings.position_embeddings.weight embeddings.position_embeddings.weight" }
    return plus(result, of or {})
  end

  -- The output of a class, whose tensors have names.
  local function class(of) return plus(of, names()) end

  local base = like(parts.bert, plus(plus(parts.no_types, names()), { d_model = 1536, heads = 24, layers = 24,
    eps = 1e-7, scale = 0.125, positions = "learned", ["input.vocab"] = 128100 }))

  -- Keys of a model without positions in the input, and what they change.
  local function unbiased(keys, changes)
    return { plus({ position_biased_input = false, relative_attention = true, pos_att_type = "p2c|c2p",
      position_buckets = 256 }, keys), plus({ positions = "disentangled", max_position = NONE, position_buckets = 256,
      position_distance = 512, position_projections = "own", scale = 1 / math.sqrt(3 * 64),
      names = "deberta_v2", ["names.1"] = NONE, ["names.input.positions.weight"] = NONE }, changes or {}) }
  end

  local both = { relative_attention = true, pos_att_type = { "c2p", "p2c" } }
  local masked = parts.masked("deberta_v2", 1536, "gelu", "cls.predictions.transform.dense",
    "cls.predictions.transform.LayerNorm", "cls.predictions.decoder.weight",
    "cls.predictions.decoder.bias cls.predictions.bias")

  return { ["deberta-v2"] = {
    base = base,
    cases = {
      { { vocab_size = 99 }, { ["input.vocab"] = 99 } },
      { { hidden_size = 768, num_attention_heads = 12 }, { d_model = 768, heads = 12, d_ff = 6144 } },
      { { num_hidden_layers = 3 }, { layers = 3 } },
      { { num_attention_heads = 12 }, { heads = 12, scale = 1 / math.sqrt(128) } },
      { { intermediate_size = 100 }, { d_ff = 100 } },
      { { hidden_act = "relu" }, { activation = "relu" } },
      { { max_position_embeddings = 40 }, { seq = 40, max_position = 40 } },
      { { type_vocab_size = 2 }, { ["input.types"] = 2, ["inputs.token_types"] = "token_type_ids",
        names = "deberta_v2", ["names.1"] = NONE, ["names.input.positions.weight"] = NONE } },
      { { layer_norm_eps = 1e-5 }, { eps = 1e-5 } },
      { { tie_word_embeddings = false }, {} },
      { { embedding_size = 128 }, { ["input.width"] = 128, ["input.projected"] = "before_norm" } },
      { { attention_head_size = 32 }, { head_dim = 32, scale = 1 / math.sqrt(32) } },
      { { pos_att_type = "c2p" }, { scale = 1 / math.sqrt(128) } },
      { { relative_attention = true }, {} },
      { both, { ["positions"] = "learned disentangled", position_buckets = 0, position_distance = 512,
        position_projections = "own", scale = 1 / math.sqrt(3 * 64) } },
      unbiased({}),
      unbiased({ max_relative_positions = 100 }, { position_distance = 100 }),
      unbiased({ max_position_embeddings = 64 }, { position_distance = 64, seq = 64 }),
      unbiased({ position_buckets = -1 }, { position_buckets = 0 }),
      unbiased({ pos_att_type = "c2p" }, { position_terms = "content_to_position", scale = 1 / math.sqrt(128) }),
      unbiased({ pos_att_type = { "p2c" } }, { position_terms = "position_to_content", scale = 1 / math.sqrt(128) }),
      unbiased({ norm_rel_ebd = "layer_norm" }, { position_norm = true }),
      unbiased({ share_att_key = true }, { position_projections = NONE }),
      unbiased({ type_vocab_size = 1 }, { ["input.types"] = 1, ["input.optional_types"] = true,
        ["inputs.token_types"] = "token_type_ids" }),
      { { conv_kernel_size = 3, conv_groups = 1 }, { conv_kernel = 3, conv_activation = "tanh" } },
      { { conv_kernel_size = 5, conv_act = "gelu" }, { conv_kernel = 5, conv_activation = "gelu" } },
    },
    classes = {
      Model = { class(parts.model("deberta_v2")[1]) },
      ForSequenceClassification = { class(output({ { "pool", over = "first" },
        { "linear", to = 1536, activation = "tanh" }, labels }, "deberta_v2", { ["output.2.linear"] = "pooler.dense",
          ["output.3.linear"] = "classifier" })), config = { pooler_hidden_act = "tanh", pooler_hidden_size = 1536 } },
      ForTokenClassification = { class(parts.tokens("deberta_v2")[1]) },
      ForQuestionAnswering = { class(parts.question("deberta_v2")[1]) },
      ForMaskedLM = { class(masked[1]), config = { legacy = true } },
    },
  } }
end
