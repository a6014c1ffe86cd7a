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

Run with Python 3.11, torch 2.15.0, transformers 5.23.0, numpy 2.4.6, safetensors 0.8.0; cases with an
adapter also with peft 0.21.2.
"""

import copy
import json
import shutil
import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np
import torch
import transformers as hf
from safetensors.numpy import load_file, save_file

import jina
import nomic
from cases import (AST, BATCH, BERT, CASES, CLEAR, FRAMES, GTE, HIDDEN_ONLY, LENGTHS, NTK, PROMPT, SEQ, SOURCE,
                   VOCAB, WIDTH)

GOLDENS = Path(__file__).resolve().parent / "goldens"


# Weights of routers whose inputs have a small factor: numbers that make up for it.
ROUTERS = {"modality_router.weight": 0.25 * WIDTH, "router.proj.weight": 0.25 * WIDTH ** 0.5}


def fill(model, generator):
    """Random values for all of a model's parameters: nothing zero, one or symmetric."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            values = torch.randn(parameter.shape, generator=generator)
            is_norm = parameter.dim() == 1 and name.endswith(("weight", "router.scale", "per_expert_scale"))
            scale = 0.25 if parameter.dim() > 1 else 0.3
            for end, own in ROUTERS.items():
                scale = own if name.endswith(end) else scale
            parameter.copy_(1 + 0.3 * values if is_norm else scale * values)
        for name, buffer in model.named_buffers():
            if name.endswith(("expert_bias", "layer_scalar")):
                buffer.copy_(0.3 * torch.randn(buffer.shape, generator=generator))
        if hasattr(model, "final_logits_bias"):
            model.final_logits_bias.copy_(0.3 * torch.randn(model.final_logits_bias.shape, generator=generator))


def text_inputs(name, config, generator, seq, lengths=None):
    pad = getattr(config, "pad_token_id", None) or 0
    lengths = lengths or [seq, LENGTHS[1]]
    ids = torch.randint(4, VOCAB, (len(lengths), seq), generator=generator)
    mask = torch.ones(len(lengths), seq, dtype=torch.long)
    for row, length in enumerate(lengths):
        ids[row, length:] = pad
        mask[row, length:] = 0
    inputs = {"input_ids": ids, "attention_mask": mask}
    if getattr(config, "type_vocab_size", 0) > 1 and "no_types" not in name and "sentence" not in name:
        inputs["token_type_ids"] = torch.randint(0, 2, ids.shape, generator=generator)
    return inputs


def frame_inputs(model, generator, seq):
    """Features, which the model's convolutions give from now on, and what its call gets: numbers of samples."""
    width = model.config.conv_dim[-1]
    features = torch.randn(BATCH, seq, width, generator=generator)
    mask = torch.ones(BATCH, seq, dtype=torch.long)
    mask[1, LENGTHS[1] if seq == SEQ else seq - 3:] = 0
    model.base_model.feature_extractor.forward = lambda values: features.transpose(1, 2).clone()
    samples = torch.cat([torch.ones(BATCH, 1, dtype=torch.long), mask], 1)
    return {"features": features}, mask, {"input_values": torch.zeros(BATCH, seq + 1), "attention_mask": samples}


def apart(model, features, lengths):
    """The results of sequences of features, each by itself."""
    results = []
    for row, length in zip(features, lengths):
        model.base_model.feature_extractor.forward = lambda values: row[None, :length].transpose(1, 2).clone()
        results.append(model(input_values=torch.zeros(1, length + 1)))
    return {key: torch.cat([result[key] for result in results]) for key in results[0].keys()}


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
        if min(gaps) > CLEAR and len(set(tokens)) > 3 and model.config.eos_token_id not in tokens:
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


def changed(folder, rename, change):
    """A folder with its tensors' names and its configuration changed, by functions of each."""
    tensors = load_file(folder / "model.safetensors")
    save_file({rename(name): value for name, value in tensors.items()}, folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(change(config), indent=2) + "\n")


def whole_gemma4(folder):
    """As the folder of a model of text, images and sounds."""
    changed(folder, lambda name: name.replace("model.", "model.language_model.", 1), lambda config: {
        "model_type": "gemma4", "architectures": ["Gemma4ForConditionalGeneration"], "text_config": config,
        "vision_config": {"model_type": "gemma4_vision"}})


def whole_gemma3n(folder):
    """The same of Gemma 3n."""
    changed(folder, lambda name: name.replace("language_model.", "").replace("model.", "model.language_model.", 1),
            lambda config: {
        "model_type": "gemma3n", "architectures": ["Gemma3nForConditionalGeneration"], "text_config": config,
        "vision_config": {"model_type": "gemma3n_vision"}, "audio_config": {"model_type": "gemma3n_audio"}})


def whole_mistral3(folder):
    """As the folder of a model of text and images; only the keys of the text part count."""
    changed(folder, lambda name: "language_model." + name, lambda config: {
        "model_type": "mistral3", "architectures": ["Mistral3ForConditionalGeneration"], "text_config": config,
        "vision_config": {"model_type": "pixtral"}, "image_token_index": 10, "spatial_merge_size": 2})


def whole_ministral3(folder):
    """As the folder of a model of text and images, with queries that grow."""
    changed(folder, lambda name: name.replace("model.", "model.language_model.", 1), lambda config: {
        "model_type": "mistral3", "architectures": ["Mistral3ForConditionalGeneration"], "text_config": config,
        "tie_word_embeddings": False, "vision_config": {"model_type": "pixtral"}})


def published_mpt(folder):
    """As the published folders of MPT, with code of their own."""
    changed(folder, lambda name: name, lambda config: {
        **config, "architectures": ["MPTForCausalLM"], "auto_map": {"AutoConfig": "configuration_mpt.MPTConfig"},
        "attn_config": {**config["attn_config"], "attn_impl": "torch"}, "tokenizer_name": "EleutherAI/gpt-neox-20b"})


def published_internlm3(folder):
    """As the published folders of InternLM 3, with code of their own."""
    changed(folder, lambda name: name, lambda config: {
        **{key: value for key, value in config.items() if key not in ("attention_bias", "mlp_bias")}, "bias": True,
        "qkv_bias": True, "model_type": "internlm3", "architectures": ["InternLM3ForCausalLM"],
        "auto_map": {"AutoModel": "modeling_internlm3.InternLM3Model"}})


def published_internlm2(folder):
    """As the published folders of InternLM 2, with code of their own: each group of queries, and its key and value."""
    tensors, config = load_file(folder / "model.safetensors"), json.loads((folder / "config.json").read_text())
    groups, rope = config["num_key_value_heads"], config.pop("rope_parameters")
    del config["attention_bias"], config["mlp_bias"]
    for layer in range(config["num_hidden_layers"]):
        path = f"model.layers.{layer}."
        parts = [tensors.pop(f"{path}self_attn.{part}_proj.weight").reshape(groups, -1, WIDTH) for part in "qkv"]
        tensors[path + "attention.wqkv.weight"] = np.concatenate(parts, 1).reshape(-1, WIDTH)
    words = {"embed_tokens": "tok_embeddings", "self_attn.o_proj": "attention.wo", "input_layernorm": "attention_norm",
             "post_attention_layernorm": "ffn_norm", "mlp.gate_proj": "feed_forward.w1", "mlp.up_proj": "feed_forward.w3",
             "mlp.down_proj": "feed_forward.w2", "lm_head": "output"}
    for old, new in words.items():
        tensors = {name.replace(old, new): value for name, value in tensors.items()}
    save_file(tensors, folder / "model.safetensors")
    config.update(architectures=["InternLM2ForCausalLM"], auto_map={"AutoModel": "modeling_internlm2.InternLM2ForCausalLM"},
                  bias=False, model_type="internlm2", rope_theta=rope["rope_theta"],
                  rope_scaling={"type": "dynamic", "factor": rope["factor"]})
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")


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


def published_nomic_moe(folder):
    """The same for the mixture of experts, with the published names of tensors."""
    own = json.loads((folder / "config.json").read_text())
    published_nomic(folder)
    config = json.loads((folder / "config.json").read_text())
    config.update(activation_function="gelu", expert_choice_router=False, ffn_div=1, mlp_fc1_bias=True,
                  mlp_fc2_bias=True, moe_normalize_expert_weights=False, num_shared_experts=0, qkv_proj_bias=True,
                  architectures=["NomicBertModel"],
                  **{key: own[key] for key in ("moe_every_n_layers", "moe_top_k", "num_experts")})
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    tensors, renamed = load_file(folder / "model.safetensors"), {}
    for name, value in tensors.items():
        if "q_proj" in name:
            parts = [tensors[name.replace("q_proj", part)] for part in ("q_proj", "k_proj", "v_proj")]
            name, value = name.replace("q_proj", "Wqkv"), np.concatenate(parts)
        elif "k_proj" in name or "v_proj" in name:
            continue
        for old, new in (("layers.", "encoder.layers."), ("self_attn", "attn"), ("o_proj", "out_proj"),
                         ("embeddings.LayerNorm", "emb_ln"), ("post_attention_layernorm", "norm1"),
                         ("post_mlp_layernorm", "norm2")):
            name = name.replace(old, new)
        renamed[name] = value
    save_file(renamed, folder / "model.safetensors")


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


def old_frequencies(folder):
    """As the first folders of ESM: each layer has the frequencies of the rotation, rounded to float16."""
    tensors = load_file(folder / "model.safetensors")
    for name in [name for name in tensors if name.endswith("rotary_embeddings.inv_freq")]:
        values = tensors.pop(name)
        for layer in range(2):
            tensors[f"encoder.layer.{layer}.attention.self.rotary_embeddings.inv_freq"] = values
    save_file(tensors, folder / "model.safetensors")


def published_eurobert(folder):
    """As the published folders of EuroBERT, with code of their own."""
    config = json.loads((folder / "config.json").read_text())
    config.update(auto_map={"AutoModel": "modeling_eurobert.EuroBertModel"}, clf_pooling=config.pop("classifier_pooling"),
                  rope_theta=config.pop("rope_parameters")["rope_theta"], rope_scaling=None, hidden_dropout=0.0,
                  bos_token="<|begin_of_text|>", eos_token="<|end_of_text|>", mask_token="<|mask|>",
                  pad_token="<|end_of_text|>")
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
        if "_page" in name and value.dim() > 2 - ("question" in name):  # rows of a picture follow the padding
            mask = torch.nn.functional.pad(mask, (0, value.shape[1] - mask.shape[1]), value=1)
            seq = mask.shape[1]
        if mask is not None and value.dim() >= 2 and value.shape[1] == seq:
            last = mask.sum(1) - 1
            if "LMHead" in class_name or "CausalLM" in class_name:
                if "all_logits" not in name:
                    found[key] = value[torch.arange(BATCH), last]
                    continue
            value = value.masked_fill(mask.view(len(mask), seq, *[1] * (value.dim() - 2)) == 0, torch.nan)
        found[key] = value
    return found


def save(folder, class_name, settings, shards="1GB", fused=False, own=()):
    """A random model as its folder has it, and the generator of its numbers. own: modules whose weights are untied."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    generator = torch.Generator().manual_seed(zlib.crc32(folder.name.encode()))
    model_class = getattr(jina, class_name, None) or getattr(nomic, class_name, None) or getattr(hf, class_name)
    model = model_class(model_class.config_class(**settings))
    for module in map(model.get_submodule, own):
        module.weight = torch.nn.Parameter(module.weight.detach().clone())
    fill(model, generator)
    model.half().save_pretrained(folder, max_shard_size=shards, save_original_format=not fused)
    return opened(model_class, folder), generator


def opened(model_class, folder):
    """The model of a folder. TrOCR's sinusoids, which are no weights, are made after it is opened."""
    model = model_class.from_pretrained(folder, dtype=torch.float32).eval()
    for module in model.modules():
        if hasattr(module, "get_embedding"):
            module.weights = module.get_embedding(*module.weights.shape, module.padding_idx)
    return model


def merged(folder, model, settings, generator):
    """A model with a random LoRA adapter, which its folder gets as well, merged into it by PEFT."""
    from peft import LoraConfig, get_peft_model
    adapted = get_peft_model(model, LoraConfig(**settings))
    adapted.peft_config["default"].base_model_name_or_path = folder.name
    of_bias = {"all": "bias", "lora_only": "base_layer.bias"}.get(settings.get("bias"), "/")
    with torch.no_grad():
        for key, parameter in adapted.named_parameters():
            if "lora_" in key or "modules_to_save" in key or key.endswith(of_bias):
                values = 0.25 * torch.randn(parameter.shape, generator=generator)
                parameter.copy_(((2 if "magnitude" in key else 0) + values).half())
    copy.deepcopy(adapted).half().save_pretrained(folder / "adapter")
    (folder / "adapter/README.md").unlink()
    return adapted.float().merge_and_unload().eval()


def beside(folder, model, settings, generator):
    """A model with several random LoRA adapters, which its folder gets as well. Each row of its batches has another
    one, as PEFT's adapter_names say."""
    from peft import LoraConfig, get_peft_model
    adapted = None
    for name, each in settings.items():
        if adapted:
            adapted.add_adapter(name, LoraConfig(**each))
        else:
            adapted = get_peft_model(model, LoraConfig(**each), adapter_name=name)
        adapted.peft_config[name].base_model_name_or_path = folder.name
    with torch.no_grad():
        for key, parameter in adapted.named_parameters():
            if "lora_" in key:
                parameter.copy_((0.25 * torch.randn(parameter.shape, generator=generator)).half())
    copy.deepcopy(adapted).half().save_pretrained(folder / "adapters")
    (folder / "adapters/README.md").unlink()
    return adapted.float().eval()


TASKS, TASK, TASK_RANK, TASK_ALPHA = ["retrieval.query", "separation", "text-matching"], "separation", 2, 3


def published_task(folder, generator):
    """As the published folders of jina-embeddings-v3, with factors for each task. Returns the tensors that a task's
    give, by their names without adapters."""
    tensors, merged_tensors = {}, {}
    for name, value in load_file(folder / "model.safetensors").items():
        merged_tensors[name] = torch.tensor(value).float()
        if not name.endswith(".weight") or "norm" in name or "emb_ln" in name:
            tensors["roberta." + name] = value
            continue
        module, (rows, columns) = "roberta." + name.removesuffix(".weight") + ".parametrizations.weight.", value.shape
        shapes = [(TASK_RANK, columns), (rows, TASK_RANK)]
        is_table = "embeddings" in name
        a, b = ((0.3 * torch.randn((len(TASKS), *shape), generator=generator)).half()
                for shape in (reversed(shapes) if is_table else shapes))
        tensors.update({module + "original": value, module + "0.lora_A": a.numpy(), module + "0.lora_B": b.numpy()})
        one, other = (each[TASKS.index(TASK)].float() for each in (a, b))
        merged_tensors[name] += (one @ other if is_table else other @ one) * (TASK_ALPHA / TASK_RANK)
    save_file(tensors, folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    base = config.pop("rope_parameters")["rope_theta"]
    config.update(architectures=["XLMRobertaModel"], model_type="xlm-roberta", position_embedding_type="rotary",
                  auto_map={"AutoModel": "jinaai/xlm-roberta-flash-implementation--modeling_lora.XLMRobertaLoRA"},
                  rotary_emb_base=base, lora_adaptations=TASKS, lora_alpha=TASK_ALPHA, lora_rank=TASK_RANK,
                  lora_dropout_p=0.0, task_instructions={task: "" for task in TASKS}, use_flash_attn=True)
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    return merged_tensors


def with_task(folder, model, generator):
    """The model of a task, which transformers opens from a folder without adapters."""
    whole = published_task(folder, generator)
    with tempfile.TemporaryDirectory() as place:
        model.save_pretrained(place)
        save_file({name: value.numpy() for name, value in whole.items()}, Path(place) / "model.safetensors",
                  metadata={"format": "pt"})
        return opened(type(model), Path(place))


def write(name):
    class_name, settings, special = CASES[name]
    folder = GOLDENS / name
    model, generator = save(folder, class_name, settings, special.get("shards", "1GB"), "fused" in special,
                            special.get("own", ()))
    if "change" in special:
        globals()[special["change"]](folder)
    if "adapter" in special:
        model = merged(folder, model, special["adapter"], generator)
    if "adapters" in special:
        model = beside(folder, model, special["adapters"], generator)
    if "task" in special:
        model = with_task(folder, model, generator)
    mask, seq = None, special.get("length", SEQ)
    if "pictures" in special:
        ids = torch.randint(4, VOCAB, (BATCH, seq), generator=generator)
        inputs = {"pixel_values": torch.randn(BATCH, 3, 8, 8, generator=generator), "decoder_input_ids": ids}
        call = {"pixel_values": inputs["pixel_values"],
                "input_ids" if class_name.startswith("Blip") else "decoder_input_ids": ids}
    elif "grids" in special:
        shapes = torch.tensor(special["grids"])
        vision = getattr(model.config, "vision_config", model.config)
        mask = (torch.arange(seq)[None] < shapes.prod(1)[:, None]).long()
        inputs = {"pixel_values": torch.randn(BATCH, seq, 3 * vision.patch_size ** 2, generator=generator),
                  "pixel_attention_mask": mask, "spatial_shapes": shapes}
    elif "pixel" in model.main_input_name or name in ("clip_both_image", "siglip_both"):
        inputs = {"pixel_values": torch.randn(BATCH, 3, *special.get("sides", (8, 8)), generator=generator)}
    elif name.startswith("ast_"):
        inputs = {"input_values": torch.randn(BATCH, AST["max_length"], AST["num_mel_bins"], generator=generator)}
    elif special.get("sounds") == "waves":
        seen, encoder = [], model.get_encoder()
        call = {"input_values": torch.randn(BATCH, 895 + 384 * (FRAMES - 1), generator=generator),
                "decoder_input_ids": torch.randint(4, VOCAB, (BATCH, seq), generator=generator)}
        with encoder.layers[0].register_forward_pre_hook(lambda _, given: seen.append(given[0])), torch.no_grad():
            encoder(call["input_values"])
        inputs = {**call, "input_values": seen[0]}
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
        inputs = text_inputs(name, model.config, generator, seq, special.get("page"))
        if "page" in special:
            side = model.config.input_size
            inputs["pixel_values"] = torch.randn(len(special["page"]), 3, side, side, generator=generator)
        if "boxes" in special:
            last = min(1000, model.config.max_2d_position_embeddings - 1)
            sides = torch.randint(0, last + 1, (*inputs["input_ids"].shape, 2, 2),
                                  generator=generator).sort(2).values
            inputs["bbox"] = sides.flatten(2)
            inputs["bbox"][0, 0], inputs["bbox"][0, 1] = torch.tensor([0, 0, 0, 0]), torch.tensor([0, 0, last, last])
        if "masked" in special:
            inputs["input_ids"][0, 2] = inputs["input_ids"][0, 5] = inputs["input_ids"][1, 1] = special["masked"]
        if "ends" in special:
            ids = inputs["input_ids"]
            ids[(inputs["attention_mask"] == 0) | (ids == special["ends"])] = 0
            for row, length in enumerate(inputs["attention_mask"].sum(1).tolist()):
                if special["ends"] and row > 0:  # the token that ends a text is there twice, or not at all
                    ids[row, length // 2] = ids[row, length - 1] = special["ends"]
        if "left" in special:
            inputs = {key: value.flip(1) for key, value in inputs.items()}
        mask = inputs["attention_mask"]
        if "whole" in special:  # there is no mask, and sequences have one length
            inputs, mask = {"input_ids": inputs["input_ids"]}, None
    named = call if "sources" in special else inputs
    if "adapters" in special:
        named["adapter_names"] = list(reversed(special["adapters"]))
    with torch.no_grad():
        if "tower" in special:
            name_of = "text_embeds" if "text" in name else "image_embeds"
            result = {name_of: getattr(model, special["tower"])(**inputs).pooler_output}
        else:
            result = model(**(call if {"frames", "sources", "pictures", "sounds"} & set(special) else inputs))
        if "apart" in special:  # beside others, transformers counts rows of x-vectors without their dilation
            result = apart(model, inputs["features"], mask.sum(1).tolist())
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
        for key in ("attention_mask", "pixel_attention_mask"):
            inputs.pop(key, None)
        inputs["lengths"] = mask.sum(1)
    if "adapter_names" in named:
        numbers = {each: i + 1 for i, each in enumerate(special["adapters"])}
        inputs["adapters"] = torch.tensor([numbers[each] for each in named["adapter_names"]])
        inputs.pop("adapter_names", None)
    for key, value in inputs.items():
        np.save(folder / f"in_{key}.npy", value.numpy().astype(np.float32 if value.is_floating_point() else np.int32))
    for key, value in expected.items():
        np.save(folder / f"out_{key}.npy", value.numpy().astype(np.float32))
    words = [f"batch={len(special.get('page', LENGTHS))}"] + ([f"seq={seq}"] if mask is not None or {"sources", "pictures", "sounds"} & set(special) else []) + special.get("words", [])
    (folder / "words.txt").write_text("\n".join(words) + "\n")
    (folder / "generation_config.json").unlink(missing_ok=True)


def main():
    torch.manual_seed(0)
    for name in sys.argv[1:] or CASES:
        write(name)
        print(name)


if __name__ == "__main__":
    main()
