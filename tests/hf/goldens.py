#!/usr/bin/env python3
"""Makes the checkpoint folders of tests/hf/goldens with Hugging Face's transformers.

Each is a small random model as `save_pretrained` writes it, with inputs and what transformers
computes from them in float32:

    config.json, model.safetensors, ...    the checkpoint, weights as float16
    in_NAME.npy                            the inputs, integers or float32
    out_NAME.npy                           the outputs, float32; NaN in rows of padding
    words.txt                              KEY=VALUE that the build gets
                                           (lengths or attention_mask: whichever the build asks for)
    greedy.txt                             causal language models: a prompt's ids, and the ids that
                                           `generate` finds without sampling, a line each

Matrices are square wherever a model lets them be, biases are not zero and norms not one, so
that a wrong rule cannot hide.

    goldens.py            writes all cases
    goldens.py CASE ...   only these

Run with Python 3.11, torch 2.15.0, transformers 5.23.0, numpy 2.4.6, safetensors 0.8.0.
"""

import json
import shutil
import sys
import zlib
from pathlib import Path

import numpy as np
import torch
import transformers as hf
from safetensors.numpy import load_file, save_file

import jina

GOLDENS = Path(__file__).resolve().parent / "goldens"
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
MPNET = {**BERT, "max_position_embeddings": 30}
LABELS = {"num_labels": 3}
# As DeBERTa-v3: a shared table with a norm, log buckets that are shorter than the sequences, no positions in the input.
DEBERTA = {"vocab_size": VOCAB, "hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 4,
           "intermediate_size": WIDTH, "max_position_embeddings": 19, "layer_norm_eps": 1e-6,
           "relative_attention": True, "max_relative_positions": -1, "position_buckets": 4,
           "norm_rel_ebd": "layer_norm", "share_att_key": True, "pos_att_type": "p2c|c2p",
           "position_biased_input": False, "type_vocab_size": 0}
DEBERTA_OWN = {**DEBERTA, "share_att_key": False, "norm_rel_ebd": "none"}
DECODER = {**LLAMA, "head_dim": 8}
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
    "mistral_window": ("MistralForCausalLM", {**LLAMA, "sliding_window": 3}, {}),
    "qwen2_logits": ("Qwen2ForCausalLM", LLAMA, {}),
    "qwen2_window": ("Qwen2Model", {**LLAMA, "use_sliding_window": True, "sliding_window": 3,
                                    "max_window_layers": 0}, {}),
    "t5_relu": ("T5EncoderModel", T5, {}),
    "t5_gated": ("T5EncoderModel", {**T5, "feed_forward_proj": "gated-gelu", "d_kv": 8}, {}),
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
    "starcoder2_logits": ("Starcoder2ForCausalLM", {**LLAMA, "sliding_window": 3}, LATER),
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
    "dinov2_gated": ("Dinov2Model", {**DINO, "use_swiglu_ffn": True, "mlp_ratio": 2}, {}),
    "dinov2_registers": ("Dinov2WithRegistersModel", {**DINO, "mlp_ratio": 2, "num_register_tokens": 3}, {}),
    "dinov2_image": ("Dinov2ForImageClassification", {**DINO, **LABELS, "mlp_ratio": 1}, {}),
    "dinov2_image_registers": ("Dinov2WithRegistersForImageClassification",
                               {**DINO, **LABELS, "mlp_ratio": 1, "num_register_tokens": 2}, {}),
})

CLIP_TEXT = {"vocab_size": VOCAB, "hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 4,
             "intermediate_size": WIDTH, "max_position_embeddings": 9, "projection_dim": WIDTH, "pad_token_id": 1,
             "bos_token_id": 0, "eos_token_id": 2}
CLIP_VISION = {**VIT, "projection_dim": WIDTH}
CASES.update({
    "clip_text_model": ("CLIPTextModel", CLIP_TEXT, {"ends": True}),
    "clip_text_projection": ("CLIPTextModelWithProjection", {**CLIP_TEXT, "eos_token_id": VOCAB - 1}, {"ends": True}),
    "clip_vision_model": ("CLIPVisionModel", CLIP_VISION, {}),
    "clip_vision_projection": ("CLIPVisionModelWithProjection", {**CLIP_VISION, "projection_dim": 10}, {}),
    "clip_both_text": ("CLIPModel", {"text_config": CLIP_TEXT, "vision_config": CLIP_VISION, "projection_dim": 12},
                       {"ends": True, "words": ["tower=text", "name=clip_both_text"], "tower": "get_text_features"}),
    "clip_both_image": ("CLIPModel", {"text_config": CLIP_TEXT, "vision_config": CLIP_VISION, "projection_dim": 12},
                        {"tower": "get_image_features"}),
})

SIGLIP_TEXT = {**{key: value for key, value in CLIP_TEXT.items() if key != "projection_dim"}}
CASES.update({
    "siglip_vision_model": ("SiglipVisionModel", VIT, {}),
    "siglip_both": ("SiglipModel", {"text_config": SIGLIP_TEXT, "vision_config": VIT},
                    {"tower": "get_image_features"}),
    "siglip_text_model": ("SiglipTextModel", {**SIGLIP_TEXT, "projection_size": 10}, {"length": 9, "whole": True}),
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
CASES.update({
    "wav2vec2_model": ("Wav2Vec2Model", WAV, {"frames": True}),
    "wav2vec2_ctc": ("Wav2Vec2ForCTC", {**WAV, "do_stable_layer_norm": True, "num_conv_pos_embeddings": 5},
                     {"frames": True, "change": "old_weight_norm"}),
    "wav2vec2_sequence": ("Wav2Vec2ForSequenceClassification", {**WAV, **LABELS, "classifier_proj_size": 10},
                          {"frames": True}),
    "wav2vec2_folded": ("Wav2Vec2Model", {**WAV, "feat_extract_activation": "relu"},
                        {"frames": True, "change": "folded_weight_norm"}),
    "hubert_model": ("HubertModel", {**WAV, "feat_proj_layer_norm": False}, {"frames": True}),
    "hubert_sequence": ("HubertForSequenceClassification", {**WAV, **LABELS, "do_stable_layer_norm": True},
                        {"frames": True}),
    "unispeech_ctc": ("UniSpeechForCTC", {**WAV, "num_ctc_classes": VOCAB}, {"frames": True}),
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
    "mbart_writes": ("MBartForConditionalGeneration", SEQ2SEQ, WRITES),
    "pegasus_writes": ("PegasusForConditionalGeneration", {**SEQ2SEQ, "activation_function": "relu"}, WRITES),
    "marian_writes": ("MarianMTModel", {**SEQ2SEQ, "activation_function": "swish"}, WRITES),
    "marian_separate": ("MarianMTModel", {**SEQ2SEQ, "share_encoder_decoder_embeddings": False, "vocab_size": 41,
                                          "decoder_vocab_size": VOCAB, "tie_word_embeddings": False}, WRITES),
    "m2m_100_writes": ("M2M100ForConditionalGeneration", SEQ2SEQ, WRITES),
    "t5_writes": ("T5ForConditionalGeneration", {**T5, "num_decoder_layers": 3, "decoder_start_token_id": 0}, WRITES),
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

HIDDEN_ONLY = {"text_embeds", "image_embeds", "last_hidden_state", "pooler_output", "logits", "start_logits", "end_logits"}


def fill(model, generator):
    """Random values for all of a model's parameters: nothing zero, one or symmetric."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            values = torch.randn(parameter.shape, generator=generator)
            is_norm = parameter.dim() == 1 and name.endswith("weight")
            scale = 0.25 if parameter.dim() > 1 else 0.3
            parameter.copy_(1 + 0.3 * values if is_norm else scale * values)
        if hasattr(model, "final_logits_bias"):
            model.final_logits_bias.copy_(0.3 * torch.randn(model.final_logits_bias.shape, generator=generator))


def text_inputs(name, config, generator, seq):
    pad = getattr(config, "pad_token_id", None) or 0
    ids = torch.randint(4, VOCAB, (BATCH, seq), generator=generator)
    mask = torch.ones(BATCH, seq, dtype=torch.long)
    for row, length in enumerate([seq, LENGTHS[1]]):
        ids[row, length:] = pad
        mask[row, length:] = 0
    inputs = {"input_ids": ids, "attention_mask": mask}
    if getattr(config, "type_vocab_size", 0) > 1 and "no_types" not in name and "sentence" not in name:
        inputs["token_type_ids"] = torch.randint(0, 2, (BATCH, seq), generator=generator)
    return inputs


def frame_inputs(model, generator, seq):
    """Features, which the model's convolutions give from now on, and what its call gets: numbers of samples."""
    width = model.config.conv_dim[-1]
    features = torch.randn(BATCH, seq, width, generator=generator)
    mask = torch.ones(BATCH, seq, dtype=torch.long)
    mask[1, LENGTHS[1]:] = 0
    model.base_model.feature_extractor.forward = lambda values: features.transpose(1, 2).clone()
    samples = torch.cat([torch.ones(BATCH, 1, dtype=torch.long), mask], 1)
    return {"features": features}, mask, {"input_values": torch.zeros(BATCH, seq + 1), "attention_mask": samples}


def old_weight_norm(folder):
    """As older programs call the parts of a weight with a norm."""
    tensors = load_file(folder / "model.safetensors")
    for old, new in (("parametrizations.weight.original0", "weight_g"), ("parametrizations.weight.original1", "weight_v")):
        tensors = {name.replace(old, new): value for name, value in tensors.items()}
    save_file(tensors, folder / "model.safetensors")


def folded_weight_norm(folder):
    """With the weight itself in place of its parts, in float32: it is no float16."""
    tensors = load_file(folder / "model.safetensors")
    path = "encoder.pos_conv_embed.conv."
    gain, value = (tensors.pop(path + f"parametrizations.weight.original{part}").astype(np.float32) for part in (0, 1))
    tensors[path + "weight"] = value * (gain / np.sqrt((value.astype(np.float64) ** 2).sum((0, 1))))
    save_file({name: value.astype(np.float32) if name == path + "weight" else value
               for name, value in tensors.items()}, folder / "model.safetensors")


def greedy(model, seq):
    """A prompt, and the tokens that follow it; the prompt is one after which no step is in doubt."""
    model.generation_config.eos_token_id = None
    for first in range(4, VOCAB):
        prompt = torch.tensor([[first, VOCAB - first]])
        found = model.generate(prompt, max_new_tokens=seq + 1 - PROMPT, do_sample=False, output_logits=True,
                               return_dict_in_generate=True)
        gaps = [step.topk(2).values.diff().abs().item() for step in found.logits]
        tokens = found.sequences[0, PROMPT:].tolist()
        if min(gaps) > CLEAR and len(set(tokens)) > 3:
            return [prompt[0].tolist(), tokens]
    sys.exit("every prompt leaves a greedy token in doubt")


def whole_gemma3(folder):
    """As the folder of a model of text and images: the text part is one of several."""
    tensors = load_file(folder / "model.safetensors")
    save_file({"language_model." + name: value for name, value in tensors.items()}, folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(
        {"model_type": "gemma3", "architectures": ["Gemma3ForConditionalGeneration"], "text_config": config,
         "vision_config": {"model_type": "siglip_vision_model"}, "mm_tokens_per_image": 256}, indent=2) + "\n")


def old_modernbert(folder):
    """As transformers 4 writes its configuration."""
    config = json.loads((folder / "config.json").read_text())
    bases = config.pop("rope_parameters")
    del config["layer_types"]
    config.update(global_attn_every_n_layers=2, global_rope_theta=bases["full_attention"]["rope_theta"],
                  local_rope_theta=bases["sliding_attention"]["rope_theta"], layer_norm_eps=1e-5,
                  position_embedding_type="absolute", reference_compile=False, repad_logits_with_grad=False)
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")


def published_nomic(folder):
    """As the published folders of NomicBERT: GPT-2's keys, and code of their own."""
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({
        "activation_function": "swiglu", "architectures": config["architectures"], "attn_pdrop": 0.0,
        "auto_map": {"AutoModel": "nomic-ai/nomic-bert-2048--modeling_hf_nomic_bert.NomicBertModel"},
        "bos_token_id": None, "causal": False, "dense_seq_output": True, "embd_pdrop": 0.0, "eos_token_id": None,
        "fused_bias_fc": True, "fused_dropout_add_ln": True, "initializer_range": 0.02,
        "layer_norm_epsilon": config["layer_norm_eps"], "max_trained_positions": 2048, "mlp_fc1_bias": False,
        "mlp_fc2_bias": False, "model_type": "nomic_bert", "n_embd": config["hidden_size"],
        "n_head": config["num_attention_heads"], "n_inner": config["intermediate_size"],
        "n_layer": config["num_hidden_layers"], "n_positions": config["max_position_embeddings"],
        "pad_vocab_size_multiple": 1, "parallel_block": False, "parallel_block_tied_norm": False, "prenorm": False,
        "qkv_proj_bias": False, "reorder_and_upcast_attn": False, "resid_pdrop": 0.0,
        "rotary_emb_base": config["rope_parameters"]["rope_theta"], "rotary_emb_fraction": 1.0,
        "rotary_emb_interleaved": False, "rotary_emb_scale_base": None, "rotary_scaling_factor": None,
        "scale_attn_by_inverse_layer_idx": False, "scale_attn_weights": True, "summary_activation": None,
        "summary_first_dropout": 0.0, "summary_proj_to_labels": True, "summary_type": "cls_index",
        "summary_use_proj": True, "type_vocab_size": config["type_vocab_size"], "use_cache": True,
        "use_flash_attn": True, "use_rms_norm": False, "use_xentropy": True, "vocab_size": config["vocab_size"]},
        indent=2) + "\n")


def published_gte(folder):
    """As the published folders of GTE v1.5, with code of their own. Its scaling of positions is called ntk."""
    tensors = load_file(folder / "model.safetensors")
    save_file({name.replace("gte.", "new.", 1): value for name, value in tensors.items()}, folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    del config["rope_parameters"]
    classes = [name.replace("Gte", "New") for name in config["architectures"]]
    config.update(
        architectures=classes, auto_map={"AutoModel": "Alibaba-NLP/new-impl--modeling.NewModel"}, model_type="new",
        layer_norm_type="layer_norm", logn_attention_clip1=False, logn_attention_scale=False, pack_qkv=True,
        position_embedding_type="rope", rope_theta=NTK_BASE, rope_scaling={"factor": NTK, "type": "ntk"},
        unpad_inputs=False, use_memory_efficient_attention=False)
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")


def published_jina(folder):
    """As the published folders of JinaBERT, with code of their own."""
    config = json.loads((folder / "config.json").read_text())
    del config["post_norm"]
    config.update(auto_map={"AutoModel": "jinaai/jina-bert-implementation--modeling_bert.JinaBertModel"},
                  emb_pooler="mean", attn_implementation="torch", model_max_length=8192)
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")


def old_names(folder):
    """As the first BERT checkpoints: no prefix, gamma and beta, positions that nobody needs."""
    tensors = load_file(folder / "model.safetensors")
    renamed = {}
    for name, value in tensors.items():
        name = name.removeprefix("bert.")
        name = name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
        renamed[name] = value
    renamed["embeddings.position_ids"] = np.arange(19, dtype=np.int64)[None]
    save_file(renamed, folder / "model.safetensors")


def new_names(folder):
    """As transformers 5 calls a vision transformer's layers in memory."""
    tensors = load_file(folder / "model.safetensors")
    renamed = {}
    for name, value in tensors.items():
        for old, new in (("encoder.layer.", "layers."), ("attention.attention.query", "attention.q_proj"),
                         ("attention.attention.key", "attention.k_proj"),
                         ("attention.attention.value", "attention.v_proj"),
                         ("attention.output.dense", "attention.o_proj"), ("intermediate.dense", "mlp.fc1"),
                         ("output.dense", "mlp.fc2")):
            name = name.replace(old, new)
        renamed[name] = value
    save_file(renamed, folder / "model.safetensors")


def timm_names(folder):
    tensors = load_file(folder / "model.safetensors")
    renamed = {}
    for name, value in tensors.items():
        name = name.removeprefix("vit.").removeprefix("embeddings.").replace("encoder.layer.", "blocks.")
        for old, new in (("position_embeddings", "pos_embed"), ("patch_embeddings.projection", "patch_embed.proj"),
                         ("attention.output.dense", "attn.proj"), ("intermediate.dense", "mlp.fc1"),
                         ("output.dense", "mlp.fc2"), ("layernorm_before", "norm1"), ("layernorm_after", "norm2"),
                         ("layernorm", "norm"), ("classifier", "head")):
            name = name.replace(old, new)
        renamed[name] = value
    for layer in range(2):
        for end in ("weight", "bias"):
            parts = [renamed.pop(f"blocks.{layer}.attention.attention.{part}.{end}")
                     for part in ("query", "key", "value")]
            renamed[f"blocks.{layer}.attn.qkv.{end}"] = np.concatenate(parts)
    save_file(renamed, folder / "model.safetensors")


def pooled(states, mask, mode):
    kept = mask[:, :, None].float()
    count = kept.sum(1)
    weights = kept * torch.arange(1, SEQ + 1)[None, :, None]
    last = mask.sum(1) - 1
    return {
        "cls_token": lambda: states[:, 0],
        "max_tokens": lambda: states.masked_fill(kept == 0, -torch.inf).amax(1),
        "mean_tokens": lambda: (states * kept).sum(1) / count,
        "mean_sqrt_len_tokens": lambda: (states * kept).sum(1) / count.sqrt(),
        "weightedmean_tokens": lambda: (states * weights).sum(1) / weights.sum(1),
        "lasttoken": lambda: states[torch.arange(BATCH), last],
    }[mode]()


def sentence(folder, states, mask, modes, activation, unit, generator):
    """The modules of sentence-transformers after a model, and what they give."""
    kind = "sentence_transformers.models."
    modules = [["", "Transformer"], ["1_Pooling", "Pooling"]]
    every = ["cls_token", "max_tokens", "mean_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken"]
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling/config.json").write_text(json.dumps(
        {"word_embedding_dimension": WIDTH, **{f"pooling_mode_{mode}": mode in modes for mode in every}}))
    vector = torch.cat([pooled(states, mask, mode) for mode in modes], 1)
    if activation:
        weight = (0.3 * torch.randn(WIDTH, WIDTH, generator=generator)).half()
        bias = (0.3 * torch.randn(WIDTH, generator=generator)).half()
        (folder / "2_Dense").mkdir()
        (folder / "2_Dense/config.json").write_text(json.dumps(
            {"in_features": WIDTH, "out_features": WIDTH, "bias": True,
             "activation_function": "torch.nn.modules.activation." + activation}))
        save_file({"linear.weight": weight.numpy(), "linear.bias": bias.numpy()},
                  folder / "2_Dense/model.safetensors")
        modules.append(["2_Dense", "Dense"])
        vector = getattr(torch.nn, activation)()(vector @ weight.float().T + bias.float())
    if unit:
        modules.append([f"{len(modules)}_Normalize", "Normalize"])
        vector = torch.nn.functional.normalize(vector, dim=1)
    (folder / "modules.json").write_text(json.dumps(
        [{"idx": i, "name": str(i), "path": path, "type": kind + word} for i, (path, word) in enumerate(modules)]))
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 16, "do_lower_case": false}')
    return {"sentence_embedding": vector}


def outputs_of(name, class_name, result, mask):
    """The outputs that attn2c gives, too: rows of padding are no number."""
    found, seq = {}, 0 if mask is None else mask.shape[1]
    for key in sorted(HIDDEN_ONLY & set(result.keys())):
        value = result[key].float()
        if mask is not None and value.dim() >= 2 and value.shape[1] == seq:
            last = mask.sum(1) - 1
            if "LMHead" in class_name or "CausalLM" in class_name:
                if "all_logits" not in name:
                    found[key] = value[torch.arange(BATCH), last]
                    continue
            value = value.masked_fill(mask.view(BATCH, seq, *[1] * (value.dim() - 2)) == 0, torch.nan)
        found[key] = value
    return found


def save(folder, class_name, settings, shards="1GB"):
    """A random model as its folder has it, and the generator of its numbers."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    generator = torch.Generator().manual_seed(zlib.crc32(folder.name.encode()))
    model_class = getattr(jina, class_name, None) or getattr(hf, class_name)
    model = model_class(model_class.config_class(**settings))
    fill(model, generator)
    model.half().save_pretrained(folder, max_shard_size=shards)
    return opened(model_class, folder), generator


def opened(model_class, folder):
    """The model of a folder. TrOCR's sinusoids, which are no weights, are made after it is opened."""
    model = model_class.from_pretrained(folder, dtype=torch.float32).eval()
    for module in model.modules():
        if hasattr(module, "get_embedding"):
            module.weights = module.get_embedding(*module.weights.shape, module.padding_idx)
    return model


def write(name):
    class_name, settings, special = CASES[name]
    folder = GOLDENS / name
    model, generator = save(folder, class_name, settings, special.get("shards", "1GB"))
    if "change" in special:
        globals()[special["change"]](folder)
    mask, seq = None, special.get("length", SEQ)
    if "pictures" in special:
        ids = torch.randint(4, VOCAB, (BATCH, seq), generator=generator)
        inputs = {"pixel_values": torch.randn(BATCH, 3, 8, 8, generator=generator), "decoder_input_ids": ids}
        call = {"pixel_values": inputs["pixel_values"],
                "input_ids" if class_name.startswith("Blip") else "decoder_input_ids": ids}
    elif "pixel" in model.main_input_name or name in ("clip_both_image", "siglip_both"):
        inputs = {"pixel_values": torch.randn(BATCH, 3, 8, 8, generator=generator)}
    elif "sounds" in special:
        ids = torch.randint(4, VOCAB, (BATCH, seq), generator=generator)
        features = torch.randn(BATCH, FRAMES, model.config.num_mel_bins, generator=generator)
        inputs = {"input_features": features, "decoder_input_ids": ids}
        call = {**inputs, "input_features": features.transpose(1, 2)}
    elif "frames" in special:
        inputs, mask, call = frame_inputs(model, generator, seq)
    elif "sources" in special:
        call = text_inputs(name, model.config, generator, SOURCE)
        call["decoder_input_ids"] = torch.randint(4, VOCAB, (BATCH, seq), generator=generator)
        inputs = {**call, "source_lengths": call["attention_mask"].sum(1)}
        del inputs["attention_mask"]
    else:
        inputs = text_inputs(name, model.config, generator, seq)
        if "ends" in special:
            inputs["input_ids"].clamp_(max=VOCAB - 2)
            for row, length in enumerate(inputs["attention_mask"].sum(1).tolist()):
                inputs["input_ids"][row, length - 1] = VOCAB - 1
        if "left" in special:
            inputs = {key: value.flip(1) for key, value in inputs.items()}
        mask = inputs["attention_mask"]
        if "whole" in special:  # there is no mask, and sequences have one length
            inputs, mask = {"input_ids": inputs["input_ids"]}, None
    with torch.no_grad():
        if "tower" in special:
            name_of = "text_embeds" if "text" in name else "image_embeds"
            result = {name_of: getattr(model, special["tower"])(**inputs).pooler_output}
        else:
            result = model(**(call if {"frames", "sources", "pictures", "sounds"} & set(special) else inputs))
        expected = outputs_of(name, class_name, result, mask)
        if "pictures" in special:  # BLIP gives the tower's outputs, too
            expected = {"logits": expected["logits"]}
        if "projection" in name:  # attn2c gives only the embedding
            expected.pop("last_hidden_state", None)
        if "sentence" in special:
            expected = sentence(folder, result.last_hidden_state, mask, *special["sentence"], generator)
        if "length" in special and hasattr(model, "lm_head"):
            lines = [" ".join(map(str, line)) for line in greedy(model, seq)]
            (folder / "greedy.txt").write_text("\n".join(lines) + "\n")
    if mask is not None and "left" not in special:
        inputs.pop("attention_mask", None)
        inputs["lengths"] = mask.sum(1)
    for key, value in inputs.items():
        np.save(folder / f"in_{key}.npy", value.numpy().astype(np.float32 if value.is_floating_point() else np.int32))
    for key, value in expected.items():
        np.save(folder / f"out_{key}.npy", value.numpy().astype(np.float32))
    words = ["batch=2"] + ([f"seq={seq}"] if mask is not None or {"sources", "pictures", "sounds"} & set(special) else []) + special.get("words", [])
    (folder / "words.txt").write_text("\n".join(words) + "\n")
    (folder / "generation_config.json").unlink(missing_ok=True)


def main():
    torch.manual_seed(0)
    for name in sys.argv[1:] or CASES:
        write(name)
        print(name)


if __name__ == "__main__":
    main()
