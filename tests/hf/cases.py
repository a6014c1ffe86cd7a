"""The cases of goldens.py: name -> (class of transformers, configuration, what is special), small and awkward."""

BATCH, SEQ, VOCAB, WIDTH = 2, 7, 37, 24
LENGTHS = [7, 4]
PROMPT = 2              # tokens before the greedy ones
CLEAR = 0.02            # between the two largest logits of a greedy step: more than computations differ by

BERT = {"vocab_size": VOCAB, "hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 4,
        "intermediate_size": WIDTH, "max_position_embeddings": 19, "layer_norm_eps": 1e-6}
LLAMA = {"vocab_size": VOCAB, "hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "intermediate_size": WIDTH, "max_position_embeddings": 64,
         "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
FULL_HEADS = {**LLAMA, "num_key_value_heads": 4}
GPT2 = {"vocab_size": VOCAB, "n_positions": 19, "n_embd": WIDTH, "n_layer": 2, "n_head": 4,
        "n_inner": WIDTH, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
T5 = {"vocab_size": VOCAB, "d_model": WIDTH, "d_kv": 6, "d_ff": WIDTH, "num_layers": 2, "num_heads": 4,
      "relative_attention_num_buckets": 8, "relative_attention_max_distance": 5}
VIT = {"hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": WIDTH,
       "image_size": 8, "patch_size": 4, "num_channels": 3, "layer_norm_eps": 1e-6}
DISTIL = {"vocab_size": VOCAB, "dim": WIDTH, "n_layers": 2, "n_heads": 4, "hidden_dim": WIDTH,
          "max_position_embeddings": 19}
ALBERT = {**BERT, "num_hidden_layers": 5, "num_hidden_groups": 2, "embedding_size": 10}
ELECTRA = {**BERT, "embedding_size": 10}
JINA_V3 = {**BERT, "type_vocab_size": 1, "pad_token_id": 0, "rope_parameters": {"rope_type": "default", "rope_theta": 50.0}}
MPNET = {**BERT, "max_position_embeddings": 30}
LABELS = {"num_labels": 3}
ROBERTA = {**BERT, "pad_token_id": 1}
# As DeBERTa-v3: a shared table with a norm, log buckets that are shorter than the sequences, no positions in the input.
DEBERTA = {"vocab_size": VOCAB, "hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 4,
           "intermediate_size": WIDTH, "max_position_embeddings": 19, "layer_norm_eps": 1e-6,
           "relative_attention": True, "max_relative_positions": -1, "position_buckets": 4,
           "norm_rel_ebd": "layer_norm", "share_att_key": True, "pos_att_type": "p2c|c2p",
           "position_biased_input": False, "type_vocab_size": 0}
DEBERTA_OWN = {**DEBERTA, "share_att_key": False, "norm_rel_ebd": "none"}
DECODER = {**LLAMA, "head_dim": 8}
GPT_OSS = {**DECODER, "num_local_experts": 5, "num_experts_per_tok": 2, "num_hidden_layers": 3, "sliding_window": 3,
           "swiglu_limit": 0.9, "rope_parameters": {"rope_type": "yarn", "rope_theta": 100.0, "factor": 4.0,
                                                    "beta_fast": 8.0, "beta_slow": 1.0, "truncate": False,
                                                    "original_max_position_embeddings": 8}}
EXPERTS = {"num_experts": 5, "num_local_experts": 5, "num_experts_per_tok": 2}
LFM2 = {**LLAMA, "num_hidden_layers": 3, "layer_types": ["conv", "full_attention", "conv"]}
# Heads of 8 dimensions of which half are rotated.
HALF = {"vocab_size": VOCAB, "hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 3,
        "intermediate_size": WIDTH, "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 1,
        "eos_token_id": 2, "layer_norm_eps": 1e-6}
NEOX = {**HALF, "rotary_pct": 0.5}
PHI = {**HALF, "partial_rotary_factor": 0.5}
PHI3 = {**LLAMA, "sliding_window": 3}
GEMMA2 = {**DECODER, "sliding_window": 3, "query_pre_attn_scalar": 10, "attn_logit_softcapping": 2.0,
          "final_logit_softcapping": 4.0}
GEMMA3 = {**DECODER, "num_hidden_layers": 3, "sliding_window": 3, "query_pre_attn_scalar": 10,
          "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
          "rope_parameters": {"sliding_attention": {"rope_type": "default", "rope_theta": 20.0},
                              "full_attention": {"rope_type": "linear", "factor": 2.0, "rope_theta": 500.0}}}
GEMMA4 = {**DECODER, "num_hidden_layers": 4, "sliding_window": 3, "global_head_dim": 12, "vocab_size_per_layer_input": VOCAB,
          "final_logit_softcapping": 4.0,
          "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention"],
          "rope_parameters": {"sliding_attention": {"rope_type": "default", "rope_theta": 20.0},
                              "full_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.5,
                                                 "rope_theta": 500.0}}}
GEMMA4_EXPERTS = {**GEMMA4, "num_hidden_layers": 3, "num_kv_shared_layers": 1, "use_double_wide_mlp": True,
                  "layer_types": ["full_attention", "sliding_attention", "full_attention"], "enable_moe_block": True,
                  "num_experts": 5, "top_k_experts": 2, "moe_intermediate_size": 20, "hidden_size_per_layer_input": 6}
# Tokens from 30 on read the first row of the layers' tables.
GEMMA3N = {**DECODER, "num_hidden_layers": 4, "num_kv_shared_layers": 2, "sliding_window": 3,
           "intermediate_size": [24, 24, 24, 32], "activation_sparsity_pattern": [0.6, 0.3, 0.0, 0.95],
           "vocab_size_per_layer_input": 30, "hidden_size_per_layer_input": 6, "laurel_rank": 5, "altup_num_inputs": 3,
           "final_logit_softcapping": 4.0, "attention_bias": True,
           "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention"],
           "rope_parameters": {"sliding_attention": {"rope_type": "default", "rope_theta": 20.0},
                               "full_attention": {"rope_type": "linear", "factor": 2.0, "rope_theta": 500.0}}}
MODERN = {"vocab_size": VOCAB, "hidden_size": WIDTH, "num_hidden_layers": 3, "num_attention_heads": 4,
          "intermediate_size": WIDTH, "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 1,
          "eos_token_id": 2, "cls_token_id": 1, "sep_token_id": 2, "local_attention": 4,
          "global_attn_every_n_layers": 2, "rope_parameters": {
              "sliding_attention": {"rope_type": "default", "rope_theta": 20.0},
              "full_attention": {"rope_type": "default", "rope_theta": 500.0}}}
NOMIC = {**BERT, "rope_parameters": {"rope_theta": 50.0, "rope_type": "default"}}
NTK, NTK_BASE = 8.0, 40.0   # the scaling of rotary positions that folders of GTE have, and what it is in transformers
GTE = {**BERT, "rope_parameters": {"rope_type": "linear", "factor": NTK ** (2 / 6), "rope_theta": NTK * NTK_BASE}}
EMBEDDING_GEMMA = {**GEMMA3, "use_bidirectional_attention": True, "sliding_window": 5}
LATER = {"length": 9}   # sequences of up to 9 tokens, so that 8 greedy ones fit

ROPE = {
    "linear": {"rope_type": "linear", "factor": 2.5},
    "dynamic": {"rope_type": "dynamic", "factor": 3.0},
    "llama3": {"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
               "original_max_position_embeddings": 16},
    "yarn": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16},
    "longrope": {"rope_type": "longrope", "factor": 2.0, "original_max_position_embeddings": 16,
                 "short_factor": [1.0, 1.3, 2.2], "long_factor": [1.5, 2.0, 4.0]},
}


def rope(kind):
    return {"rope_parameters": {"rope_theta": 100.0, **ROPE[kind]}}


# case: class, configuration, and what is special: `full`: no padding; `words`: for the build;
# `change`: a function of the folder after it was written; `sentence`: modules after the model.
CASES = {
    "bert_model": ("BertModel", BERT, {}),
    "bert_adapter": ("BertForMaskedLM", BERT, {"words": ["adapter=adapter"], "adapter": {
        "r": 3, "lora_alpha": 7, "target_modules": ["query", "value", "dense", "word_embeddings"], "bias": "all",
        "alpha_pattern": {"layer.0.attention.self.query": 5}, "rank_pattern": {"value": 5}, "use_rslora": True}}),
    "bert_adapters": ("BertForSequenceClassification", {**BERT, **LABELS}, {
        "words": ["adapters.sql=adapters/sql", "adapters.tone=adapters/tone"], "adapters": {
            "sql": {"r": 3, "lora_alpha": 7, "target_modules": ["query", "value", "dense", "classifier"],
                    "rank_pattern": {"value": 5}, "use_rslora": True},
            "tone": {"r": 2, "lora_alpha": 5, "target_modules": ["query", "key"]}}}),
    "bert_dora": ("BertModel", BERT, {"words": ["adapter=adapter"], "adapter": {
        "r": 3, "lora_alpha": 7, "target_modules": ["key", "dense"], "bias": "lora_only", "use_dora": True}}),
    "bert_dora_tables": ("BertModel", BERT, {"words": ["adapter=adapter"], "adapter": {
        "r": 3, "lora_alpha": 7, "target_modules": ["word_embeddings", "position_embeddings", "query"], "use_dora": True}}),
    "bert_old_names": ("BertModel", BERT, {"change": "old_names"}),
    "bert_sequence": ("BertForSequenceClassification", {**BERT, **LABELS}, {}),
    "bert_token": ("BertForTokenClassification", {**BERT, "num_labels": 5}, {}),
    "bert_question": ("BertForQuestionAnswering", BERT, {}),
    "bert_masked": ("BertForMaskedLM", BERT, {}),
    "bert_masked_untied": ("BertForMaskedLM", {**BERT, "tie_word_embeddings": False}, {}),
    "bert_left_padding": ("BertModel", BERT, {"left": True, "words": ["mask=attention_mask"]}),
    "bert_no_types": ("BertModel", BERT, {"words": ["input.types=0"]}),
    "roberta_model": ("RobertaModel", {**BERT, "type_vocab_size": 1, "pad_token_id": 1}, {}),
    "roberta_sequence": ("RobertaForSequenceClassification",
                         {**BERT, **LABELS, "type_vocab_size": 1, "pad_token_id": 3}, {}),
    "roberta_masked": ("RobertaForMaskedLM", {**BERT, "type_vocab_size": 1}, {}),
    "xlm_roberta_token": ("XLMRobertaForTokenClassification", {**BERT, **LABELS, "type_vocab_size": 1}, {}),
    "camembert_question": ("CamembertForQuestionAnswering", {**BERT, "type_vocab_size": 1}, {}),
    "distilbert_model": ("DistilBertModel", DISTIL, {}),
    "distilbert_sequence": ("DistilBertForSequenceClassification", {**DISTIL, **LABELS}, {}),
    "distilbert_token": ("DistilBertForTokenClassification", {**DISTIL, **LABELS}, {}),
    "distilbert_question": ("DistilBertForQuestionAnswering", DISTIL, {}),
    "distilbert_masked": ("DistilBertForMaskedLM", DISTIL, {}),
    "electra_model": ("ElectraModel", ELECTRA, {}),
    "electra_sequence": ("ElectraForSequenceClassification", {**ELECTRA, **LABELS, "hidden_act": "relu"}, {}),
    "electra_masked": ("ElectraForMaskedLM", ELECTRA, {}),
    "electra_discriminator": ("ElectraForPreTraining", ELECTRA, {}),
    "mpnet_model": ("MPNetModel", MPNET, {}),
    "mpnet_sequence": ("MPNetForSequenceClassification", {**MPNET, **LABELS}, {}),
    "mpnet_masked": ("MPNetForMaskedLM", MPNET, {}),
    "albert_model": ("AlbertModel", ALBERT, {}),
    "albert_sequence": ("AlbertForSequenceClassification", {**ALBERT, **LABELS}, {}),
    "albert_masked": ("AlbertForMaskedLM", ALBERT, {}),
    "vit_model": ("ViTModel", VIT, {}),
    "vit_image": ("ViTForImageClassification", {**VIT, **LABELS}, {}),
    "vit_timm": ("ViTForImageClassification", {**VIT, **LABELS}, {"change": "timm_names"}),
    "vit_new_names": ("ViTModel", VIT, {"change": "new_names"}),
    "deit_model": ("DeiTModel", VIT, {}),
    "deit_image": ("DeiTForImageClassification", {**VIT, **LABELS}, {}),
    "deit_teacher": ("DeiTForImageClassificationWithTeacher", {**VIT, **LABELS}, {}),
    "gpt2_model": ("GPT2Model", GPT2, {}),
    "gpt2_adapter": ("GPT2LMHeadModel", GPT2, {"words": ["adapter=adapter"], "adapter": {
        "r": 4, "lora_alpha": 8, "target_modules": ["c_attn", "c_proj"], "modules_to_save": ["ln_f"],
        "fan_in_fan_out": True}}),
    "gpt2_dora": ("GPT2LMHeadModel", GPT2, {"words": ["adapter=adapter"], "adapter": {
        "r": 4, "lora_alpha": 8, "target_modules": ["c_attn", "c_proj", "c_fc", "wte"], "fan_in_fan_out": True,
        "use_dora": True}}),
    "gpt2_adapters": ("GPT2LMHeadModel", GPT2, {
        "words": ["adapters.sql=adapters/sql", "adapters.tone=adapters/tone"], "adapters": {
            "sql": {"r": 4, "lora_alpha": 8, "target_modules": ["c_attn", "c_proj"], "fan_in_fan_out": True},
            "tone": {"r": 2, "lora_alpha": 5, "target_modules": ["c_attn", "c_fc", "wte", "lm_head"],
                     "fan_in_fan_out": True}}}),
    "gpt2_logits": ("GPT2LMHeadModel", GPT2, {}),
    "gpt2_all_logits": ("GPT2LMHeadModel", GPT2, {"words": ["output.1.over=all"]}),
    "gpt2_inverse": ("GPT2Model", {**GPT2, "scale_attn_by_inverse_layer_idx": True}, {}),
    "gpt2_sequence": ("GPT2ForSequenceClassification", {**GPT2, **LABELS}, {}),
    "llama_model": ("LlamaModel", FULL_HEADS, {}),
    "llama_logits": ("LlamaForCausalLM", {**LLAMA, "attention_bias": True, "mlp_bias": True}, {}),
    "llama_tied": ("LlamaForCausalLM", {**LLAMA, "tie_word_embeddings": True}, {}),
    "llama_sequence": ("LlamaForSequenceClassification", {**LLAMA, **LABELS}, {}),
    "llama_question": ("LlamaForQuestionAnswering", LLAMA, {}),
    "llama_shards": ("LlamaForCausalLM", LLAMA, {"shards": "10KB"}),
    **{f"llama_{kind}": ("LlamaModel", {**LLAMA, **rope(kind)}, {}) for kind in ROPE},
    "jina_v3_model": ("JinaEmbeddingsV3Model", JINA_V3, {}),
    "jina_v3_task": ("JinaEmbeddingsV3Model", JINA_V3, {"task": True, "words": ["adapter=separation"]}),
    "mistral_window": ("MistralForCausalLM", {**LLAMA, "sliding_window": 3}, {}),
    "qwen2_logits": ("Qwen2ForCausalLM", LLAMA, {}),
    "qwen2_window": ("Qwen2Model", {**LLAMA, "use_sliding_window": True, "sliding_window": 3,
                                    "max_window_layers": 0}, {}),
    "t5_relu": ("T5EncoderModel", T5, {}),
    "t5_gated": ("T5EncoderModel", {**T5, "feed_forward_proj": "gated-gelu", "d_kv": 8}, {}),
    "mt5_encoder": ("MT5EncoderModel", {**T5, "feed_forward_proj": "gated-gelu"}, {}),
    "umt5_encoder": ("UMT5EncoderModel", T5, {}),
    "sentence_mean": ("BertModel", BERT, {"sentence": [["mean_tokens"], None, True]}),
    "sentence_dense": ("BertModel", BERT, {"sentence": [["cls_token"], "Tanh", True]}),
    "sentence_many": ("MPNetModel", MPNET, {"sentence": [
        ["max_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken"], None, False]}),
}

CASES.update({
    "gpt_neox_logits": ("GPTNeoXForCausalLM", NEOX, LATER),
    "gpt_neox_serial": ("GPTNeoXModel", {**NEOX, "use_parallel_residual": False, "attention_bias": False}, LATER),
    "qwen3_logits": ("Qwen3ForCausalLM", {**DECODER, "attention_bias": True, "tie_word_embeddings": True}, LATER),
    "qwen3_windows": ("Qwen3Model", {**DECODER, "use_sliding_window": True, "sliding_window": 3,
                                     "max_window_layers": 1}, LATER),
    "qwen2_some_windows": ("Qwen2Model", {**LLAMA, "use_sliding_window": True, "sliding_window": 3,
                                          "max_window_layers": 1}, LATER),
    "gemma_logits": ("GemmaForCausalLM", DECODER, LATER),
    "gemma2_logits": ("Gemma2ForCausalLM", GEMMA2, LATER),
    "gemma3_logits": ("Gemma3ForCausalLM", GEMMA3, LATER),
    "gemma3_whole": ("Gemma3ForCausalLM", GEMMA3, {**LATER, "change": "whole_gemma3"}),
    "gemma4_logits": ("Gemma4ForCausalLM", {**GEMMA4, "num_global_key_value_heads": 1, "attention_k_eq_v": True,
                                            "hidden_size_per_layer_input": 0}, LATER),
    "gemma4_shared": ("Gemma4ForCausalLM", {**GEMMA4, "num_hidden_layers": 5, "num_kv_shared_layers": 2,
                                            "use_double_wide_mlp": True, "hidden_size_per_layer_input": 6,
                                            "layer_types": [*GEMMA4["layer_types"], "full_attention"]}, LATER),
    "gemma4_whole": ("Gemma4ForCausalLM", {**GEMMA4, "num_hidden_layers": 2, "num_kv_shared_layers": 0,
                                           "hidden_size_per_layer_input": 6, "layer_types": GEMMA4["layer_types"][:2]},
                     {**LATER, "change": "whole_gemma4"}),
    "gemma4_experts": ("Gemma4ForCausalLM", GEMMA4_EXPERTS, LATER),
    "gemma3n_logits": ("Gemma3nForCausalLM", GEMMA3N, LATER),
    "gemma3n_whole": ("Gemma3nForCausalLM", {**GEMMA3N, "num_hidden_layers": 3, "num_kv_shared_layers": 0,
                                             "layer_types": GEMMA3N["layer_types"][:3], "intermediate_size": 24,
                                             "activation_sparsity_pattern": [0.0, 0.5, 0.0], "altup_num_inputs": 2,
                                             "altup_active_idx": 1, "altup_correct_scale": False,
                                             "vocab_size_per_layer_input": VOCAB}, {**LATER, "change": "whole_gemma3n"}),
    "phi_logits": ("PhiForCausalLM", {**PHI, "qk_layernorm": True}, LATER),
    "phi3_logits": ("Phi3ForCausalLM", PHI3, LATER),
    "phi3_longrope": ("Phi3Model", {**LLAMA, "original_max_position_embeddings": 16, "rope_parameters": {
        "rope_type": "longrope", "rope_theta": 100.0, "short_factor": [1.0, 1.3, 2.2],
        "long_factor": [1.5, 2.0, 4.0]}}, LATER),
    "smollm3_logits": ("SmolLM3ForCausalLM", {**LLAMA, "no_rope_layers": [1, 0], "use_sliding_window": True,
                                              "sliding_window": 3}, LATER),
    "olmo2_logits": ("Olmo2ForCausalLM", LLAMA, LATER),
    "granite_logits": ("GraniteForCausalLM", {**LLAMA, "embedding_multiplier": 3.0, "residual_multiplier": 0.4,
                                              "attention_multiplier": 0.6, "logits_scaling": 0.5}, LATER),
    "granitemoe_logits": ("GraniteMoeForCausalLM", {**LLAMA, **EXPERTS, "embedding_multiplier": 3.0,
                                                    "residual_multiplier": 0.4, "attention_multiplier": 0.6,
                                                    "logits_scaling": 0.5}, LATER),
    "mixtral_logits": ("MixtralForCausalLM", {**LLAMA, **EXPERTS, "sliding_window": 3}, LATER),
    "olmoe_logits": ("OlmoeForCausalLM", {**LLAMA, **EXPERTS, "clip_qkv": 0.7}, LATER),
    "gpt_oss_logits": ("GptOssForCausalLM", GPT_OSS, LATER),
    "qwen2_moe_logits": ("Qwen2MoeForCausalLM", {**LLAMA, **EXPERTS, "moe_intermediate_size": 20,
                                                 "shared_expert_intermediate_size": 28}, LATER),
    "qwen3_moe_logits": ("Qwen3MoeForCausalLM", {**DECODER, **EXPERTS, "norm_topk_prob": True,
                                                 "moe_intermediate_size": 20, "num_hidden_layers": 3,
                                                 "mlp_only_layers": [1]}, LATER),
    "mixtral_fused": ("MixtralModel", {**LLAMA, **EXPERTS}, {**LATER, "fused": True}),
    "granitemoe_fused": ("GraniteMoeModel", {**LLAMA, **EXPERTS}, {**LATER, "fused": True}),
    "qwen3_moe_fused": ("Qwen3MoeModel", {**DECODER, **EXPERTS, "moe_intermediate_size": 20, "mlp_only_layers": [0]},
                        {**LATER, "fused": True}),
    "qwen3_moe_model": ("Qwen3MoeModel", {**DECODER, **EXPERTS, "moe_intermediate_size": WIDTH,
                                          "decoder_sparse_step": 2}, LATER),
    "lfm2_logits": ("Lfm2ForCausalLM", {**LFM2, "conv_bias": True, "block_ff_dim": 36, "block_multiple_of": 4}, LATER),
    "lfm2_model": ("Lfm2Model", {**LFM2, "conv_L_cache": 4, "block_auto_adjust_ff_dim": False,
                                 "full_attn_idxs": [0, 2], "layer_types": None}, LATER),
    "lfm2_moe_logits": ("Lfm2MoeForCausalLM", {**LFM2, **EXPERTS, "moe_intermediate_size": 20, "num_dense_layers": 1,
                                               "routed_scaling_factor": 1.5}, LATER),
    "starcoder2_logits": ("Starcoder2ForCausalLM", {**LLAMA, "sliding_window": 3}, LATER),
})

# Decoders of many kinds.
OPT = {"vocab_size": VOCAB, "hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 4, "ffn_dim": WIDTH,
       "max_position_embeddings": 17, "word_embed_proj_dim": WIDTH, "eos_token_id": 36}
OPT_350M = {**OPT, "do_layer_norm_before": False, "word_embed_proj_dim": 10}
BLOOM = {"vocab_size": VOCAB, "hidden_size": WIDTH, "n_layer": 2, "n_head": 3}
FALCON = {"vocab_size": VOCAB, "hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 4,
          "max_position_embeddings": 64, "bos_token_id": 1, "eos_token_id": 2}
MPT = {"vocab_size": VOCAB, "d_model": WIDTH, "n_layers": 2, "n_heads": 3, "max_seq_len": 19}
GPTJ = {"vocab_size": VOCAB, "n_positions": 19, "n_embd": WIDTH, "n_layer": 2, "n_head": 3, "n_inner": WIDTH, "rotary_dim": 4,
        "bos_token_id": 1, "eos_token_id": 2}
GPT_NEO = {"vocab_size": VOCAB, "max_position_embeddings": 19, "hidden_size": WIDTH, "num_layers": 3, "num_heads": 4,
           "intermediate_size": WIDTH, "window_size": 3, "attention_types": [[["global", "local"], 1], [["local"], 1]],
           "bos_token_id": 1, "eos_token_id": 2}
STABLELM = {**HALF, "num_attention_heads": 4, "num_key_value_heads": 2, "partial_rotary_factor": 0.67}
COHERE = {**{**LLAMA, "layer_norm_eps": 1e-6}, "logit_scale": 0.5}
OLMO3 = {**LLAMA, "num_hidden_layers": 3, "sliding_window": 3,
         "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
         "rope_parameters": {"sliding_attention": {"rope_type": "default", "rope_theta": 100.0},
                             "full_attention": {"rope_theta": 100.0, **ROPE["yarn"]}}}
MINISTRAL3 = {**DECODER, "rope_parameters": {
    "rope_theta": 100.0, "rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4, "mscale": 1.0,
    "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.4}}
EXAONE4 = {**LLAMA, "num_hidden_layers": 3, "sliding_window": 3,
           "layer_types": ["sliding_attention", "full_attention", "sliding_attention"]}
GLM = {**DECODER, "partial_rotary_factor": 0.5, "attention_bias": True}
CASES.update({
    "opt_logits": ("OPTForCausalLM", OPT, LATER),
    "opt_sequence": ("OPTForSequenceClassification", {**OPT, **LABELS, "enable_bias": False}, {}),
    "opt_350m": ("OPTForCausalLM", OPT_350M, LATER),
    "opt_350m_model": ("OPTModel", OPT_350M, {}),
    "opt_350m_question": ("OPTForQuestionAnswering", OPT_350M, {}),
    "bloom_logits": ("BloomForCausalLM", {**BLOOM, "tie_word_embeddings": False}, LATER),
    "bloom_tied": ("BloomForCausalLM", BLOOM, {}),
    "bloom_token": ("BloomForTokenClassification", {**BLOOM, **LABELS}, {}),
    "falcon_7b": ("FalconForCausalLM", FALCON, LATER),
    "falcon_40b": ("FalconForCausalLM", {**FALCON, "num_kv_heads": 2, "new_decoder_architecture": True, "bias": True}, LATER),
    "falcon_11b": ("FalconModel", {**FALCON, "num_kv_heads": 2, "new_decoder_architecture": True,
                                   "num_ln_in_parallel_attn": 1, "ffn_hidden_size": WIDTH}, {}),
    "falcon_rw": ("FalconForCausalLM", {**FALCON, "alibi": True, "multi_query": False, "parallel_attn": False, "bias": True},
                  LATER),
    "mpt_logits": ("MptForCausalLM", {**MPT, "attn_config": {"clip_qkv": 0.7, "softmax_scale": 0.4}},
                   {**LATER, "change": "published_mpt"}),
    "mpt_sequence": ("MptForSequenceClassification", {**MPT, **LABELS, "pad_token_id": 0}, {}),
    "gptj_logits": ("GPTJForCausalLM", GPTJ, LATER),
    "gpt_neo_logits": ("GPTNeoForCausalLM", GPT_NEO, LATER),
    "stablelm_logits": ("StableLmForCausalLM", {**STABLELM, "use_qkv_bias": True}, LATER),
    "stablelm_12b": ("StableLmForCausalLM", {**STABLELM, "qk_layernorm": True, "use_parallel_residual": True}, LATER),
    "cohere_logits": ("CohereForCausalLM", COHERE, LATER),
    "cohere_plus": ("CohereForCausalLM", {**COHERE, "use_qk_norm": True, "attention_bias": True,
                                          "tie_word_embeddings": False}, LATER),
    "cohere2_logits": ("Cohere2ForCausalLM", {**COHERE, "sliding_window": 3, "layer_types": [
        "sliding_attention", "full_attention"]}, LATER),
    "olmo3_logits": ("Olmo3ForCausalLM", OLMO3, LATER),
    "ministral_logits": ("MinistralForCausalLM", {**DECODER, "sliding_window": 3, "layer_types": [
        "full_attention", "sliding_attention"]}, LATER),
    "mistral3_whole": ("MistralForCausalLM", {**DECODER, "sliding_window": 3}, {**LATER, "change": "whole_mistral3"}),
    "ministral3_logits": ("Ministral3ForCausalLM", MINISTRAL3, LATER),
    "ministral3_whole": ("Ministral3ForCausalLM", MINISTRAL3, {**LATER, "change": "whole_ministral3"}),
    "exaone4_logits": ("Exaone4ForCausalLM", EXAONE4, LATER),
    "exaone4_small": ("Exaone4Model", {**EXAONE4, "sliding_window": None, "layer_types": ["full_attention"] * 3}, {}),
    "glm4_logits": ("Glm4ForCausalLM", GLM, LATER),
    "glm_logits": ("GlmForCausalLM", {**GLM, "attention_bias": False}, LATER),
    "internlm3_logits": ("LlamaForCausalLM", {**DECODER, "attention_bias": True, "mlp_bias": True},
                         {**LATER, "change": "published_internlm3"}),
    "internlm2_logits": ("LlamaForCausalLM", {**FULL_HEADS, "num_key_value_heads": 2, "rope_parameters": {
        "rope_theta": 100.0, **ROPE["dynamic"]}}, {**LATER, "change": "published_internlm2"}),
})

# Encoders after BERT.
CASES.update({
    "modernbert_model": ("ModernBertModel", MODERN, {}),
    "modernbert_masked": ("ModernBertForMaskedLM", {**MODERN, "attention_bias": True, "mlp_bias": True,
                                                    "norm_bias": True, "classifier_bias": True}, {}),
    "modernbert_sequence": ("ModernBertForSequenceClassification", {**MODERN, **LABELS, "classifier_pooling": "mean"},
                            {"change": "old_modernbert"}),
    "modernbert_token": ("ModernBertForTokenClassification", {**MODERN, **LABELS}, {}),
    "modernbert_question": ("ModernBertForQuestionAnswering", MODERN, {}),
    "nomic_bert_model": ("NomicBertModel", NOMIC, {"change": "published_nomic"}),
    "nomic_bert_masked": ("NomicBertForMaskedLM", {**NOMIC, "type_vocab_size": 1}, {}),
    "nomic_bert_sequence": ("NomicBertForSequenceClassification", {**NOMIC, **LABELS, "hidden_act": "gelu"}, {}),
    "nomic_bert_token": ("NomicBertForTokenClassification", {**NOMIC, **LABELS}, {}),
    "nomic_bert_sentence": ("NomicBertModel", NOMIC, {"sentence": [["mean_tokens"], None, True],
                                                      "change": "published_nomic"}),
    "nomic_bert_experts": ("NomicMoeModel", {**NOMIC, "num_hidden_layers": 3, "num_experts": 5, "moe_top_k": 2,
                                             "moe_every_n_layers": 2}, {"change": "published_nomic_moe"}),
    "gte_model": ("GteModel", {**GTE, "rope_parameters": {"rope_theta": 50.0, "rope_type": "default"}}, {}),
    "gte_masked": ("GteForMaskedLM", {**GTE, "type_vocab_size": 1, "hidden_act": "relu"}, {}),
    "gte_token": ("GteForTokenClassification", {**GTE, **LABELS}, {}),
    "new_model": ("GteModel", {**GTE, "type_vocab_size": 0}, {"change": "published_gte"}),
    "new_masked": ("GteForMaskedLM", {**GTE, "type_vocab_size": 1}, {"change": "published_gte"}),
    "new_sequence": ("GteForSequenceClassification", {**GTE, **LABELS, "type_vocab_size": 1},
                     {"change": "published_gte"}),
    "jina_bert_model": ("JinaBertModel", BERT, {"change": "published_jina"}),
    "jina_bert_sequence": ("JinaBertForSequenceClassification", {**BERT, **LABELS, "num_attention_heads": 3,
                                                                 "feed_forward_type": "reglu"},
                           {"change": "published_jina"}),
    "jina_bert_masked": ("JinaBertForMaskedLM", {**BERT, "type_vocab_size": 1}, {"change": "published_jina"}),
    "jina_bert_code": ("JinaBertModel", {**BERT, "post_norm": True}, {"change": "published_jina"}),
    "gemma3_embedding": ("Gemma3TextModel", EMBEDDING_GEMMA,
                         {"sentence": [["mean_tokens"], "Identity", True]}),
    "qwen3_embedding": ("Qwen3Model", DECODER, {"sentence": [["lasttoken"], None, True]}),
    "qwen3_both_sides": ("Qwen3Model", {**DECODER, "is_causal": False, "use_sliding_window": True, "sliding_window": 2,
                                        "max_window_layers": 1}, {}),
    "xlm_roberta_sentence": ("XLMRobertaModel", {**BERT, "type_vocab_size": 1},
                             {"sentence": [["mean_tokens"], None, True]}),
    "modernbert_sentence": ("ModernBertModel", MODERN, {"sentence": [["mean_tokens"], None, True]}),
})

DINO = {key: value for key, value in VIT.items() if key != "intermediate_size"}
CASES.update({
    "dinov2_model": ("Dinov2Model", {**DINO, "mlp_ratio": 1}, {}),
    "dinov2_gated": ("Dinov2Model", {**DINO, "use_swiglu_ffn": True, "mlp_ratio": 2, "image_size": [18, 4]},
                     {"sides": (18, 4)}),
    "dinov2_registers": ("Dinov2WithRegistersModel", {**DINO, "mlp_ratio": 2, "num_register_tokens": 6}, {}),
    "dinov2_image": ("Dinov2ForImageClassification", {**DINO, **LABELS, "mlp_ratio": 1}, {}),
    "dinov2_image_registers": ("Dinov2WithRegistersForImageClassification",
                               {**DINO, **LABELS, "mlp_ratio": 1, "num_register_tokens": 2}, {}),
})

CLIP_TEXT = {"vocab_size": VOCAB, "hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 4,
             "intermediate_size": WIDTH, "max_position_embeddings": 9, "projection_dim": WIDTH, "pad_token_id": 1,
             "bos_token_id": 0, "eos_token_id": 2}
CLIP_VISION = {**VIT, "projection_dim": WIDTH}
CASES.update({
    "clip_text_model": ("CLIPTextModel", CLIP_TEXT, {"ends": None}),
    "clip_text_projection": ("CLIPTextModelWithProjection", {**CLIP_TEXT, "eos_token_id": 20}, {"ends": 20}),
    "clip_vision_model": ("CLIPVisionModel", CLIP_VISION, {}),
    "clip_vision_projection": ("CLIPVisionModelWithProjection", {**CLIP_VISION, "projection_dim": 10}, {}),
    "clip_both_text": ("CLIPModel", {"text_config": CLIP_TEXT, "vision_config": CLIP_VISION, "projection_dim": 12},
                       {"ends": None, "words": ["tower=text", "name=clip_both_text"], "tower": "get_text_features"}),
    "clip_both_image": ("CLIPModel", {"text_config": CLIP_TEXT, "vision_config": CLIP_VISION, "projection_dim": 12},
                        {"tower": "get_image_features"}),
})

SIGLIP_TEXT = {**{key: value for key, value in CLIP_TEXT.items() if key != "projection_dim"}}
CASES.update({
    "siglip_vision_model": ("SiglipVisionModel", {**VIT, "image_size": 11}, {"sides": (11, 11)}),
    "siglip_both": ("SiglipModel", {"text_config": SIGLIP_TEXT, "vision_config": VIT},
                    {"tower": "get_image_features"}),
    "siglip_text_model": ("SiglipTextModel", {**SIGLIP_TEXT, "projection_size": 10}, {"length": 9, "whole": True}),
})

# Positions of 3 x 3 patches, which are resized to more and fewer.
SIGLIP_2 = {**{key: value for key, value in VIT.items() if key != "image_size"}, "num_patches": 9}
CASES.update({
    "siglip2_vision_model": ("Siglip2VisionModel", SIGLIP_2, {"grids": [(4, 3), (2, 7)], "length": 14}),
    "siglip2_wide": ("Siglip2VisionModel", {**SIGLIP_2, "num_patches": 25}, {"grids": [(1, 11), (9, 1)], "length": 12}),
    "siglip2_both": ("Siglip2Model", {"text_config": SIGLIP_TEXT, "vision_config": SIGLIP_2},
                     {"tower": "get_image_features", "grids": [(3, 3), (1, 1)], "length": 10}),
    "siglip2_labels": ("Siglip2ForImageClassification", {"text_config": SIGLIP_TEXT, "vision_config": SIGLIP_2, **LABELS},
                       {"grids": [(5, 2), (1, 3)], "length": 10}),
    "siglip2_both_text": ("Siglip2Model", {"text_config": SIGLIP_TEXT, "vision_config": SIGLIP_2},
                          {"whole": True, "length": 9, "words": ["tower=text", "name=siglip2_both_text"],
                           "tower": "get_text_features"}),
    "siglip2_text_model": ("Siglip2TextModel", {**SIGLIP_TEXT, "projection_size": 10}, {"length": 9, "whole": True}),
})
CASES.update({
    "deberta_v2_model": ("DebertaV2Model", DEBERTA, {}),
    "deberta_v2_long": ("DebertaV2Model", {**DEBERTA, "position_buckets": 8}, {"length": 18}),
    "deberta_v2_own": ("DebertaV2Model", {**DEBERTA_OWN, "position_biased_input": True, "type_vocab_size": 2}, {}),
    "deberta_v2_c2p": ("DebertaV2Model", {**DEBERTA_OWN, "pos_att_type": ["c2p"], "position_buckets": -1,
                                          "max_relative_positions": 3}, {}),
    "deberta_v2_p2c": ("DebertaV2Model", {**DEBERTA_OWN, "pos_att_type": ["p2c"], "norm_rel_ebd": "layer_norm",
                                          "type_vocab_size": 1}, {}),
    "deberta_v2_none": ("DebertaV2Model", {**DEBERTA, "relative_attention": False, "norm_rel_ebd": "none",
                                           "position_biased_input": True, "share_att_key": False}, {}),
    "deberta_v2_conv": ("DebertaV2Model", {**DEBERTA, "conv_kernel_size": 3, "conv_act": "gelu",
                                           "attention_head_size": 6}, {}),
    "deberta_v2_narrow": ("DebertaV2ForTokenClassification", {**DEBERTA, **LABELS, "embedding_size": 10}, {}),
    "deberta_v2_sequence": ("DebertaV2ForSequenceClassification", {**DEBERTA, **LABELS, "pooler_hidden_act": "tanh",
                                                                   "conv_kernel_size": 5}, {}),
    "deberta_v2_question": ("DebertaV2ForQuestionAnswering", DEBERTA, {}),
    "deberta_v2_masked": ("DebertaV2ForMaskedLM", {**DEBERTA, "embedding_size": 10}, {}),
    "deberta_v2_masked_new": ("DebertaV2ForMaskedLM", {**DEBERTA, "legacy": False}, {}),
})

# wav2vec2 behind its features: the model's own convolution of the waveform, of which a frame more than frames is
# asked for, gives the features that the test draws.
WAV = {"vocab_size": VOCAB, "hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 4,
       "intermediate_size": WIDTH, "conv_dim": [10], "conv_kernel": [2], "conv_stride": [1],
       "num_conv_pos_embeddings": 6, "num_conv_pos_embedding_groups": 4, "layer_norm_eps": 1e-6}
# Patches of a spectrogram that overlap, and after which some bands and frames are left over.
AST = {"hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": WIDTH, "patch_size": 4,
       "frequency_stride": 2, "time_stride": 3, "num_mel_bins": 11, "max_length": 18, "layer_norm_eps": 1e-6}
CASES.update({
    "wav2vec2_model": ("Wav2Vec2Model", WAV, {"frames": True}),
    "wav2vec2_ctc": ("Wav2Vec2ForCTC", {**WAV, "do_stable_layer_norm": True, "num_conv_pos_embeddings": 5},
                     {"frames": True, "change": "old_weight_norm"}),
    "wav2vec2_adapter": ("Wav2Vec2ForCTC", {**WAV, "do_stable_layer_norm": True}, {
        "frames": True, "words": ["adapter=adapter"], "adapter": {
            "r": 3, "lora_alpha": 7, "target_modules": ["q_proj", "k_proj", "intermediate_dense", "projection"],
            "bias": "lora_only", "modules_to_save": ["lm_head"]}}),
    "wav2vec2_sequence": ("Wav2Vec2ForSequenceClassification", {**WAV, **LABELS, "classifier_proj_size": 10},
                          {"frames": True}),
    "ast_model": ("ASTModel", AST, {}),
    "ast_labels": ("ASTForAudioClassification", {**AST, **LABELS, "time_stride": 4}, {}),
    "wav2vec2_folded": ("Wav2Vec2Model", {**WAV, "feat_extract_activation": "relu"},
                        {"frames": True, "change": "folded_weight_norm"}),
    "hubert_model": ("HubertModel", {**WAV, "feat_proj_layer_norm": False}, {"frames": True}),
    "hubert_sequence": ("HubertForSequenceClassification", {**WAV, **LABELS, "do_stable_layer_norm": True},
                        {"frames": True}),
    "unispeech_ctc": ("UniSpeechForCTC", {**WAV, "num_ctc_classes": VOCAB}, {"frames": True}),
    # Some distances share a bucket, and some are beyond the last border.
    "wavlm_model": ("WavLMModel", {**WAV, "num_buckets": 8, "max_bucket_distance": 6}, {"frames": True}),
    "wavlm_ctc": ("WavLMForCTC", {**WAV, "do_stable_layer_norm": True, "num_buckets": 12, "max_bucket_distance": 5},
                  {"frames": True}),
    "wavlm_sequence": ("WavLMForSequenceClassification", {**WAV, **LABELS, "classifier_proj_size": 10}, {"frames": True}),
    "wavlm_frame": ("WavLMForAudioFrameClassification", {**WAV, **LABELS, "num_attention_heads": 2}, {"frames": True}),
    "wavlm_xvector": ("WavLMForXVector", {**WAV, "tdnn_dim": [10, 12, 8], "tdnn_kernel": [5, 3, 1],
                                          "tdnn_dilation": [1, 2, 1], "xvector_output_dim": 6},
                      {"frames": True, "length": 15, "apart": True}),
    "unispeech_sat_frame": ("UniSpeechSatForAudioFrameClassification", {**WAV, **LABELS}, {"frames": True}),
})

# Encoders with decoders: sources of 9 tokens or fewer, and all rows of the decoder.
SOURCE = 9
SEQ2SEQ = {"vocab_size": VOCAB, "d_model": WIDTH, "encoder_layers": 2, "decoder_layers": 3, "encoder_ffn_dim": WIDTH,
           "decoder_ffn_dim": 40, "encoder_attention_heads": 4, "decoder_attention_heads": 6,
           "max_position_embeddings": 19, "scale_embedding": True, "pad_token_id": 1, "decoder_start_token_id": 2,
           "eos_token_id": 2, "forced_eos_token_id": None}
WRITES = {"sources": True, "words": [f"memory.seq={SOURCE}", "output.1.over=all", "mask=causal"]}
CASES.update({
    "bart_writes": ("BartForConditionalGeneration", {**SEQ2SEQ, "scale_embedding": False}, WRITES),
    "bart_tables": ("BartForConditionalGeneration", SEQ2SEQ, {
        **WRITES, "own": ["model.encoder.embed_tokens", "model.decoder.embed_tokens"]}),
    "mbart_writes": ("MBartForConditionalGeneration", {**SEQ2SEQ, "tie_word_embeddings": False}, WRITES),
    "pegasus_writes": ("PegasusForConditionalGeneration", {**SEQ2SEQ, "activation_function": "relu"}, WRITES),
    "marian_writes": ("MarianMTModel", {**SEQ2SEQ, "activation_function": "swish"}, WRITES),
    "marian_separate": ("MarianMTModel", {**SEQ2SEQ, "share_encoder_decoder_embeddings": False, "vocab_size": 41,
                                          "decoder_vocab_size": VOCAB, "tie_word_embeddings": False}, WRITES),
    "m2m_100_writes": ("M2M100ForConditionalGeneration", SEQ2SEQ, WRITES),
    "m2m_100_adapter": ("M2M100ForConditionalGeneration", SEQ2SEQ, {
        **WRITES, "words": [*WRITES["words"], "adapter=adapter"], "adapter": {
            "r": 3, "lora_alpha": 7, "target_modules": ["q_proj", "v_proj", "out_proj", "fc1", "fc2"], "bias": "all",
            "rank_pattern": {"encoder_attn.v_proj": 5}, "modules_to_save": ["final_layer_norm"]}}),
    "t5_writes": ("T5ForConditionalGeneration", {**T5, "num_decoder_layers": 3, "decoder_start_token_id": 0}, WRITES),
    "t5_adapter": ("T5ForConditionalGeneration", {**T5, "num_decoder_layers": 3, "decoder_start_token_id": 0}, {
        **WRITES, "words": [*WRITES["words"], "adapter=adapter"], "adapter": {
            "r": 3, "lora_alpha": 7, "target_modules": ["q", "v", "wi"], "rank_pattern": {"EncDecAttention.v": 2}}}),
    "t5_adapters": ("T5ForConditionalGeneration", {**T5, "num_decoder_layers": 3, "decoder_start_token_id": 0}, {
        **WRITES, "words": [*WRITES["words"], "adapters.sql=adapters/sql", "adapters.tone=adapters/tone"], "adapters": {
            "sql": {"r": 3, "lora_alpha": 7, "target_modules": ["q", "v", "wi"], "rank_pattern": {"EncDecAttention.v": 2}},
            "tone": {"r": 2, "lora_alpha": 5, "target_modules": ["o", "k"]}}}),
    "bart_adapter": ("BartForConditionalGeneration", SEQ2SEQ, {
        **WRITES, "words": [*WRITES["words"], "adapter=adapter"], "adapter": {
            "r": 3, "lora_alpha": 7, "target_modules": ["q_proj", "v_proj", "fc1", "out_proj"], "bias": "lora_only",
            "use_dora": True}}),
    "t5_writes_gated": ("T5ForConditionalGeneration", {**T5, "feed_forward_proj": "gated-gelu", "d_kv": 8,
                                                       "tie_word_embeddings": False, "decoder_start_token_id": 0}, WRITES),
    "umt5_writes": ("UMT5ForConditionalGeneration", {**T5, "num_decoder_layers": 3, "decoder_start_token_id": 0}, WRITES),
    "mt5_writes": ("MT5ForConditionalGeneration", {**T5, "feed_forward_proj": "gated-gelu",
                                                   "decoder_start_token_id": 0}, WRITES),
})

# Whisper: two frames of features for each row of the encoder.
MELS, FRAMES = 10, 18
WHISPER = {"vocab_size": VOCAB, "num_mel_bins": MELS, "d_model": WIDTH, "encoder_layers": 2, "decoder_layers": 3,
           "encoder_attention_heads": 4, "decoder_attention_heads": 6, "encoder_ffn_dim": WIDTH, "decoder_ffn_dim": 40,
           "max_source_positions": FRAMES // 2, "max_target_positions": 19, "pad_token_id": 2, "bos_token_id": 2,
           "eos_token_id": 2, "decoder_start_token_id": 3}
SOUNDS = {"sounds": True, "words": ["output.1.over=all", "mask=causal"]}
CASES.update({
    "whisper_writes": ("WhisperForConditionalGeneration", WHISPER, SOUNDS),
    "whisper_few_decoders": ("WhisperForConditionalGeneration", {
        **WHISPER, "encoder_layers": 3, "decoder_layers": 1, "num_mel_bins": 13, "activation_function": "relu",
        "tie_word_embeddings": False, "scale_embedding": True}, SOUNDS),
    # Behind its convolutions, whose rows the encoder reads.
    "moonshine_writes": ("MoonshineForConditionalGeneration", {
        "vocab_size": VOCAB, "hidden_size": WIDTH, "intermediate_size": 40, "encoder_num_hidden_layers": 2,
        "decoder_num_hidden_layers": 3, "encoder_num_attention_heads": 4, "decoder_num_attention_heads": 4,
        "encoder_hidden_act": "relu", "attention_bias": True, "head_dim": 8, "pad_head_dim_to_multiple_of": 6,
        "partial_rotary_factor": 0.6, "tie_word_embeddings": False},
        {"sounds": "waves", "words": [*SOUNDS["words"], f"memory.seq={FRAMES}"]}),
})

# Decoders that read the states of an image tower: the configuration has a part for each.
VISION = {**VIT, "num_hidden_layers": 1, "hidden_act": "gelu"}
BLIP_TEXT = {**BERT, "num_hidden_layers": 3, "bos_token_id": 35, "sep_token_id": 36, "pad_token_id": 0}
TROCR = {"vocab_size": VOCAB, "d_model": WIDTH, "decoder_layers": 3, "decoder_attention_heads": 4, "decoder_ffn_dim": 40,
         "max_position_embeddings": 19, "activation_function": "gelu", "cross_attention_hidden_size": None}
WRITES_ABOUT = {"pictures": True, "words": ["output.1.over=all", "mask=causal"]}


def vision(encoder, decoder, of_encoder=VISION, **of_decoder):
    """The configuration of vision-encoder-decoder."""
    crossed = {"is_decoder": True, "add_cross_attention": True}
    return {"encoder": {"model_type": encoder, **of_encoder}, "decoder": {"model_type": decoder, **of_decoder, **crossed},
            "decoder_start_token_id": 1, "pad_token_id": 0, "eos_token_id": 2}


CASES.update({
    "blip_captions": ("BlipForConditionalGeneration", {"text_config": BLIP_TEXT, "vision_config": VISION}, WRITES_ABOUT),
    "blip_wider": ("BlipForConditionalGeneration", {"text_config": BLIP_TEXT, "vision_config": {
        **VISION, "hidden_size": 20, "hidden_act": "quick_gelu"}}, WRITES_ABOUT),
    "blip_vision_model": ("BlipVisionModel", VISION, {}),
    "vision_vit_gpt2": ("VisionEncoderDecoderModel", vision("vit", "gpt2", **GPT2), WRITES_ABOUT),
    "vision_wider_gpt2": ("VisionEncoderDecoderModel", vision("vit", "gpt2", {**VISION, "hidden_size": 20, "qkv_bias": False},
                                                              **GPT2, tie_word_embeddings=False), WRITES_ABOUT),
    "vision_deit_gpt2": ("VisionEncoderDecoderModel", vision("deit", "gpt2", **GPT2), WRITES_ABOUT),
    "vision_vit_trocr": ("VisionEncoderDecoderModel", vision("vit", "trocr", **TROCR), WRITES_ABOUT),
    "vision_deit_trocr": ("VisionEncoderDecoderModel", vision("deit", "trocr", {**VISION, "hidden_size": 20}, **{
        **TROCR, "use_learned_position_embeddings": False, "scale_embedding": True, "layernorm_embedding": False,
        "activation_function": "relu", "cross_attention_hidden_size": 20}), WRITES_ABOUT),
    "vision_wider_trocr": ("VisionEncoderDecoderModel", vision("vit", "trocr", {**VISION, "hidden_size": 20}, **{
        **TROCR, "use_learned_position_embeddings": False}), WRITES_ABOUT),
})

ERNIE = {**BERT, "use_task_id": True, "task_type_vocab_size": 3}
REMBERT = {**BERT, "input_embedding_size": 10, "output_embedding_size": 14}
EURO = {**DECODER, "mask_token_id": 3, "rope_parameters": {"rope_type": "default", "rope_theta": 50.0}}
DEBERTA_1 = {key: value for key, value in DEBERTA.items() if key not in ("position_buckets", "norm_rel_ebd", "share_att_key")}
CASES.update({
    "deberta_model": ("DebertaModel", DEBERTA_1, {}),
    "deberta_far": ("DebertaModel", {**DEBERTA_1, "max_relative_positions": 4, "pos_att_type": ["c2p", "p2c"],
                                     "num_attention_heads": 3}, {}),
    "deberta_c2p": ("DebertaForTokenClassification", {**DEBERTA_1, **LABELS, "pos_att_type": ["c2p"], "type_vocab_size": 2,
                                                      "position_biased_input": True}, {}),
    "deberta_masked": ("DebertaForMaskedLM", DEBERTA_1, {}),
    "deberta_masked_new": ("DebertaForMaskedLM", {**DEBERTA_1, "legacy": False}, {}),
    "deberta_sequence": ("DebertaForSequenceClassification", {**DEBERTA_1, **LABELS, "pos_att_type": "p2c"}, {}),
    "deberta_question": ("DebertaForQuestionAnswering", {**DEBERTA_1, "relative_attention": False,
                                                         "position_biased_input": True}, {}),
})
LAYOUT = {**BERT, "max_2d_position_embeddings": 30}
CASES.update({
    "layoutlm_model": ("LayoutLMModel", {**LAYOUT, "max_2d_position_embeddings": 1010}, {"boxes": True}),
    "layoutlm_token": ("LayoutLMForTokenClassification", {**LAYOUT, **LABELS, "type_vocab_size": 1}, {"boxes": True}),
    "layoutlm_masked": ("LayoutLMForMaskedLM", {**LAYOUT, "type_vocab_size": 1}, {}),
    "layoutlm_sequence": ("LayoutLMForSequenceClassification", {**LAYOUT, **LABELS}, {"boxes": True}),
    "layoutlm_question": ("LayoutLMForQuestionAnswering", LAYOUT, {"boxes": True}),
})
# Distances of tokens and of boxes reach beyond their last buckets.
LAYOUT_3 = {**ROBERTA, "max_2d_position_embeddings": 40, "coordinate_size": 5, "shape_size": 2, "rel_pos_bins": 8,
            "max_rel_pos": 5, "rel_2d_pos_bins": 12, "max_rel_2d_pos": 10, "input_size": 8, "patch_size": 4}
WITHOUT_PAGE = {"boxes": True, "words": ["memory=false"]}
# A page of 3 x 3 patches, after texts of each of these lengths.
PAGE = {**LAYOUT_3, "max_2d_position_embeddings": 1024, "max_rel_2d_pos": 300, "input_size": 12, "layer_norm_eps": 1e-3}
OF_PAGE = {"boxes": True, "page": [17, 1, 2, 9, 16], "length": 17}
CASES.update({
    "layoutlmv3_page": ("LayoutLMv3Model", PAGE, OF_PAGE),
    "layoutlmv3_page_token": ("LayoutLMv3ForTokenClassification", {**PAGE, **LABELS, "type_vocab_size": 1}, OF_PAGE),
    "layoutlmv3_page_deep": ("LayoutLMv3ForTokenClassification", {**PAGE, "num_labels": 11}, OF_PAGE),
    "layoutlmv3_page_sequence": ("LayoutLMv3ForSequenceClassification", {
        **PAGE, **LABELS, "has_relative_attention_bias": False}, OF_PAGE),
    "layoutlmv3_page_question": ("LayoutLMv3ForQuestionAnswering", {**PAGE, "patch_size": 6}, OF_PAGE),
    "layoutlmv3_model": ("LayoutLMv3Model", {**LAYOUT_3, "max_2d_position_embeddings": 1024, "max_rel_2d_pos": 300},
                         WITHOUT_PAGE),
    "layoutlmv3_token": ("LayoutLMv3ForTokenClassification", {**LAYOUT_3, **LABELS, "type_vocab_size": 1},
                         WITHOUT_PAGE),
    "layoutlmv3_deep": ("LayoutLMv3ForTokenClassification", {**LAYOUT_3, "num_labels": 11, "coordinate_size": 3,
                                                             "shape_size": 6}, WITHOUT_PAGE),
    "layoutlmv3_sequence": ("LayoutLMv3ForSequenceClassification", {
        **LAYOUT_3, **LABELS, "has_spatial_attention_bias": False, "visual_embed": False}, {"boxes": True}),
    "layoutlmv3_question": ("LayoutLMv3ForQuestionAnswering", {**LAYOUT_3, "has_relative_attention_bias": False},
                            WITHOUT_PAGE),
    "layoutlmv3_nowhere": ("LayoutLMv3Model", LAYOUT_3, {"words": ["memory=false"]}),
})
DINO_3 = {**VIT, "num_attention_heads": 3}
CASES.update({
    "dinov3_model": ("DINOv3ViTModel", {**DINO_3, "num_register_tokens": 3}, {}),
    "dinov3_gated": ("DINOv3ViTModel", {**DINO_3, "use_gated_mlp": True, "hidden_act": "silu", "key_bias": True,
                                        "mlp_bias": False, "proj_bias": False, "rope_theta": 30.0}, {}),
    "dinov3_wide": ("DINOv3ViTModel", {**DINO_3, "query_bias": False, "value_bias": False, "num_register_tokens": 1,
                                       "image_size": 224}, {"sides": (8, 20), "words": ["input.height=8", "input.width=20"]}),
})
LONG = {**ROBERTA, "type_vocab_size": 1, "attention_window": 4}
CASES.update({
    "longformer_model": ("LongformerModel", LONG, {}),
    "longformer_masked": ("LongformerForMaskedLM", {**LONG, "attention_window": [4, 8]}, {}),
    "longformer_token": ("LongformerForTokenClassification", {**LONG, **LABELS, "attention_window": [16, 4]}, {}),
})
# As ESM-2. Cases with drops have a mask token, 9, of which some tokens are made (goldens.py).
ESM = {**ROBERTA, "position_embedding_type": "rotary", "mask_token_id": 9, "token_dropout": True, "emb_layer_norm_before": False}
CASES.update({
    "esm_model": ("EsmModel", ESM, {"masked": 9}),
    "esm_masked": ("EsmForMaskedLM", ESM, {"masked": 9}),
    "esm_token": ("EsmForTokenClassification", {**ESM, **LABELS, "token_dropout": False}, {}),
    "esm_sequence": ("EsmForSequenceClassification", {**ESM, **LABELS, "position_embedding_type": "absolute",
                                                      "emb_layer_norm_before": True}, {}),
    "esm_old": ("EsmModel", ESM, {"change": "old_frequencies"}),
    "data2vec_text_model": ("Data2VecTextModel", {**ROBERTA, "type_vocab_size": 1}, {}),
    "data2vec_text_sequence": ("Data2VecTextForSequenceClassification", {**ROBERTA, **LABELS}, {}),
    "xlm_roberta_xl_model": ("XLMRobertaXLModel", {**ROBERTA, "type_vocab_size": 1}, {}),
    "xlm_roberta_xl_masked": ("XLMRobertaXLForMaskedLM", {**ROBERTA, "type_vocab_size": 1}, {}),
    "xlm_roberta_xl_sequence": ("XLMRobertaXLForSequenceClassification", {**ROBERTA, **LABELS, "type_vocab_size": 1}, {}),
    "roberta_prelayernorm_model": ("RobertaPreLayerNormModel", {**ROBERTA, "type_vocab_size": 2}, {}),
    "roberta_prelayernorm_masked": ("RobertaPreLayerNormForMaskedLM", {**ROBERTA, "type_vocab_size": 1}, {}),
    "roberta_prelayernorm_question": ("RobertaPreLayerNormForQuestionAnswering", {**ROBERTA, "hidden_act": "relu"}, {}),
    "ernie_model": ("ErnieModel", BERT, {}),
    "ernie_tasks": ("ErnieForMaskedLM", ERNIE, {}),
    "ernie_sequence": ("ErnieForSequenceClassification", {**ERNIE, **LABELS, "type_vocab_size": 4}, {}),
    "ernie_sentence": ("ErnieModel", ERNIE, {"sentence": [["mean_tokens"], None, True]}),
    "rembert_model": ("RemBertModel", REMBERT, {}),
    "rembert_masked": ("RemBertForMaskedLM", REMBERT, {}),
    "rembert_sequence": ("RemBertForSequenceClassification", {**REMBERT, **LABELS}, {}),
    "eurobert_model": ("EuroBertModel", EURO, {}),
    "eurobert_masked": ("EuroBertForMaskedLM", {**EURO, "mlp_bias": True, "attention_bias": True}, {}),
    "eurobert_sequence": ("EuroBertForSequenceClassification", {**EURO, **LABELS}, {}),
    "eurobert_first": ("EuroBertForSequenceClassification", {**EURO, **LABELS, "classifier_pooling": "bos"}, {}),
    "eurobert_mean": ("EuroBertForSequenceClassification", {**EURO, **LABELS, "classifier_pooling": "mean"},
                      {"change": "published_eurobert"}),
    "eurobert_token": ("EuroBertForTokenClassification", {**EURO, **LABELS}, {}),
})

HIDDEN_ONLY = {"text_embeds", "image_embeds", "last_hidden_state", "pooler_output", "logits", "embeddings", "start_logits", "end_logits"}
