-- file_keys.lua: lists the keys of a checkpoint's files, and what is done about each. known.lua looks a file's keys up.
-- A section is a file, an object in a file, or what one family or architecture has in addition to others. Its fields:
--
--   by        the library that the keys are of, if it is not transformers
--   read      keys that the compiler reads; families and architectures list further ones (checkpoints/families/,
--             checkpoints/architectures.lua)
--   without   reason -> keys without effect here
--   refused   reason -> key -> values that are allowed; others are refused in one line
--   told      reason -> key -> values without effect; others get one line
--
-- null and what is empty is always allowed. Keys are words of a text; * stands for any characters. A test compares the
-- table with the libraries' sources (tests/spec/whole/reference_keys_spec.lua).
local TRAINING, OUTPUT = "of training", "of what a call returns"
local ORIGIN = "says how the folder was made"
local OLDER = "of older versions, which transformers no longer reads"
local LOADING = "of how a program loads or runs the model"
local OTHER_HEADS = "of heads and parts that are not built"
local GENERATION = "of generation, which generation_config.json has"
local TENSORS = "the tensors say the same"
local AGREES = "must agree with other keys"
local PADDING = "texts are not padded"
local OTHER_MODELS = "of architectures that are not supported"
local PYTHON = "models with Python code of their own are not supported; if transformers itself has the class in "
  .. "architectures, remove auto_map from config.json"
local LEFT_OUT = "not supported, and left out: generated texts differ from transformers'"
local BOTH_SIDES = "attention to later tokens is not supported"
local PARALLEL = "parallel parts are not supported"
local NORMED = "residuals of what has a norm are not supported"
local BY_LENGTH = "scores that go by the length are not supported"
local NO, OFF = { false }, { 0, false }

local sections = {}

sections["config.json"] = {
  read = [[architectures bos_token_id decoder_start_token_id eos_token_id id2label model_type pad_token_id problem_type
    quantization_config sbert_ce_default_activation_function sentence_transformers]],
  without = {
    [ORIGIN] = [[_commit_hash _name_or_path dtype finetuning_task label2id language name name_or_path tokenizer_class
      torch_dtype transformers.js_config transformers_version unsloth_*]],
    [TRAINING] = [[attention_dropout attention_probs_dropout_prob attn_pdrop classifier_dropout
      classifier_dropout_prob dropout dropout_rate embd_pdrop embedding_dropout gradient_checkpointing hidden_dropout
      hidden_dropout_prob initializer_factor initializer_range initializer_std layerdrop qa_dropout resid_pdrop
      residual_dropout router_aux_loss_coef router_jitter_noise seq_classif_dropout sinusoidal_pos_embds
      summary_first_dropout summary_last_dropout]],
    [OUTPUT] = [[output_attentions output_hidden_states output_router_logits output_scores return_dict
      return_dict_in_generate tie_last_hidden_states]],
    [LOADING] = [[_attn_implementation _attn_implementation_autoset _attn_implementation_internal
      _experts_implementation_internal _is_quantized attn_implementation chunk_size_feed_forward experts_implementation
      is_encoder_decoder pretraining_tp reorder_and_upcast_attn torchscript use_bfloat16 use_cache]],
    [GENERATION] = [[bad_words_ids begin_suppress_tokens diversity_penalty do_sample early_stopping
      encoder_no_repeat_ngram_size exponential_decay_length_penalty forced_bos_token_id forced_eos_token_id
      length_penalty max_length min_length no_repeat_ngram_size num_beam_groups num_beams num_return_sequences prefix
      remove_invalid_values repetition_penalty suppress_tokens task_specific_params temperature top_k top_p typical_p]],
    [OLDER] = [[_num_labels cross_attention_hidden_size directionality down_scale_factor embedding_type gap_size
      inner_group_num_ layers_to_keep max_sequence_length n_ctx net_structure_type num_memory_blocks output_past
      pooler_fc_size pooler_num_attention_heads pooler_num_fc_layers pooler_size_per_head pooler_type tf_legacy_loss
      tie_encoder_decoder tie_weights_]],
    [OTHER_HEADS] = [[attention_chunk_size chain_hidden_post_norm encoder_stride first_k_dense_replace
      logits_mup_width_multiplier mlp_layer_types mtp_hidden_states_first mtp_layer_types mtp_mlp_layer_types
      mtp_per_layer_config num_mtp_layers summary_activation summary_proj_to_labels summary_type summary_use_proj
      tie_word_embeddings unpadded_vocab_size]],
    ["of special tokens, which the tokenizer's files name"] = [[cls_token_id mask_token_id sep_token_id unk_token_id]],
    [TENSORS] = "num_labels",
  },
  refused = {
    ["adapters are not supported"] = { adapters = NO },
    ["causal models of this family are not supported"] = { is_decoder = NO },
    ["cross-attention is not supported"] = { add_cross_attention = NO },
    [PYTHON] = { auto_map = NO },
    ["weights that MLX quantised are not supported"] = { quantization = NO },
    ["keys for single layers are not supported"] = { per_layer_config = NO },
    ["pruned heads are not supported"] = { pruned_heads = NO },
    ["rotary positions for only a part of a head are not supported"] = { partial_rotary_factor = { 1 } },
    ["scores without a scale are not supported"] = { scale_attn_weights = { true } },
    ["transformers itself no longer supports others"] = { position_embedding_type = { "absolute" } },
    ["heads of tokens without a bias are not supported"] = { token_classification_bias = { true } },
  },
}

-- Each family has keys in addition, which come first. Keys in the family's file are read, whatever is here. Returns the
-- keys of a family that began with BART. Its class has norms in fixed places, whatever the keys say. norms: before or
-- after each part; final: one after the layers; embedding: one of the embeddings; is_static: positions are sinusoidal.
local function of_bart(norms, final, embedding, is_static)
  return { without = {
    [TRAINING] = "activation_dropout classif_dropout decoder_layerdrop encoder_layerdrop init_std",
    [OLDER] = "add_bias_logits extra_pos_embeddings force_bos_token_to_be_generated",
  }, refused = { ["the class of this family computes with the other value"] = {
    normalize_before = { norms == "before" }, add_final_layer_norm = { final }, normalize_embedding = { embedding },
    static_position_embeddings = { is_static } } } }
end

-- Returns the keys of a decoder that reads an encoder's states. refused, training: further keys.
local function of_decoder(refused, training)
  return { refused = refused, without = { ["the decoder is causal and reads the encoder's states"] =
    "add_cross_attention is_decoder", [TRAINING] = training } }
end

local families = {
  albert = { refused = { ["groups of several layers are not supported"] = { inner_group_num = { 1 } } } },
  bert = { without = { [AGREES] = "embedding_size" } },
  blip = { without = { [TRAINING] = "label_smoothing", [AGREES] = "embedding_size encoder_hidden_size", [OTHER_HEADS] =
    "decoder_pad_token_id projection_dim", ["the family's answers are causal"] = "is_decoder" } },
  blip_vision = { without = { [OTHER_HEADS] = "projection_dim" } },
  deberta = { without = { [TRAINING] = "cls_dropout pooler_dropout", [OLDER] = "padding_idx",
    ["transformers computes without it"] = "z_steps" },
    refused = { ["heads that read each other's scores are not supported"] = { talking_head = NO } } },
  deberta_v2 = { without = { [TRAINING] = "cls_dropout pooler_dropout", [OLDER] = "z_steps" } },
  dinov2 = { without = { [TRAINING] = "drop_path_rate layerscale_value use_mask_token", [OTHER_HEADS] =
    "_out_features _out_indices apply_layernorm out_features out_indices reshape_hidden_states stage_names",
    ["mlp_ratio says it"] = "intermediate_size" } },
  ernie = { without = { [TENSORS] = "task_type_vocab_size", [AGREES] = "embedding_size" } },
  layoutlm = { without = { [AGREES] = "embedding_size" } },
  layoutlmv3 = { without = { [AGREES] = "embedding_size" },
    refused = { ["a model without text is not supported"] = { text_embed = { true } } } },
  rembert = { without = { [AGREES] = "embedding_size" } },
  esm = { without = { [AGREES] = "embedding_size head_dim", ["the class is in transformers"] = "auto_map",
    ["only the class of structures reads it"] =
    "esmfold_config", ["the tokenizer's files say it"] = "vocab_list", ["transformers computes without it"] =
    "hidden_act" }, refused = { ["models of structures (ESMFold) are not supported"] = { is_folding_model = NO } } },
  eurobert = { without = { ["the class is in transformers"] = "auto_map", [TRAINING] = "hidden_dropout",
    ["of special tokens, which the tokenizer's files name"] = "bos_token eos_token mask_token pad_token" } },
  longformer = { without = { [LOADING] = "onnx_export", [OLDER] = "attention_mode ignore_attention_mask" } },
  dinov3 = { without = { [TRAINING] = "drop_path_rate layerscale_value pos_embed_jitter "
    .. "pos_embed_rescale pos_embed_shift",
    [OTHER_HEADS] = "_out_features _out_indices apply_layernorm out_features out_indices reshape_hidden_states "
      .. "return_class_token stage_names" } },
  gemma = { without = { ["transformers only reads hidden_act"] = "hidden_activation" },
    refused = { [BOTH_SIDES] = { use_bidirectional_attention = NO } } },
  gemma2 = { without = { ["transformers only reads hidden_activation"] = "hidden_act", [LOADING] =
    "cache_implementation" }, refused = { [BOTH_SIDES] = { use_bidirectional_attention = NO } } },
  gemma3 = { without = { ["transformers computes without it"] = "attn_logit_softcapping",
    ["transformers only reads hidden_activation"] = "hidden_act", [LOADING] = "cache_implementation",
    ["sliding_window_pattern says it"] = "_sliding_window_pattern" } },
  gemma3n = { without = { [TRAINING] = "altup_coef_clip", [OTHER_HEADS] = "gradient_clipping" } },
  gemma4 = { without = { [OTHER_HEADS] = "standardize" } },
  olmoe = { refused = { ["transformers has windows in one of its attentions only"] = { sliding_window = {} } } },
  gpt_neox = { without = { ["the family is causal"] = "is_decoder" }, refused = {
    ["rotary positions for heads of another width are not supported"] = { head_dim = {} } } },
  gte = { without = { ["the class is in transformers"] = "auto_map", [LOADING] =
    "unpad_inputs use_memory_efficient_attention" }, refused = {
    ["GTE without rotary positions is not supported"] = { position_embedding_type = { "rope" } },
    ["other norms are not supported"] = { layer_norm_type = { "layer_norm" } },
    [BY_LENGTH] = { logn_attention_clip1 = NO, logn_attention_scale = NO } } },
  jina_bert = { without = { ["the class is supported here"] = "auto_map", [ORIGIN] = "emb_pooler embedding_model",
    ["the tokenizer's files say it"] = "model_max_length" }, refused = {
    ["JinaBERT with other positions is not supported"] = { position_embedding_type = { "alibi" } },
    ["distances that are scaled are not supported"] = { alibi_scaling = { 1 } } } },
  modernbert = { without = { [TRAINING] = [[initializer_cutoff_factor mlp_dropout sparse_pred_ignore_index
    sparse_prediction]], [LOADING] = "deterministic_flash_attn reference_compile repad_logits_with_grad",
    [AGREES] = "head_dim", [OLDER] = "layer_norm_eps position_embedding_type" } },
  lfm2 = { without = { [TRAINING] =
    "block_mlp_init_scale block_out_init_scale block_use_xavier_init conv_use_xavier_init",
    [AGREES] = "block_dim conv_dim conv_dim_out num_heads", ["transformers computes without it"] =
    "block_norm_eps block_use_swiglu use_pos_enc" } },
  lfm2_moe = { without = { ["transformers computes without it"] = "use_pos_enc" } },
  llama = { without = { [ORIGIN] = "is_llama_config", ["transformers computes without it"] = "rope_interleaved" } },
  mpnet = { without = { [AGREES] = "embedding_size" }, refused = {
    ["transformers always uses 32"] = { relative_attention_num_buckets = { 32 } } } },
  nomic_bert = { without = { ["the class is supported here"] = "auto_map",
    [LOADING] = "fused_bias_fc fused_dropout_add_ln use_flash_attn use_xentropy",
    [OTHER_HEADS] = "add_pooling_layer dense_seq_output",
    ["of how experts are trained or computed"] = "moe_impl moe_resid_pdrop",
    ["the published code computes without it"] = "scale_attn_by_inverse_layer_idx" }, refused = {
    ["rotary positions for only a part of a head are not supported"] = { rotary_emb_fraction = { 1 } },
    ["pairs of neighbours are not supported"] = { rotary_emb_interleaved = NO },
    ["scores that fade with the distance are not supported"] = { rotary_emb_scale_base = {} },
    ["norms before the parts are not supported"] = { prenorm = NO },
    ["norms within feed-forwards are not supported"] = { norm_mlp = NO },
    [PARALLEL] = { parallel_block = NO, parallel_block_tied_norm = NO },
    ["RMS norms are not supported"] = { use_rms_norm = NO },
    ["causal models of this family are not supported"] = { causal = NO },
    ["shared keys and values are not supported"] = { num_heads_kv = {} },
    ["positions by heads are not supported"] = { rotary_head_dim = NO },
    ["experts that choose their tokens are not supported"] = { expert_choice_router = NO },
    ["shared experts of this family are not supported"] = { num_shared_experts = { 0 } },
    ["experts of another width are not supported"] = { ffn_div = { 1 } } } },
  gpt_oss = { without = { [AGREES] = "experts_per_token initial_context_length" }, refused = {
    ["gates other than x sigmoid(1.702 x) are not supported"] = { swiglu_alpha = { 1.702 } } } },
  phi = { without = { ["transformers has the class"] = "auto_map" } },
  phi3 = { without = { ["transformers has the class"] = "auto_map", ["transformers computes without it"] =
    "attention_bias full_attn_mod interpolate_factor lm_head_bias mlp_bias" } },
  qwen2 = { without = { ["transformers computes without it"] = "use_mrope" } },
  bloom = { without = { [OLDER] = [[attention_softmax_in_fp32 bias_dropout_fusion
      masked_softmax_fusion n_inner offset_alibi skip_bias_add skip_bias_add_qkv]] },
    refused = { [NORMED] = { apply_residual_connection_post_layernorm = NO },
      ["products in slices, without their biases, are not supported"] = { slow_but_exact = NO } } },
  cohere2 = { without = { ["transformers computes without it"] = [[layer_switch order_of_interleaved_layers rotary_pct
      use_embedding_sharing use_gated_activation use_parallel_block use_parallel_embedding use_qk_norm]],
    [LOADING] = "cache_implementation" },
    refused = { ["transformers always rotates pairs"] = { position_embedding_type = { "rope_gptj" } } } },
  exaone4 = { read = "sliding_window_pattern" },
  falcon = { without = { ["transformers has the class"] = "auto_map", [AGREES] = "head_dim", [OLDER] =
    "apply_residual_connection_post_layernorm ff_factor" } },
  gpt_neo = { without = { [TRAINING] = "embed_dropout resid_dropout" } },
  gptj = { refused = { ["GPT-J without rotary positions is not supported"] = { rotary = { true } } } },
  internlm2 = { without = { ["the class is supported here"] = "auto_map" } },
  internlm3 = { without = { ["transformers has the class"] = "auto_map" } },
  mpt = { without = { ["transformers has the class"] = "auto_map",
      [TRAINING] = "emb_pdrop embedding_fraction init_config",
      [LOADING] = "init_device verbose", [ORIGIN] = "tokenizer_name",
      ["transformers computes without it"] = "learned_pos_emb logit_scale norm_type" },
    refused = { ["transformers always has four times d_model"] = { expansion_ratio = { 4 } },
      ["transformers has no biases"] = { no_bias = { true } } } },
  opt = { without = { [TRAINING] = "init_std" },
    refused = { ["norms without a weight are not supported"] = { layer_norm_elementwise_affine = { true } } } },
  roberta = { without = { [AGREES] = "embedding_size" } },
  roberta_pre = { without = { [AGREES] = "embedding_size" } },
  siglip_vision = { without = { [OTHER_HEADS] = "num_image_tokens projection_dim" },
    refused = { ["an image tower without its head"] = { vision_use_head = { true } } } },
  siglip2_vision = { without = { ["the processor says the size of pictures"] = "image_size" },
    refused = { ["an image tower without its head"] = { vision_use_head = { true } } } },
  smollm3 = { without = { ["transformers computes without it"] = "max_window_layers" } },
  starcoder2 = { without = { ["the same in all folders"] =
    "activation_function layer_norm_epsilon mlp_type norm_type" } },
  bart = of_bart("after", false, true, false),
  m2m_100 = of_bart("before", true, false, true),
  marian = of_bart("after", false, false, true),
  mbart = of_bart("before", true, true, false),
  pegasus = of_bart("before", true, false, true),
  t5_writer = { without = { [TENSORS] = "is_gated_act" } },
  t5 = { without = { [OTHER_HEADS] = "num_decoder_layers scale_decoder_outputs tie_word_embeddings",
    [TENSORS] = "is_gated_act" } },
  vision_gpt2 = of_decoder { ["scores by layers are not supported"] = { scale_attn_by_inverse_layer_idx = NO } },
  vision_trocr = of_decoder({}, "activation_dropout decoder_layerdrop init_std"),
  moonshine = { without = { ["of kernels, whose results are the same"] = "pad_head_dim_to_multiple_of" } },
  whisper = { without = { [TRAINING] = [[activation_dropout apply_spec_augment decoder_layerdrop encoder_layerdrop
    init_std mask_feature_length mask_feature_min_masks mask_feature_prob mask_time_length mask_time_min_masks
    mask_time_prob]], [OTHER_HEADS] = "classifier_proj_size use_weighted_layer_sum",
    ["generation_config.json says it"] = "alignment_heads forced_decoder_ids",
    ["transformers computes without it"] = "scale_embedding" } },
  wav2vec2 = { without = { ["conv_dim says it"] = "num_feat_extract_layers", [TRAINING] =
    [[activation_dropout apply_spec_augment contrastive_logits_temperature ctc_loss_reduction ctc_zero_infinity
      diversity_loss_weight feat_extract_dropout feat_proj_dropout feat_quantizer_dropout final_dropout
      freeze_feat_extract_train mask_channel_length mask_channel_min_space mask_channel_other mask_channel_prob
      mask_channel_selection mask_feature_length mask_feature_min_masks mask_feature_prob mask_time_length
      mask_time_min_masks mask_time_min_space mask_time_other mask_time_prob mask_time_selection
      no_mask_channel_overlap no_mask_time_overlap num_negatives replace_prob]], [OTHER_HEADS] =
    [[adapter_kernel_size adapter_stride codevector_dim num_adapter_layers num_clusters num_codevector_groups
      num_codevectors_per_group num_ctc_classes output_hidden_size proj_codevector_dim]] }, refused = {
    ["a weighted sum of all layers' states is not supported"] = { use_weighted_layer_sum = NO },
    ["an adapter of convolutions after the layers is not supported"] = { add_adapter = NO },
    ["a batch norm of the positions is not supported"] = { conv_pos_batch_norm = NO } } },
}
families.wavlm = families.wav2vec2
for name, section in pairs(families) do sections["config.json of " .. name] = section end

-- config.json of a model with an object for each part, by its model_type.
sections["config.json with parts"] = {
  read = [[decoder encoder projection_dim text_config text_config_dict tie_word_embeddings vision_config
    vision_config_dict]],
  without = {
    [TRAINING] = "label_smoothing logit_scale_init_value",
    [OTHER_HEADS] = [[audio_config audio_soft_tokens_per_image audio_token_id boa_token_id boi_token_id boi_token_index
      eoa_token_id eoa_token_index eoi_token_id eoi_token_index image_text_hidden_size image_token_id image_token_index
      mm_tokens_per_image multimodal_projector_bias projector_hidden_act spatial_merge_size video_token_id
      vision_feature_layer vision_soft_tokens_per_image]],
  },
}

sections["config.json: attn_config"] = {
  without = { [TRAINING] = "attn_pdrop", [LOADING] = "attn_impl" },
  refused = {
    ["transformers computes with the other value"] = { alibi = { true }, attn_type = { "multihead_attention" },
      attn_uses_sequence_id = NO, prefix_lm = NO, qk_ln = NO } },
}

sections["config.json: rope_parameters"] = {
  read = [[attention_factor beta_fast beta_slow factor high_freq_factor llama_4_scaling_beta long_factor
    low_freq_factor mixed_b mscale mscale_all_dim original_max_position_embeddings partial_rotary_factor
    rope_theta rope_type short_factor truncate type]],
  without = { [AGREES] = "max_position_embeddings" },
}

sections["config.json: quantization_config"] = {
  read = [[bits checkpoint_format config_groups desc_act format is_marlin_format kv_cache_scheme pack_dtype
    packing_format quant_method sparsity_config sym transform_config version w_bit]],
  without = {
    [TENSORS] = [[dynamic extra_config group_size ignore layer_config lm_head modules_to_not_convert q_group_size
      quant_lm_head zero_point]],
    ["says how the folder was quantised"] = [[act_group_aware amp autoround_version batch_size block_list
      block_name_to_quantize cache_block_outputs damp_auto_increment damp_percent data_type dataset enable_minmax_tuning
      enable_norm_bias_tuning enable_quanted_input global_compression_ratio gradient_accumulate_steps iters
      low_cpu_mem_usage low_gpu_mem_usage lr max_input_length meta minmax_lr model_file_base_name model_name_or_path
      model_seqlen module_name_preceding_first_block modules_in_block_to_quantize nsamples pad_token_id quant_block_list
      quantization_status quantizer scale_dtype seqlen static_groups to_quant_block_names tokenizer true_sequential]],
    [LOADING] = [[backend dequantize disable_exllama do_fuse exllama_config fuse_max_seq_len inference_mode
      modules_to_fuse run_compressed use_cuda_fp16 use_exllama use_optimized_inference]],
  },
}
sections["config.json: quantization_config: config_groups"] = { by = "compressed-tensors",
  read = "format input_activations output_activations weights", without = { [TENSORS] = "targets" } }
sections["config.json: quantization_config: config_groups: weights"] = { by = "compressed-tensors",
  read = "num_bits strategy type", without = { [TENSORS] = [[actorder block_structure group_size scale_dtype symmetric
    zp_dtype]], ["says how the folder was quantised"] = "observer observer_kwargs" },
  refused = { ["scales that go by the input are not supported"] = { dynamic = NO } } }

sections["generation_config.json"] = {
  read = [[alignment_heads bad_words_ids begin_suppress_tokens compression_ratio_threshold condition_on_prev_tokens
    decoder_start_token_id do_sample early_stopping eos_token_id forced_bos_token_id forced_decoder_ids
    forced_eos_token_id is_multilingual lang_to_id language length_penalty logprob_threshold
    max_initial_timestamp_index max_length max_new_tokens min_length min_new_tokens min_p no_repeat_ngram_size
    no_speech_threshold no_timestamps_token_id num_beams prev_sot_token_id renormalize_logits repetition_penalty
    suppress_tokens task task_to_id temperature top_k top_p]],
  without = {
    [ORIGIN] = "_commit_hash _from_model_config transformers_version",
    ["config.json says it"] = "median_filter_width",
    [OUTPUT] = [[num_return_sequences output_attentions output_hidden_states output_logits output_scores
      return_dict_in_generate]],
    [LOADING] = [[cache_config compile_config continuous_batching_config disable_compile low_memory max_cache_len
      prefill_chunk_size use_cache use_mtp]],
    ["of drafts, which change no token"] = [[assistant_confidence_threshold assistant_early_exit
      assistant_ensemble_weight assistant_lookbehind is_assistant max_matching_ngram_size num_assistant_tokens
      num_assistant_tokens_schedule prompt_lookup_num_tokens speculation_type target_lookbehind]],
    ["the order of tokens stays"] = "remove_invalid_values",
    ["of special tokens, which the tokenizer's files name"] = "bos_token_id pad_token_id",
  },
  refused = {
    ["groups of beams are not supported"] = { num_beam_groups = { 1 }, diversity_penalty = { 0 } },
    ["constrained search is not supported"] = { constraints = {}, force_words_ids = {} },
    ["contrastive search is not supported"] = { penalty_alpha = { 0 } },
    ["contrasting layers (DoLa) is not supported"] = { dola_layers = {} },
  },
  told = { [LEFT_OUT] = {
    cache_implementation = { "dynamic", "dynamic_full", "hybrid",
      "hybrid_chunked", "offloaded", "offloaded_hybrid", "offloaded_static", "sliding_window", "static" },
    encoder_no_repeat_ngram_size = { 0 }, encoder_repetition_penalty = { 1 },
    epsilon_cutoff = { 0 }, eta_cutoff = { 0 }, exponential_decay_length_penalty = {},
    force_bos_token_to_be_generated = NO, guidance_scale = { 1 }, max_time = {}, sequence_bias = {}, stop_strings = {},
    token_healing = NO, top_h = {}, typical_p = { 1 }, watermarking_config = {} },
    ["not read: a call has timestamps with --timestamps, or if its sound is longer than a window"] = {
      return_timestamps = NO },
    ["not read: a prompt is before the first window"] = { prompt_condition_type = { "first-segment" } } },
}

sections["preprocessor_config.json"] = {
  read = [[crop_size default_to_square do_center_crop do_normalize do_rescale do_resize feature_extractor_type
    image_mean image_processor_type image_std max_num_patches do_pad pad_size patch_size resample rescale_factor size]],
  without = {
    [ORIGIN] = [[_backend _processor_class _valid_kwargs_names _valid_processor_keys auto_map model_input_names
      processor_class processor_type]],
    [LOADING] = "data_format device disable_grouping input_data_format return_tensors",
    ["pictures have three colours"] = "do_convert_rgb",
    ["a call gives words and boxes"] = "apply_ocr ocr_lang tesseract_config",
    [AGREES] = "image_seq_length",
  },
  refused = { ["size says it"] = { use_square_size = NO } },
}

sections["preprocessor_config.json of sound"] = {
  read = [[chunk_length do_normalize feature_extractor_type feature_size hop_length max_length mean n_fft num_mel_bins
    sampling_rate std]],
  without = {
    [ORIGIN] = "_processor_class auto_map model_input_names processor_class",
    [LOADING] = "device pad_to_multiple_of padding padding_side return_attention_mask return_tensors truncation",
    ["other keys say it"] = "mel_filters n_samples nb_max_frames",
  },
  refused = { ["sounds are filled up with zeros"] = { padding_value = { 0 } },
    ["noise is not added"] = { dither = { 0 } } },
}

local special_tokens = "bos_token cls_token eos_token mask_token pad_token sep_token unk_token"

sections["tokenizer_config.json"] = {
  read = special_tokens .. [[ add_bos_token add_eos_token add_prefix_space added_tokens_decoder
    additional_special_tokens chat_template clean_up_tokenization_spaces cls_token_box do_lower_case extra_ids
    extra_special_tokens keep_accents language_codes legacy legacy_behaviour mask_token_sent max_len model_input_names
    model_max_length offset pad_token_box padding_side replace_word_delimiter_char sep_token_box separate_vocabs
    split_by_punct split_special_tokens src_lang strip_accents target_lang
    tokenize_chinese_chars tokenizer_class truncation_side word_delimiter_token]],
  without = {
    [ORIGIN] = [[_commit_hash auto_map backend device_map fast_tokenizer_files files_loaded from_slow gguf_file
      init_inputs is_fast is_local local_files_only merges_file name_or_path normalizer_file processor_class
      slow_tokenizer_class source_spm special_tokens_map_file spm_file target_spm target_vocab_file tokenizer_file
      use_fast verbose vocab_file]],
    [PADDING] = "max_length pad_to_multiple_of pad_token_type_id padding",
    [TRAINING] = "only_label_first_subword pad_token_label",
    ["a call says how texts are cut"] = "stride truncation truncation_strategy",
    ["of texts made of WordPiece's tokens, which no model here writes"] =
      "spaces_between_special_tokens wordpieces_prefix",
    ["tokenizer.json has the steps"] = [[do_basic_tokenize merges never_split normalization post_processor
      remove_space tokenizer_padding tokenizer_truncation trim_offsets unk_id use_regex vocab vocab_type]],
    ["tokenizer.json has the tokens"] = "*_token model_specific_special_tokens",
    ["a call says the language to write"] = "tgt_lang",
    ["a call says what goes before speech"] = "language predict_timestamps task",
    ["of the punctuation of sources, which transformers leaves as it is"] = "source_lang",
    ["of rows without a token"] = "num_madeup_words",
    ["of how a chat's texts are shown or read back"] = "chat_control_tokens response_schema response_template",
    [OLDER] = "errors use_default_system_prompt",
  },
  told = {
    ["not supported: texts' tokens may differ from transformers'"] = { fix_mistral_regex = NO,
      sp_model_kwargs = {} },
    ["not supported: texts that are written differ from transformers'"] = {
      clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output = NO },
  },
}

sections["special_tokens_map.json"] = {
  read = special_tokens,
  without = { ["tokenizer.json has the tokens"] = "*_token additional_special_tokens extra_special_tokens" },
}

-- Members of components have the component's type in front.
sections["tokenizer.json"] = {
  by = "tokenizers",
  read = [[BPE.byte_fallback BPE.continuing_subword_prefix BPE.end_of_word_suffix BPE.fuse_unk BPE.ignore_merges
    BPE.merges BPE.unk_token BPE.vocab BPEDecoder.suffix BertNormalizer.clean_text BertNormalizer.handle_chinese_chars
    BertNormalizer.lowercase BertNormalizer.strip_accents BertProcessing.cls BertProcessing.sep
    ByteLevel.add_prefix_space ByteLevel.trim_offsets ByteLevel.use_regex Digits.individual_digits
    Metaspace.add_prefix_space Metaspace.prepend_scheme Metaspace.replacement Metaspace.split
    Precompiled.precompiled_charsmap Prepend.prepend Punctuation.behavior Replace.content Replace.pattern
    RobertaProcessing.add_prefix_space RobertaProcessing.cls RobertaProcessing.sep RobertaProcessing.trim_offsets
    Sequence.decoders Sequence.normalizers Sequence.pretokenizers Sequence.processors Split.behavior Split.invert
    Split.pattern Strip.content Strip.start Strip.stop Strip.strip_left Strip.strip_right TemplateProcessing.pair
    TemplateProcessing.single TemplateProcessing.special_tokens Unigram.byte_fallback Unigram.unk_id Unigram.vocab
    WordPiece.cleanup WordPiece.continuing_subword_prefix WordPiece.max_input_chars_per_word WordPiece.prefix
    WordPiece.unk_token WordPiece.vocab added_tokens added_tokens.content added_tokens.id added_tokens.lstrip
    added_tokens.normalized added_tokens.rstrip added_tokens.single_word added_tokens.special decoder model normalizer
    post_processor pre_tokenizer truncation truncation.direction truncation.max_length truncation.strategy
    truncation.stride version]],
  without = { [PADDING] = "padding", [OLDER] = "Metaspace.str_rep" },
  refused = { ["only null and 0 are supported"] = { ["BPE.dropout"] = { 0 } } },
}

sections["modules.json"] = { by = "sentence-transformers", read = "path type",
  without = { [ORIGIN] = "idx name", ["of a call"] = "kwargs" } }

sections["sentence_bert_config.json"] = {
  by = "sentence-transformers",
  read = "do_lower_case max_seq_length modality_config processor_kwargs tokenizer_args",
  without = { [LOADING] = "model_args model_kwargs unpad_inputs" },
  refused = {
    ["other tasks than embeddings and scores of pairs are not supported"] = {
      transformer_task = { "feature-extraction", "sequence-classification", "fill-mask" } },
    ["only token_embeddings and scores are supported"] = { module_output_name = { "token_embeddings", "scores" } },
  },
  told = { ["not supported, and left out: results may differ from sentence-transformers'"] = { config_args = {},
    config_kwargs = {}, document_length = {}, processing_kwargs = {}, query_expansion = {}, query_length = {},
    tokenizer_name_or_path = {} } },
}
sections["sentence_bert_config.json of MultiVectorEncoder"] = { by = "sentence-transformers",
  read = "document_length query_expansion query_length" }
sections["sentence_bert_config.json: processor_kwargs"] = { by = "sentence-transformers", read = "model_max_length",
  without = { [PADDING] = "padding_side", [LOADING] = "trust_remote_code use_fast" } }

sections["config.json of jina_v3"] = {
  read = "auto_map lora_adaptations lora_alpha lora_rank position_embedding_type task_instructions",
  without = {
    [TRAINING] = "lora_dropout_p lora_main_params_trainable",
    [LOADING] = "load_trained_adapters use_flash_attn use_reentrant",
    ["of prompts and embeddings, which config_sentence_transformers.json has"] = [[emb_pooler matryoshka_dimensions
      truncate_dim]],
  },
}

sections["adapter_config.json"] = {
  by = "peft",
  read = [[alpha_pattern ensure_weight_tying exclude_modules layers_pattern layers_to_transform lora_alpha lora_bias
    peft_type r rank_pattern target_modules target_parameters use_dora use_rslora]],
  without = {
    [ORIGIN] = [[auto_mapping base_model_name_or_path corda_config eva_config loftq_config lora_ga_config peft_version
      revision task_type velora_config]],
    [TRAINING] = "inference_mode lora_dropout monteclora_config",
    [LOADING] = "megatron_config megatron_core qalora_group_size runtime_config",
    [TENSORS] = "bias fan_in_fan_out modules_to_save",
  },
  refused = {
    ["PEFT would change the model's weights, too; save_pretrained's path_initial_model_for_weight_conversion converts "
      .. "the adapter"] = { init_lora_weights = { true, false, "gaussian", "eva", "orthogonal", "mica" } },
    ["adapters of this kind are not supported"] = { alora_invocation_tokens = {}, arrow_config = {}, kasa_config = {},
      layer_replication = {}, trainable_token_indices = {}, use_bdlora = NO, use_qalora = NO },
  },
}

sections["GGUF of an adapter"] = {
  by = "llama.cpp",
  read = "adapter.lora.alpha adapter.type general.architecture general.type",
  without = { [ORIGIN] = [[adapter.lora.prompt_prefix adapter.lora.task_name general.*]] },
  refused = { ["adapters that begin at some tokens (aLoRA) are not supported"] = {
    ["adapter.alora.invocation_tokens"] = {} } },
}

sections["config_sentence_transformers.json"] = {
  by = "sentence-transformers",
  read = [[activation_fn attend_to_expansion_tokens default_prompt_name do_query_expansion document_length
    document_prefix prompts query_length query_prefix similarity_fn_name skiplist_words truncate_dim]],
  without = { [ORIGIN] = "__version__ requirements", [LOADING] = "keep_in_fp32_modules" },
  refused = { ["supported are SentenceTransformer, SparseEncoder, CrossEncoder, MultiVectorEncoder and ColBERT"] = {
    model_type = { "SentenceTransformer", "SparseEncoder", "CrossEncoder", "MultiVectorEncoder", "ColBERT" } } },
}

sections["router_config.json"] = { by = "sentence-transformers", read = "parameters structure types" }

sections["router_config.json: parameters"] = { by = "sentence-transformers", read = "default_route route_mappings",
  without = { ["of routers without a default route"] = "allow_empty_key" } }

sections["gliner_config.json"] = {
  by = "GLiNER",
  read = [[class_token_index encoder_config ent_token hidden_size max_len max_width model_name num_rnn_layers sep_token
    vocab_size]],
  without = {
    [ORIGIN] = "_name_or_path dtype name torch_dtype transformers_version",
    [TRAINING] = [[adjacency_loss_coef dropout eval_every fine_tune freeze_* id_to_classes label_smoothing log_dir
      loss_* lr_* max_neg_type_ratio max_types neg_spans_ratio negatives num_steps prev_path random_drop
      relation_loss_coef root_dir save_total_limit scheduler_type shuffle_types size_sup span_loss_coef
      token_loss_coef train_* val_data_dir warmup_ratio weight_decay_*]],
    [LOADING] = [[_attn_implementation architectures chunk_size_feed_forward id2label is_encoder_decoder label2id
      output_attentions output_hidden_states problem_type return_dict]],
    ["with no post_fusion_schema"] = "num_post_fusion_layers",
  },
  refused = {
    ["marker, markerV0 and token_level are"] = { span_mode = { "marker", "markerV0", "token_level" } },
    ["only models of spans or words with one encoder are"] = { model_type = { "gliner", "gliner_uni_encoder_span",
      "gliner_uni_encoder_token" } },
    ["models with several encoders, decoders, or relations are not supported"] = { labels_encoder = {},
      labels_encoder_config = {}, labels_decoder = {}, relations_layer = {} },
    ["the states of several layers are not summed"] = { fuse_layers = NO },
    ["cross-attention of words and labels is not supported"] = { post_fusion_schema = { "" } },
    ["a word's first token is"] = { subtoken_pooling = { "first" } },
    ["whitespace is"] = { words_splitter_type = { "whitespace" } },
    ["labels are read at their own token"] = { embed_ent_token = { true } },
    ["an encoder of words is not supported"] = { span_encoder_config = {} },
    ["labels are part of each text"] = { precomputed_prompts_mode = NO },
    ["spans of a model of tokens are not supported"] = { represent_spans = NO },
  },
}

sections["artifact.metadata"] = {
  by = "ColBERT",
  read = "attend_to_mask_tokens doc_maxlen doc_token_id mask_punctuation query_maxlen query_token_id",
  without = { ["of training and indexes"] = "*", [TENSORS] = "dim" },
}

local module_names = "module_input_name module_output_name"
for kind, section in pairs {
  Pooling = { read = [[include_prompt pooling_mode pooling_mode_cls_token pooling_mode_lasttoken pooling_mode_max_tokens
    pooling_mode_mean_sqrt_len_tokens pooling_mode_mean_tokens pooling_mode_weightedmean_tokens]],
    without = { [TENSORS] = "embedding_dimension word_embedding_dimension" } },
  SpladePooling = { read = "activation_function pooling_strategy",
    without = { [TENSORS] = "embedding_dimension word_embedding_dimension", [LOADING] = "chunk_size" } },
  Dense = { read = module_names .. " activation_function bias out_features", without = { [TENSORS] = "in_features" },
    refused = { ["residuals are not supported"] = { use_residual = NO } } },
  LayerNorm = { read = module_names, without = { [TENSORS] = "dimension" } },
  Normalize = { read = module_names },
  Dropout = { without = { [TRAINING] = "dropout" } },
  SparseStaticEmbedding = { read = "path", without = { [TRAINING] = "frozen" } },
  MultiVectorMask = { read = "keep_only_token_ids skiplist_tasks skiplist_words" },
} do
  section.by = "sentence-transformers"
  sections["config.json of module " .. kind] = section
end

sections.GGUF = {
  by = "llama.cpp",
  read = [[general.alignment general.architecture general.sampling.min_p general.sampling.penalty_repeat
    general.sampling.temp general.sampling.top_k general.sampling.top_p split.count split.no split.tensors.count
    tokenizer.chat_template tokenizer.ggml.add_bos_token tokenizer.ggml.add_eos_token tokenizer.ggml.add_space_prefix
    tokenizer.ggml.bos_token_id tokenizer.ggml.cls_token_id tokenizer.ggml.eom_token_id tokenizer.ggml.eos_token_id
    tokenizer.ggml.eot_token_id tokenizer.ggml.mask_token_id tokenizer.ggml.merges tokenizer.ggml.model
    tokenizer.ggml.normalizer.lowercase tokenizer.ggml.normalizer.strip_accents tokenizer.ggml.padding_token_id
    tokenizer.ggml.pre tokenizer.ggml.precompiled_charsmap tokenizer.ggml.remove_extra_whitespaces
    tokenizer.ggml.scores tokenizer.ggml.separator_token_id tokenizer.ggml.seperator_token_id
    tokenizer.ggml.token_type tokenizer.ggml.token_type_count tokenizer.ggml.tokens tokenizer.ggml.unknown_token_id
    {arch}.attention.causal
    {arch}.pooling_type {arch}.rope.dimension_count {arch}.rope.scale_linear {arch}.rope.scaling.attn_factor
    {arch}.rope.scaling.factor {arch}.rope.scaling.original_context_length {arch}.rope.scaling.type
    {arch}.vocab_size]],
  without = {
    [ORIGIN] = [[general.author general.base_model.* general.basename general.dataset.* general.datasets
      general.description general.doi general.file_type general.finetune general.languages general.license
      general.license.* general.name general.organization general.parameter_count general.quantization_version
      general.quantized_by general.repo_url general.size_label general.source.* general.tags general.type general.url
      general.uuid general.version imatrix.* mradermacher.* quantize.imatrix.*]],
    [TENSORS] = [[{arch}.attention.head_count_kv {arch}.attention.key_length
      {arch}.attention.layer_norm_epsilon {arch}.attention.layer_norm_rms_epsilon {arch}.attention.value_length
      {arch}.classifier.output_labels {arch}.embedding_length_out {arch}.tensor_data_layout
      {arch}.use_parallel_residual]],
    ["of experts, where the tensors say the same"] = [[{arch}.expert_chunk_feed_forward_length
      {arch}.expert_feed_forward_length {arch}.expert_group_scale {arch}.expert_group_used_count
      {arch}.expert_shared_feed_forward_length {arch}.expert_weights_norm {arch}.experts_per_group
      {arch}.moe_latent_size]],
    [OTHER_MODELS] = [[adapter.* clip.* diffusion.* tokenizer.rwkv.world xielu.* {arch}.activation_sparsity_scale
      {arch}.altup.* {arch}.attention.*_lora_rank {arch}.attention.*_mla {arch}.attention.group_norm_*
      {arch}.attention.indexer.* {arch}.attention.output_scale {arch}.attention.relative_buckets_count
      {arch}.attention.shared_kv_layers {arch}.attention.temperature_* {arch}.convnext.* {arch}.decoder_block_count
      {arch}.decoder_start_token_id {arch}.embedding_length_per_layer_input {arch}.features_length
      {arch}.full_attention_interval {arch}.kda.* {arch}.n_deepstack_layers
      {arch}.posnet.* {arch}.rescale_every_n_layers {arch}.rope.scaling.alpha {arch}.rope.scaling.yarn_*
      {arch}.shortconv.* {arch}.ssm.* {arch}.swiglu_clamp_* {arch}.swin_norm {arch}.time_decay_extra_dim
      {arch}.time_mix_extra_dim {arch}.token_shift_count {arch}.wkv.*]],
    ["of training"] = "{arch}.rope.scaling.finetuned",
    ["of layers with a window, which other models have not"] = [[{arch}.attention.key_length_swa
      {arch}.attention.value_length_swa {arch}.rope.dimension_count_swa {arch}.rope.freq_base_swa]],
    ["llama.cpp reads them for Gemma, Granite and Grok only"] = [[{arch}.attention.scale
      {arch}.attn_logit_softcapping {arch}.final_logit_softcapping {arch}.router_logit_softcapping]],
    ["tokens and scores say the same"] = "tokenizer.huggingface.json",
    ["of programs that fill in code or rank"] = [[tokenizer.ggml.add_sep_token tokenizer.ggml.fim_*
      tokenizer.ggml.middle_token_id tokenizer.ggml.prefix_token_id tokenizer.ggml.suffix_token_id]],
    ["the template that has no name is taken"] = "tokenizer.chat_template.* tokenizer.chat_templates",
  },
  refused = { [""] = {
    ["{arch}.attention.clamp_kqv"] = OFF,
    ["{arch}.attention.max_alibi_bias"] = OFF,
    ["{arch}.attention.sliding_window"] = OFF, ["{arch}.attention.sliding_window_pattern"] = OFF,
    ["{arch}.embedding_scale"] = OFF, ["{arch}.expert_count"] = OFF, ["{arch}.expert_shared_count"] = OFF,
    ["{arch}.expert_used_count"] = OFF, ["{arch}.expert_gating_func"] = { 0, 1 },
    ["{arch}.expert_group_count"] = { 0, 1 }, ["{arch}.expert_weights_scale"] = { 0, 1 },
    ["{arch}.interleave_moe_layer_step"] = { 0, 1 }, ["{arch}.leading_dense_block_count"] = OFF,
    ["{arch}.moe_every_n_layers"] = { 0, 1 }, ["{arch}.nextn_predict_layers"] = OFF,
    ["{arch}.logit_scale"] = OFF,
    ["{arch}.residual_scale"] = OFF,
    ["{arch}.rope.dimension_sections"] = OFF,
    ["{arch}.*_feat_in"] = OFF, ["{arch}.*_feat_out"] = OFF } },
  told = { ["not supported, and left out: generated texts differ from llama.cpp's"] = {
    ["general.sampling.mirostat"] = OFF, ["general.sampling.mirostat_eta"] = {}, ["general.sampling.mirostat_tau"] = {},
    ["general.sampling.penalty_last_n"] = {}, ["general.sampling.sequence"] = {},
    ["general.sampling.xtc_probability"] = OFF, ["general.sampling.xtc_threshold"] = {},
    ["tokenizer.ggml.suppress_tokens"] = {} } },
}
sections["GGUF of granite"] = { by = "llama.cpp", refused = {
  ["Granite without rotary positions is not supported"] = { ["{arch}.rope.scaling.finetuned"] = { true } } } }
for _, name in ipairs { "bert", "nomic-bert" } do
  sections["GGUF of " .. name] = { by = "llama.cpp", refused = {
    ["causal models of this family are not supported"] = { ["{arch}.attention.causal"] = NO } } }
end
sections["GGUF of t5"] = { by = "llama.cpp", read = [[{arch}.attention.relative_buckets_count
  {arch}.decoder_block_count {arch}.decoder_start_token_id]] }
sections["GGUF of t5encoder"] = { by = "llama.cpp", read = "{arch}.attention.relative_buckets_count" }
sections["GGUF of gpt2"] = { by = "llama.cpp", refused = {
  [BOTH_SIDES] = { ["{arch}.attention.causal"] = { true } } } }
sections["GGUF of gptneox"] = { by = "llama.cpp", read = "{arch}.use_parallel_residual" }
for _, name in ipairs { "bloom", "mpt" } do
  sections["GGUF of " .. name] = { by = "llama.cpp", without = { [TENSORS] = "{arch}.feed_forward_length" } }
end
local of_windows = { [""] = { ["{arch}.attention.key_length_swa"] = OFF,
  ["{arch}.attention.value_length_swa"] = OFF, ["{arch}.rope.dimension_count_swa"] = OFF,
  ["{arch}.rope.freq_base_swa"] = OFF } }
for _, name in ipairs { "cohere2", "exaone4", "gemma2", "gemma3", "gpt-oss", "olmo2" } do
  sections["GGUF of " .. name] = { by = "llama.cpp", read = "{arch}.attention.sliding_window_pattern",
    refused = of_windows }
end
sections["GGUF of phi3"] = { by = "llama.cpp", refused = of_windows }
sections["GGUF of gemma4"] = { by = "llama.cpp",
  read = [[{arch}.attention.sliding_window_pattern {arch}.attention.value_length_swa {arch}.rope.dimension_count_swa]],
  refused = { [BOTH_SIDES] = { ["{arch}.attention.causal"] = { true } },
    ["scaled positions are not supported"] = { ["{arch}.rope.scaling.type"] = { "none" },
      ["{arch}.rope.scaling.factor"] = { 0, 1 } } } }
sections["GGUF of gemma3n"] = { by = "llama.cpp", refused = of_windows,
  read = "{arch}.activation_sparsity_scale {arch}.attention.sliding_window_pattern" }
sections["GGUF of lfm2moe"] = { by = "llama.cpp", refused = {
  ["other routers than a sigmoid are not supported"] = { ["{arch}.expert_gating_func"] = { 2 } } } }
return sections
