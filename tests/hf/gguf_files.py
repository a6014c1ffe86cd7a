#!/usr/bin/env python3
"""Makes the GGUF files of tests/hf with the package gguf, and transformers' results for them.

    gguf/types.gguf, types.safetensors     a tensor of each type, and its values as gguf.quants has them
    goldens/gguf_NAME/                     a small random model, as goldens.py describes a case, with
                                           gguf_NAME.gguf in place of the folder's other files

The models' tensors have different types, so that all types are in some product. Types that gguf.quants
cannot write are random blocks with small scales. transformers gets the values of all blocks, in its own
names and order of rows.

    gguf_files.py            writes all
    gguf_files.py CASE ...   only these (types, gguf_llama, ...)

Run with Python 3.11, torch 2.15.0, transformers 5.23.0, numpy 2.4.6, gguf 0.19.0, safetensors 0.8.0.
"""

import json
import re
import shutil
import sys
import zlib
from pathlib import Path

import gguf
import numpy as np
import torch
import transformers as hf
from gguf.quants import dequantize, quantize
from safetensors.numpy import load_file, save_file

import goldens

HERE = Path(__file__).resolve().parent
Type = gguf.GGMLQuantizationType

# Where a block's f16 scales are, for types that gguf.quants cannot write.
SCALES = {"Q2_K": [80, 82], "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ4_NL": [0],
          "IQ4_XS": [0], "IQ2_XXS": [0], "IQ2_XS": [0], "IQ2_S": [0], "IQ3_XXS": [0], "IQ3_S": [0]}
SIZES = {"Q2_K": 2e-2, "Q3_K": 2e-3, "Q4_K": 3e-4, "Q5_K": 2e-4, "Q6_K": 5e-5, "IQ4_NL": 1e-3, "IQ4_XS": 5e-5,
         "IQ2_XXS": 3e-4, "IQ2_XS": 3e-4, "IQ2_S": 3e-4, "IQ3_XXS": 1e-4, "IQ3_S": 1e-4}
CODEBOOKS = ["IQ2_XXS", "IQ3_XXS", "IQ2_XS", "IQ3_S", "IQ2_S"]
TYPES = ["F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", *SCALES]


def blocks(kind, shape, random):
    """Bytes of random blocks, with scales of the size of SIZES."""
    elements, size = gguf.GGML_QUANT_SIZES[Type[kind]]
    count = int(np.prod(shape)) // elements
    data = random.integers(0, 256, (count, size), dtype=np.uint8)
    for at in SCALES[kind]:
        scale = (SIZES[kind] * random.uniform(0.5, 1.5, count)).astype(np.float16)
        data[:, at:at + 2] = scale.view(np.uint8).reshape(count, 2)
    return data.reshape(*shape[:-1], shape[-1] // elements * size)


def stored(kind, values, random):
    """The bytes of values in a type, and what these bytes mean."""
    if kind == "F32":
        return values, values
    if kind == "F16":
        return values.astype(np.float16), values.astype(np.float16).astype(np.float32)
    data = blocks(kind, values.shape, random) if kind in SCALES else quantize(values, Type[kind])
    return data, dequantize(data, Type[kind]).reshape(values.shape)


def write_types():
    folder = HERE / "gguf"
    folder.mkdir(exist_ok=True)
    random = np.random.default_rng(1)
    writer, meant = gguf.GGUFWriter(folder / "types.gguf", "none"), {}
    for kind in [*TYPES, "MXFP4"]:
        data, meant[kind] = stored(kind, random.standard_normal((2, 256)).astype(np.float32), random)
        writer.add_tensor(kind, data, raw_dtype=None if kind in ("F32", "F16") else Type[kind])
    close(writer)
    save_file(meant, folder / "types.safetensors")
    (folder / "types.safetensors").chmod(0o644)


def close(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def pairs(values, heads):
    """The rows of rotated queries or keys as llama.cpp's converter stores them: halves become pairs."""
    return values.reshape(heads, 2, values.shape[0] // heads // 2, *values.shape[1:]).swapaxes(1, 2).reshape(values.shape)


def halves(values, heads):
    """The inverse of pairs."""
    return values.reshape(heads, values.shape[0] // heads // 2, 2, *values.shape[1:]).swapaxes(1, 2).reshape(values.shape)


def parts_of_heads(values, outer, inner):
    """Rows of [outer][inner][width] as [inner][outer][width]."""
    return values.reshape(outer, inner, -1, *values.shape[1:]).swapaxes(0, 1).reshape(values.shape)


def grouped(values, config):
    """The rows of Falcon's queries, keys and values by groups of queries that share a key, as they are in transformers."""
    heads, groups = config.num_attention_heads, config.num_kv_heads
    width = values.shape[0] // (heads + 2 * groups)
    parts = np.split(values, [heads * width, (heads + groups) * width])
    return np.concatenate([part.reshape(groups, -1, *values.shape[1:]) for part in parts], 1).reshape(values.shape)


def ungrouped(values, config):
    """The inverse of grouped, as llama.cpp's converter stores them."""
    heads, groups = config.num_attention_heads, config.num_kv_heads
    width = values.shape[0] // (heads + 2 * groups)
    parts = np.split(values.reshape(groups, -1, *values.shape[1:]), [heads // groups * width, (heads // groups + 1) * width], 1)
    return np.concatenate([part.reshape(-1, *values.shape[1:]) for part in parts])


DECODER = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
           "self_attn.o_proj": "attn_output", "input_layernorm": "attn_norm", "mlp.gate_proj": "ffn_gate",
           "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down", "post_attention_layernorm": "ffn_norm"}
JOINED = {"self_attention.query_key_value": "attn_qkv", "self_attention.dense": "attn_output",
          "input_layernorm": "attn_norm", "mlp.dense_h_to_4h": "ffn_up", "mlp.dense_4h_to_h": "ffn_down",
          "post_attention_layernorm": "ffn_norm", "ln_attn": "attn_norm_2", "ln_mlp": "attn_norm"}
GPT2 = {"attn.c_attn": "attn_qkv", "attn.c_proj": "attn_output", "ln_1": "attn_norm", "mlp.c_fc": "ffn_up",
        "mlp.c_proj": "ffn_down", "ln_2": "ffn_norm", **JOINED}
MPT = {"attn.Wqkv": "attn_qkv", "attn.out_proj": "attn_output", "norm_1": "attn_norm", "norm_2": "ffn_norm",
       "ffn.up_proj": "ffn_up", "ffn.down_proj": "ffn_down"}
BERT = {"attention.self.query": "attn_q", "attention.self.key": "attn_k", "attention.self.value": "attn_v",
        "attention.output.dense": "attn_output", "attention.output.LayerNorm": "attn_output_norm",
        "intermediate.dense": "ffn_up", "output.dense": "ffn_down", "output.LayerNorm": "layer_output_norm"}
NEOX = {"attention.query_key_value": "attn_qkv", "attention.dense": "attn_output", "input_layernorm": "attn_norm",
        "mlp.dense_h_to_4h": "ffn_up", "mlp.dense_4h_to_h": "ffn_down", "post_attention_layernorm": "ffn_norm"}
NOMIC = {"self_attn.qkv_proj": "attn_qkv", "self_attn.o_proj": "attn_output",
         "post_attention_layernorm": "attn_output_norm", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
         "mlp.down_proj": "ffn_down", "post_mlp_layernorm": "layer_output_norm"}
T5 = {"layer.0.SelfAttention.q": "attn_q", "layer.0.SelfAttention.k": "attn_k", "layer.0.SelfAttention.v": "attn_v",
      "layer.0.SelfAttention.o": "attn_o", "layer.0.SelfAttention.relative_attention_bias": "attn_rel_b",
      "layer.0.layer_norm": "attn_norm", "layer.1.DenseReluDense.wi": "ffn_up",
      "layer.1.DenseReluDense.wi_0": "ffn_gate", "layer.1.DenseReluDense.wi_1": "ffn_up",
      "layer.1.DenseReluDense.wo": "ffn_down", "layer.1.layer_norm": "ffn_norm"}
OUTSIDE = {"shared": "token_embd", "encoder.final_layer_norm": "enc.output_norm",
           "gpt_neox.embed_in": "token_embd", "gpt_neox.final_layer_norm": "output_norm", "embed_out": "output",
           "model.embed_tokens": "token_embd", "model.embedding_norm": "token_embd_norm", "model.norm": "output_norm", "lm_head": "output",
           "transformer.word_embeddings": "token_embd", "transformer.word_embeddings_layernorm": "token_embd_norm",
           "transformer.norm_f": "output_norm", "transformer.wte": "token_embd", "transformer.wpe": "position_embd", "transformer.ln_f": "output_norm",
           "embeddings.word_embeddings": "token_embd", "embeddings.position_embeddings": "position_embd",
           "embeddings.token_type_embeddings": "token_types", "embeddings.LayerNorm": "token_embd_norm"}
LAYERS = {"model.layers.": DECODER, "transformer.h.": GPT2, "transformer.blocks.": MPT, "encoder.layer.": BERT,
          "encoder.block.": T5, "gpt_neox.layers.": NEOX, "layers.": NOMIC}

# Tensors that some architectures name differently.
AFTER = {"post_attention_layernorm": "post_attention_norm", "post_feedforward_layernorm": "post_ffw_norm",
         "pre_feedforward_layernorm": "ffn_norm", "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm"}
# Tensors of experts, which are the first axis; gate and up are one in memory.
MIXTURE = {"mlp.gate": "ffn_gate_inp", "block_sparse_moe.router": "ffn_gate_inp",
           "experts.gate": "ffn_gate_exps", "experts.up": "ffn_up_exps", "experts.down": "ffn_down_exps",
           "mlp.shared_expert.gate_proj": "ffn_gate_shexp", "mlp.shared_expert.up_proj": "ffn_up_shexp",
           "mlp.shared_expert.down_proj": "ffn_down_shexp", "mlp.shared_expert_gate": "ffn_gate_inp_shexp"}
OTHER = {"gemma2": AFTER, "gemma3": AFTER, "olmo2": AFTER, "exaone4": AFTER,
         "qwen3": {key: AFTER[key] for key in list(AFTER)[3:]}, "command-r": {key: AFTER[key] for key in list(AFTER)[3:]},
         "glm4": {"post_self_attn_layernorm": "post_attention_norm", "post_mlp_layernorm": "post_ffw_norm",
                  "mlp.gate_up_proj": "ffn_up"},
         "stablelm": {"self_attn.q_layernorm": "attn_q_norm", "self_attn.k_layernorm": "attn_k_norm"},
         "phi3": {"self_attn.qkv_proj": "attn_qkv", "mlp.gate_up_proj": "ffn_up"},
         "llama": MIXTURE, "qwen3moe": {**MIXTURE, **{key: AFTER[key] for key in list(AFTER)[3:]}},
         "olmoe": {**MIXTURE, **{key: AFTER[key] for key in list(AFTER)[3:]}}, "qwen2moe": MIXTURE,
         "gpt-oss": {**MIXTURE, "mlp.router": "ffn_gate_inp", "self_attn.sinks": "attn_sinks",
                     "post_attention_layernorm": "post_attention_norm"},
         "granitemoe": MIXTURE, "starcoder2": {"mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down"}}


LFM2 = {"conv.in_proj": "shortconv.in_proj", "conv.conv": "shortconv.conv", "conv.out_proj": "shortconv.out_proj",
        "self_attn.out_proj": "attn_output", "self_attn.q_layernorm": "attn_q_norm",
        "self_attn.k_layernorm": "attn_k_norm", "operator_norm": "attn_norm", "ffn_norm": "ffn_norm",
        "feed_forward.w1": "ffn_gate", "feed_forward.w3": "ffn_up", "feed_forward.w2": "ffn_down",
        "feed_forward.gate": "ffn_gate_inp", **MIXTURE}
OTHER["lfm2"] = OTHER["lfm2moe"] = LFM2


GEMMA3N = {**AFTER, "laurel.linear_left": "laurel_l", "laurel.linear_right": "laurel_r",
           "laurel.post_laurel_norm": "laurel_post_norm", "altup.router_norm": "altup_router_norm",
           "altup.modality_router": "altup_router", "altup.prediction_coefs": "altup_predict_coef",
           "altup.correction_coefs": "altup_correct_coef", "altup.correct_output_scale": "altup_correct_scale",
           "per_layer_input_gate": "inp_gate", "per_layer_projection": "proj", "post_per_layer_input_norm": "post_norm"}
OTHER["gemma3n"] = GEMMA3N
OUTSIDE.update({"model.embed_tokens_per_layer": "per_layer_token_embd",
                "model.per_layer_model_projection": "per_layer_model_proj",
                "model.per_layer_projection_norm": "per_layer_proj_norm",
                "model.altup_projections": "altup_proj", "model.altup_unembed_projections": "altup_unembd_proj"})


def name_of(name, arch):
    """A parameter's name in GGUF."""
    module, kind = name.rsplit(".", 1)
    for prefix, parts in LAYERS.items():
        if module.startswith(prefix):
            number, rest = module[len(prefix):].split(".", 1)
            rest = rest[rest.find("experts."):] if "experts." in rest else rest
            if kind == "expert_bias":
                return f"blk.{number}.exp_probs_b.bias"
            stack = "enc." if parts is T5 else ""
            return f"{stack}blk.{number}.{OTHER.get(arch, {}).get(rest) or parts[rest]}.{kind}"
    return f"{OUTSIDE[module]}.{kind}"


IN_PAIRS = ("llama", "granite", "granitemoe", "internlm2", "smollm3")   # whose rotated rows are stored as pairs


def to_file(values, name, arch, config):
    """A parameter's values as llama.cpp's converter stores them."""
    heads = config.num_attention_heads if "q_proj" in name else getattr(config, "num_key_value_heads", 0)
    if arch == "gpt2" and values.ndim == 2 and ".h." in name:
        return np.ascontiguousarray(values.T)
    if arch in IN_PAIRS and ("q_proj" in name or "k_proj" in name):
        return pairs(values, heads)
    if arch in ("gemma", "gemma2", "gemma3") and name.endswith("norm.weight"):
        return values + np.float32(1)
    if arch in ("bloom", "gptneox") and "query_key_value" in name:
        return parts_of_heads(values, config.num_attention_heads, 3)
    if arch == "falcon" and "query_key_value" in name:
        return ungrouped(values, config)
    return values


def from_file(values, name, arch, config):
    """The inverse of to_file."""
    heads = config.num_attention_heads if "q_proj" in name else getattr(config, "num_key_value_heads", 0)
    if arch in IN_PAIRS and ("q_proj" in name or "k_proj" in name):
        return halves(values, heads)
    if arch in ("gemma", "gemma2", "gemma3") and name.endswith("norm.weight"):
        return values - np.float32(1)
    if arch in ("bloom", "gptneox") and "query_key_value" in name:
        return parts_of_heads(values, 3, config.num_attention_heads)
    if arch == "falcon" and "query_key_value" in name:
        return grouped(values, config)
    return to_file(values, name, arch, config)


T5_SMALL = {"vocab_size": 37, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4}
T5_KEYS = {"attention.key_length": 8, "attention.value_length": 8, "attention.relative_buckets_count": 32,
           "attention.layer_norm_rms_epsilon": 1e-6}
SMALL = {"vocab_size": 37, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "intermediate_size": 32, "max_position_embeddings": 64, "pad_token_id": 0,
         "bos_token_id": 1, "eos_token_id": 2}
EXPERTS = {**SMALL, "hidden_size": 64, "intermediate_size": 64, "num_experts": 5, "num_local_experts": 5,
           "num_experts_per_tok": 2}
COUNTS = {"expert_count": 5, "expert_used_count": 2}

FALCON = {"vocab_size": 37, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "ffn_hidden_size": 64,
          "max_position_embeddings": 64}

# case: class, configuration, architecture, types of matrices in turn, metadata beyond the usual, and what is
# special: `parts`: tensors of each file; `frequencies`: factors of rotary frequencies; `biases`.
CASES = {
    "gguf_llama": ("LlamaForCausalLM", {**SMALL, "hidden_size": 256, "head_dim": 8,
                                        "rope_parameters": {"rope_theta": 100.0, "rope_type": "default"}},
                   "llama", [kind for kind in TYPES if kind not in ("F32", *CODEBOOKS)], {"rope.freq_base": 100.0,
                                                                       "attention.key_length": 8,
                                                                       "rope.dimension_count": 8}, {}),
    "gguf_codebooks": ("LlamaForCausalLM", {**SMALL, "hidden_size": 256, "head_dim": 16, "intermediate_size": 512,
                                            "num_hidden_layers": 1}, "llama", [*CODEBOOKS, "Q2_K"],
                       {"rope.freq_base": 10000.0, "attention.key_length": 16, "rope.dimension_count": 16}, {}),
    "gguf_llama3": ("LlamaForCausalLM", {**SMALL, "tie_word_embeddings": True, "rope_parameters": {
        "rope_theta": 10000.0, "rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 16}}, "llama", ["Q8_0", "Q5_1"], {}, {"frequencies": True}),
    "gguf_llama_adapter": ("LlamaForCausalLM", SMALL, "llama", ["F16", "Q8_0", "Q4_1"], {"rope.freq_base": 10000.0}, {
        "words": ["adapter=adapter", "weights=none"], "adapter": {
            "r": 3, "lora_alpha": 7, "target_modules": ["q_proj", "k_proj", "down_proj", "embed_tokens"],
            "rank_pattern": {"k_proj": 2}, "use_rslora": True}}),
    "gguf_llama_adapters": ("LlamaForCausalLM", SMALL, "llama", ["Q8_0", "F16", "Q4_1"], {"rope.freq_base": 10000.0}, {
        "words": ["adapters.sql=adapters/sql", "adapters.tone=adapters/tone.gguf"], "files": ["tone"], "adapters": {
            "sql": {"r": 3, "lora_alpha": 7, "target_modules": ["v_proj", "up_proj"]},
            "tone": {"r": 2, "lora_alpha": 5, "rank_pattern": {"o_proj": 3}, "target_modules": [
                "q_proj", "k_proj", "o_proj", "embed_tokens", "lm_head"]}}}),
    "gguf_falcon_adapter": ("FalconForCausalLM", {**FALCON, "num_kv_heads": 2, "new_decoder_architecture": True},
                            "falcon", ["F16"], {"attention.head_count_kv": 2}, {
        "words": ["adapter=adapter"], "adapter": {"r": 3, "lora_alpha": 7, "target_modules": ["query_key_value"],
                                                  "use_dora": True}}),
    "gguf_qwen2": ("Qwen2ForCausalLM", SMALL, "qwen2", ["F16", "Q8_0"], {"rope.freq_base": 10000.0},
                   {"parts": 11}),
    "gguf_qwen3": ("Qwen3ForCausalLM", {**SMALL, "head_dim": 16}, "qwen3", ["Q4_1", "Q8_0"],
                   {"attention.key_length": 16}, {}),
    "gguf_gemma": ("GemmaForCausalLM", {**SMALL, "head_dim": 16, "num_key_value_heads": 1}, "gemma", ["Q8_0", "F16"],
                   {"attention.key_length": 16}, {}),
    "gguf_gemma2": ("Gemma2ForCausalLM", {**SMALL, "head_dim": 16, "sliding_window": 4, "query_pre_attn_scalar": 16},
                    "gemma2", ["Q8_0", "Q5_1"],
                    {"attention.key_length": 16, "attention.sliding_window": 4, "attn_logit_softcapping": 50.0,
                     "final_logit_softcapping": 30.0}, {}),
    "gguf_gemma3": ("Gemma3ForCausalLM", {**SMALL, "num_hidden_layers": 6, "head_dim": 8, "sliding_window": 4,
                                          "query_pre_attn_scalar": 8, "rope_theta": 1000000.0,
                                          "rope_local_base_freq": 10000.0}, "gemma3", ["Q8_0", "Q5_1"],
                    {"attention.key_length": 8, "attention.sliding_window": 4, "rope.freq_base": 1000000.0}, {}),
    "gguf_phi3": ("Phi3ForCausalLM", {**SMALL, "sliding_window": 4}, "phi3", ["Q4_0", "Q8_0"],
                  {"rope.dimension_count": 8, "attention.sliding_window": 4}, {}),
    "gguf_gptneox": ("GPTNeoXForCausalLM", {"vocab_size": 37, "hidden_size": 32, "num_hidden_layers": 2,
                                            "num_attention_heads": 4, "intermediate_size": 64, "rotary_pct": 0.5,
                                            "max_position_embeddings": 64, "bos_token_id": 1, "eos_token_id": 2},
                     "gptneox", ["Q8_0", "F16"], {"rope.dimension_count": 4}, {}),
    "gguf_granite": ("GraniteForCausalLM", {**SMALL, "embedding_multiplier": 3.0, "residual_multiplier": 0.5,
                                            "attention_multiplier": 0.25, "logits_scaling": 2.0}, "granite",
                     ["Q8_0", "Q4_1"], {"attention.scale": 0.25, "embedding_scale": 3.0, "residual_scale": 0.5,
                                        "logit_scale": 2.0}, {}),
    "gguf_olmo2": ("Olmo2ForCausalLM", SMALL, "olmo2", ["Q8_0", "BF16"], {}, {}),
    "gguf_smollm3": ("SmolLM3ForCausalLM", {**SMALL, "num_hidden_layers": 4}, "smollm3", ["Q8_0", "Q5_0"],
                     {"rope.freq_base": 2000000.0}, {}),
    "gguf_olmo3": ("Olmo3ForCausalLM", {**SMALL, "num_hidden_layers": 3, "sliding_window": 4, "layer_types": [
        "full_attention", "sliding_attention", "full_attention"], "rope_theta": 500000.0, "rope_scaling": {
            "rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 16}}, "olmo2", ["Q8_0", "F16"],
        {"rope.freq_base": 500000.0, "attention.sliding_window": 4, "attention.sliding_window_pattern": [False, True, False],
         "rope.scaling.factor": 8.0, "rope.scaling.type": "yarn", "rope.scaling.original_context_length": 16,
         "rope.scaling.attn_factor": 1.2079441541679836}, {}),
    "gguf_exaone4": ("Exaone4ForCausalLM", {**SMALL, "sliding_window": 4, "layer_types": [
        "sliding_attention", "full_attention"]}, "exaone4", ["Q8_0", "Q5_0"],
        {"attention.sliding_window": 4, "attention.sliding_window_pattern": [True, False]}, {}),
    "gguf_command_r": ("CohereForCausalLM", {**SMALL, "use_qk_norm": True, "logit_scale": 0.25}, "command-r",
                       ["Q8_0", "Q4_0"], {"logit_scale": 0.25, "rope.freq_base": 500000.0}, {}),
    "gguf_cohere2": ("Cohere2ForCausalLM", {**SMALL, "num_hidden_layers": 4, "sliding_window": 4, "logit_scale": 0.25},
                     "cohere2", ["Q8_0", "Q5_1"], {"logit_scale": 0.25, "attention.sliding_window": 4,
                                                   "rope.dimension_count": 8}, {}),
    "gguf_stablelm": ("StableLmForCausalLM", {**SMALL, "qk_layernorm": True, "use_parallel_residual": True,
                                              "use_qkv_bias": True, "partial_rotary_factor": 0.5}, "stablelm",
                      ["Q8_0", "Q4_1"], {"rope.dimension_count": 4}, {}),
    "gguf_stablelm_serial": ("StableLmForCausalLM", {**SMALL, "partial_rotary_factor": 0.25}, "stablelm", ["Q5_0"],
                             {"rope.dimension_count": 2}, {}),
    "gguf_glm4": ("Glm4ForCausalLM", {**SMALL, "head_dim": 8, "partial_rotary_factor": 0.5}, "glm4", ["Q8_0", "F16"],
                  {"rope.dimension_count": 4}, {}),
    "gguf_internlm2": ("LlamaForCausalLM", SMALL, "internlm2", ["Q8_0", "Q5_0"], {"rope.freq_base": 10000.0}, {}),
    "gguf_bloom": ("BloomForCausalLM", {"vocab_size": 37, "hidden_size": 32, "n_layer": 2, "n_head": 4,
                                        "tie_word_embeddings": False}, "bloom", ["Q8_0", "Q5_1"], {}, {}),
    "gguf_mpt": ("MptForCausalLM", {"vocab_size": 37, "d_model": 32, "n_layers": 2, "n_heads": 4, "max_seq_len": 64,
                                    "attn_config": {"clip_qkv": 0.25}}, "mpt", ["Q8_0", "F16"],
                 {"attention.max_alibi_bias": 8.0, "attention.clamp_kqv": 0.25}, {}),
    "gguf_falcon": ("FalconForCausalLM", {**FALCON, "num_kv_heads": 1}, "falcon", ["Q8_0", "Q4_0"],
                    {"attention.head_count_kv": 1}, {}),
    "gguf_falcon_40b": ("FalconForCausalLM", {**FALCON, "num_kv_heads": 2, "new_decoder_architecture": True}, "falcon",
                        ["Q8_0", "Q4_1"], {"attention.head_count_kv": 2}, {}),
    "gguf_starcoder2": ("Starcoder2ForCausalLM", {**SMALL, "sliding_window": None}, "starcoder2", ["Q8_0", "Q5_0"],
                        {}, {}),
    "gguf_mixtral": ("MixtralForCausalLM", {**EXPERTS, "rope_theta": 10000.0}, "llama", ["Q4_0", "Q8_0", "F16"],
                     {**COUNTS, "rope.freq_base": 10000.0}, {}),
    "gguf_qwen3moe": ("Qwen3MoeForCausalLM", {**EXPERTS, "head_dim": 16, "moe_intermediate_size": 128,
                                              "norm_topk_prob": True}, "qwen3moe", ["Q4_1", "Q8_0"],
                      {**COUNTS, "expert_feed_forward_length": 128, "attention.key_length": 16}, {}),
    "gguf_olmoe": ("OlmoeForCausalLM", EXPERTS, "olmoe", ["Q8_0", "Q5_1"], COUNTS, {}),
    "gguf_qwen2moe": ("Qwen2MoeForCausalLM", {**EXPERTS, "moe_intermediate_size": 64,
                                              "shared_expert_intermediate_size": 128}, "qwen2moe", ["Q4_0", "Q5_0"],
                      {**COUNTS, "expert_feed_forward_length": 64, "expert_shared_feed_forward_length": 128}, {}),
    "gguf_granitemoe": ("GraniteMoeForCausalLM", {**EXPERTS, "embedding_multiplier": 3.0, "residual_multiplier": 0.5,
                                                  "attention_multiplier": 0.25, "logits_scaling": 2.0}, "granitemoe",
                        ["Q8_0", "Q4_1"], {**COUNTS, "attention.scale": 0.25, "embedding_scale": 3.0,
                                           "residual_scale": 0.5, "logit_scale": 2.0}, {}),
    "gguf_gpt_oss": ("GptOssForCausalLM", {**EXPERTS, "head_dim": 16, "sliding_window": 4, "rope_theta": 1000.0,
                                           "rope_scaling": {"rope_type": "yarn", "factor": 8.0, "truncate": False,
                                                            "original_max_position_embeddings": 16}},
                     "gpt-oss", ["Q8_0", "MXFP4"],
                     {**COUNTS, "attention.key_length": 16, "attention.sliding_window": 4, "rope.freq_base": 1000.0,
                      "expert_feed_forward_length": 64, "rope.scaling.factor": 8.0, "rope.scaling.type": "yarn",
                      "rope.scaling.original_context_length": 16}, {}),
    "gguf_gpt2": ("GPT2LMHeadModel", {"vocab_size": 37, "n_positions": 19, "n_embd": 32, "n_layer": 2, "n_head": 4,
                                      "n_inner": 64}, "gpt2", ["Q5_0", "F32", "Q4_0"], {}, {}),
    "gguf_bert": ("BertModel", {"vocab_size": 37, "hidden_size": 32, "num_hidden_layers": 2,
                                "num_attention_heads": 4, "intermediate_size": 64, "max_position_embeddings": 19,
                                "layer_norm_eps": 1e-6}, "bert", ["Q8_0", "BF16"], {"pooling_type": 1}, {}),
    "gguf_gemma3n": ("Gemma3nForCausalLM", {**SMALL, "num_hidden_layers": 4, "head_dim": 8, "sliding_window": 4,
                                            "num_kv_shared_layers": 2, "laurel_rank": 32, "vocab_size_per_layer_input": 37,
                                            "hidden_size_per_layer_input": 32, "altup_num_inputs": 4,
                                            "activation_sparsity_pattern": [0.95, 0.5, 0.0, 0.0], "layer_types": [
                                                "sliding_attention", "full_attention"] * 2}, "gemma3n",
                     ["Q8_0", "F16", "Q5_0"],
                     {"attention.key_length": 8, "attention.sliding_window": 4, "attention.shared_kv_layers": 2,
                      "attention.sliding_window_pattern": [True, False] * 2, "rope.freq_base": 1000000.0,
                      "embedding_length_per_layer_input": 32, "altup.num_inputs": 4, "altup.active_idx": 0,
                      "activation_sparsity_scale": [1.6448533535003662, 0.0, float("-inf"), float("-inf")]}, {}),
    "gguf_lfm2": ("Lfm2ForCausalLM", {**SMALL, "num_hidden_layers": 3, "block_auto_adjust_ff_dim": False,
                                      "layer_types": ["conv", "full_attention", "conv"]}, "lfm2", ["Q8_0", "Q4_0"],
                  {"shortconv.l_cache": 3, "rope.freq_base": 1000000.0}, {}),
    "gguf_lfm2_moe": ("Lfm2MoeForCausalLM", {**EXPERTS, "num_hidden_layers": 3, "moe_intermediate_size": 64,
                                             "num_dense_layers": 1,
                                             "layer_types": ["conv", "full_attention", "conv"]}, "lfm2moe",
                      ["Q8_0", "Q4_0"], {**COUNTS, "shortconv.l_cache": 3, "rope.freq_base": 1000000.0,
                                         "expert_feed_forward_length": 64, "leading_dense_block_count": 1,
                                         "expert_gating_func": 2}, {}),
    "gguf_nomic_bert": ("NomicBertModel", {"vocab_size": 37, "hidden_size": 32, "num_hidden_layers": 2,
                                           "num_attention_heads": 4, "intermediate_size": 64,
                                           "max_position_embeddings": 64, "layer_norm_eps": 1e-6,
                                           "rope_parameters": {"rope_theta": 50.0, "rope_type": "default"}},
                        "nomic-bert", ["Q8_0", "F16"], {"pooling_type": 1, "rope.freq_base": 50.0}, {}),
    "gguf_t5encoder": ("T5EncoderModel", T5_SMALL, "t5encoder", ["Q8_0", "F16", "Q4_0"], {**T5_KEYS, "pooling_type": 1},
                       {}),
    "gguf_umt5encoder": ("UMT5EncoderModel", {**T5_SMALL, "feed_forward_proj": "gated-gelu"}, "t5encoder",
                         ["Q5_0", "F16"], {**T5_KEYS, "pooling_type": 1}, {}),
}


def write_metadata(writer, arch, config, more):
    get = lambda *names: next(getattr(config, name) for name in names if getattr(config, name, None) is not None)
    width = get("hidden_size", "n_embd")
    writer.add_vocab_size(config.vocab_size)
    writer.add_block_count(get("num_hidden_layers", "n_layer"))
    writer.add_context_length(64 if arch == "bloom" else get("max_position_embeddings", "n_positions", "max_seq_len",
                                                              "relative_attention_max_distance"))
    writer.add_embedding_length(width)
    writer.add_feed_forward_length(4 * width if arch in ("bloom", "mpt") else get("intermediate_size", "n_inner",
                                                                                 "ffn_hidden_size", "d_ff"))
    writer.add_head_count(get("num_attention_heads", "n_head"))
    if arch.startswith("lfm2"):
        writer.add_head_count_kv([config.num_key_value_heads * (kind != "conv") for kind in config.layer_types])
    elif hasattr(config, "num_key_value_heads"):
        writer.add_head_count_kv(config.num_key_value_heads)
    if hasattr(config, "rms_norm_eps") or arch.startswith("lfm2"):
        writer.add_layer_norm_rms_eps(get("rms_norm_eps", "norm_eps"))
    else:
        writer.add_layer_norm_eps(get("layer_norm_eps", "layer_norm_epsilon", "norm_epsilon"))
    for key, value in more.items():
        add = {float: writer.add_float32, str: writer.add_string, list: writer.add_array}.get(type(value), writer.add_uint32)
        add(f"{arch}.{key}", value)


def parameters_of(model, arch):
    """Names and values of parameters, and the names that a tensor of several is divided into; NomicBERT's queries, keys
    and values are one, and so are StableLM's norms of heads."""
    known = {name: parameter.detach().numpy().copy() for name, parameter in model.named_parameters()}
    known.update((name, buffer.numpy().copy()) for name, buffer in model.named_buffers() if name.endswith("expert_bias"))
    for name, values in known.items():
        if arch == "gpt-oss" and "experts." in name:  # gates alternate with up; weights are [in][out]
            values = values.swapaxes(1, 2) if values.ndim == 3 else values
            kind, module = ("bias", name[:-5]) if name.endswith("bias") else ("weight", name)
            for number, part in enumerate(("gate", "up") if "gate_up" in name else ("down",)):
                own = values[:, number::2] if "gate_up" in name else values
                yield (f"{module[:module.rfind('.')]}.{part}.{kind}", np.ascontiguousarray(own),
                       [f"{name} {part}" if "gate_up" in name else name])
        elif name.endswith("sinks"):
            yield name + ".weight", values, [name]
        elif name.endswith("experts.gate_up_proj"):
            for part, half in zip(("gate", "up"), np.split(values, 2, axis=1)):
                yield f"{name[:-12]}{part}.weight", np.ascontiguousarray(half), [f"{name} {part}"]
        elif name.endswith("experts.down_proj"):
            yield name[:-5] + ".weight", values, [name]
        elif name.endswith("correct_output_scale"):
            yield name + ".weight", values, [name]
        elif ".norms." in name or "projections." in name:
            before = name.split(".norms.")[0] if ".norms." in name else name.split("projections.")[0] + "projections"
            parts = [each for each in known if each.startswith(name[:-len("0.weight")])]
            if name == parts[0]:
                yield before + ".weight", np.stack([known[part] for part in parts]), parts
        elif arch != "nomic-bert" or not ("q_proj" in name or "k_proj" in name or "v_proj" in name):
            yield name, values, [name]
        elif "q_proj" in name:
            parts = [name.replace("q_proj", part) for part in ("q_proj", "k_proj", "v_proj")]
            yield name.replace("q_proj", "qkv_proj"), np.concatenate([known[part] for part in parts]), parts


def stored_tensors(model, kinds, arch, config, random):
    """The tensors of a file, name -> (bytes, type), and the state of transformers with their values."""
    tensors, state, number = {}, {}, 0
    for name, values, parts in parameters_of(model, arch):
        if name.startswith("pooler."):
            continue
        kind = "F32"
        values = to_file(values, name, arch, config)
        if (values.ndim >= 2 and min(values.shape) > 2 and values.shape[-1] >= 32 and "norm" not in name and "attention_bias" not in name
                and not name.endswith("bias")):
            kind, number = kinds[number % len(kinds)], number + 1
            if values.shape[-1] % gguf.GGML_QUANT_SIZES[Type[kind]][0]:  # as llama.cpp: a type of smaller blocks
                kind = ("Q4_0", "Q4_1", "Q5_0")[number % 3]
        data, meant = stored(kind, values, random)
        tensors[name_of(name, arch)] = (data, kind)
        for part, rows in zip(parts, np.split(from_file(meant, name, arch, config), len(parts))):
            state[part] = torch.tensor(np.ascontiguousarray(rows))
    for name in [key[:-5] for key in state if key.endswith(" gate")]:
        halves = [state.pop(name + " gate"), state.pop(name + " up")]
        state[name] = torch.stack(halves, 2).flatten(1, 2) if arch == "gpt-oss" else torch.cat(halves, 1)
    for name in state:
        is_turned = arch == "gpt-oss" and "experts." in name and state[name].ndim == 3
        state[name] = (state[name].mT if is_turned else state[name]).reshape(model.state_dict()[name].shape)
    return tensors, state


def write_case(name):
    class_name, settings, arch, kinds, more, special = CASES[name]
    seed = zlib.crc32(name.encode())
    torch.manual_seed(seed)
    random = np.random.default_rng(seed)
    family = re.sub("^Gemma3n?$", "\\g<0>Text", class_name.split("For")[0])
    for end in ("LMHeadModel", "EncoderModel", "Model"):
        family = family.removesuffix(end)
    config = getattr(hf, family + "Config")(**settings)
    model = getattr(hf, class_name)(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape) * (0.1 if parameter.ndim >= 2 else 0.2)
                            + (1 if parameter.ndim == 1 else 0))
        for key, buffer in model.named_buffers():
            if key.endswith("expert_bias"):
                buffer.copy_(torch.randn(buffer.shape) * 0.3)
    folder = HERE / "goldens" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    tensors, state = stored_tensors(model, kinds, arch, config, random)
    model.load_state_dict(state, strict=False)
    if special.get("frequencies"):
        plain = 1 / 10000.0 ** (np.arange(0, 8, 2) / 8)
        factors = (plain / model.model.rotary_emb.inv_freq.numpy()).astype(np.float32)
        tensors["rope_freqs.weight"] = (factors, "F32")
    writer = gguf.GGUFWriter(folder / f"{name}.gguf", arch, split_max_tensors=special.get("parts", 0))
    write_metadata(writer, arch, config, more)
    for key, (data, kind) in tensors.items():
        writer.add_tensor(key, data, raw_dtype=None if kind in ("F32", "F16") else Type[kind])
    close(writer)
    generator = torch.Generator().manual_seed(seed)
    if "adapter" in special:
        model = goldens.merged(folder, model, special["adapter"], generator)
    if "adapters" in special:
        model = goldens.beside(folder, model, special["adapters"], generator)
    for each in special.get("files", []):
        write_adapter(folder / "adapters" / each, arch, config)
    write_arrays(folder, model, arch, random, special)


def write_adapter(folder, arch, config, types=(np.float16, np.float32)):
    """A folder of PEFT as llama.cpp's convert_lora_to_gguf.py writes it, in place of the folder. The factors have the
    types in turn; the table of tokens is looked up by rows."""
    tensors = load_file(folder / "adapter_model.safetensors")
    writer = gguf.GGUFWriter(folder.with_suffix(".gguf"), arch)
    writer.add_type(gguf.GGUFType.ADAPTER)
    writer.add_string(gguf.Keys.Adapter.TYPE, "lora")
    alpha = json.loads((folder / "adapter_config.json").read_text())["lora_alpha"]
    writer.add_float32(gguf.Keys.Adapter.LORA_ALPHA, alpha)
    for number, (key, values) in enumerate(tensors.items()):
        module, part = re.match(r"base_model\.model\.(.*)\.lora_(?:embedding_)?([AB])", key + ".weight").groups() \
            if "lora_" in key else (None, None)
        if module:  # not a copy of the model's own weight
            values = values.T if part == "A" and "embedding" in key else values
            values = to_file(values, module + ".weight", arch, config) if part == "B" else values
            writer.add_tensor(f"{name_of(module + '.weight', arch)}.lora_{part.lower()}",
                              np.ascontiguousarray(values.astype(types[number % len(types)])))
    close(writer)
    shutil.rmtree(folder)


def write_arrays(folder, model, arch, random, special={}):
    lengths = [7, 4]
    ids = random.integers(3, 37, (2, 7)).astype(np.int32)
    np.save(folder / "in_input_ids.npy", ids)
    np.save(folder / "in_lengths.npy", np.array(lengths, np.int32))
    rows, own, words = [], [], special.get("words", [])
    if "adapters" in special:  # the first sequence has the last one, and the second has none
        own = [[list(special["adapters"])[-1]], ["__base__"]]
        np.save(folder / "in_adapters.npy", np.array([len(special["adapters"]), 0], np.int32))
    for number, (row, length) in enumerate(zip(ids, lengths)):
        with torch.no_grad():
            result = model(torch.tensor(row[None, :length].astype(np.int64)), **({"adapter_names": own[number]} if own else {}))
        if arch.endswith(("bert", "encoder")):
            pooled = result.last_hidden_state[0].mean(0)
            rows.append((pooled / pooled.norm()).numpy())
        else:
            rows.append(result.logits[0, -1].numpy())
    name = "sentence_embedding" if arch.endswith(("bert", "encoder")) else "logits"
    np.save(folder / f"out_{name}.npy", np.stack(rows).astype(np.float32))
    (folder / "words.txt").write_text("".join(word + "\n" for word in ["batch=2", "seq=7", *words]))


def main():
    for name in sys.argv[1:] or ["types", *CASES]:
        write_types() if name == "types" else write_case(name)
        print(name)


if __name__ == "__main__":
    main()
