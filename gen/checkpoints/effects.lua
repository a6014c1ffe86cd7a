-- effects.lua: lists keys of config.json that all families share: without effect, or with one supported value.
local words = require("common.words")

local effects = {}

--- Keys without effect on results. They are about training, generation, the tokenizer, labels, and how the folder was
--- made.
effects.none = words.set {
  "architectures", "model_type", "transformers_version", "torch_dtype", "dtype", "_name_or_path", "_commit_hash",
  "use_cache", "initializer_range", "initializer_factor", "initializer_std", "gradient_checkpointing", "output_past",
  "bos_token_id", "eos_token_id", "sep_token_id", "cls_token_id", "mask_token_id", "unk_token_id", "pad_token_id",
  "decoder_start_token_id", "forced_bos_token_id", "forced_eos_token_id", "id2label", "label2id", "num_labels",
  "problem_type", "finetuning_task", "task_specific_params", "pretraining_tp", "chunk_size_feed_forward",
  "return_dict", "torchscript", "use_bfloat16", "tf_legacy_loss", "prefix", "tokenizer_class", "directionality",
  "pooler_fc_size", "pooler_num_attention_heads", "pooler_num_fc_layers", "pooler_size_per_head", "pooler_type",
  "min_length", "max_length", "do_sample", "early_stopping", "num_beams", "num_beam_groups", "diversity_penalty",
  "temperature", "top_k", "top_p", "typical_p", "repetition_penalty", "length_penalty", "no_repeat_ngram_size",
  "encoder_no_repeat_ngram_size", "bad_words_ids", "num_return_sequences", "output_scores", "suppress_tokens",
  "begin_suppress_tokens", "exponential_decay_length_penalty", "remove_invalid_values", "return_dict_in_generate",
  "language", "name", "_attn_implementation", "_attn_implementation_autoset", "attn_implementation",
  "is_encoder_decoder", "qa_dropout", "seq_classif_dropout", "sinusoidal_pos_embds", "tie_weights_",
  "classifier_dropout",
  "classifier_dropout_prob", "summary_type", "summary_use_proj", "summary_activation", "summary_proj_to_labels",
  "summary_first_dropout", "summary_last_dropout", "reorder_and_upcast_attn", "n_ctx", "embd_pdrop", "attn_pdrop",
  "resid_pdrop", "hidden_dropout_prob", "attention_probs_dropout_prob", "attention_dropout", "dropout", "dropout_rate",
  "hidden_dropout", "encoder_stride", "output_attentions", "output_hidden_states", "net_structure_type",
  "num_memory_blocks", "gap_size", "down_scale_factor", "residual_dropout",
  "embedding_dropout", "inner_group_num_", "embedding_type", "layerdrop", "sentence_transformers",
  "sbert_ce_default_activation_function",
}

--- key -> { allowed values, the reason why others are refused }. null is always allowed.
effects.only = {
  is_decoder = { { false }, "causal models of this family are not supported" },
  add_cross_attention = { { false }, "cross-attention is not supported" },
  position_embedding_type = { { "absolute" }, "transformers itself no longer supports others" },
  partial_rotary_factor = { { 1 }, "rotary positions for only a part of a head are not supported" },
  scale_attn_weights = { { true }, "scores without a scale are not supported" },
}

--- Keys that must be null, false or empty.
effects.empty = {
  quantization_config = "quantised safetensors are not supported here", pruned_heads = "pruned heads are not supported",
  auto_map = "models with Python code of their own are not supported; if transformers itself has the class in "
    .. "architectures, remove auto_map from config.json",
  adapters = "adapters are not supported",
}

return effects
