#!/usr/bin/env python3
"""Makes goldens of tests/torch/goldens from models of the literature, in small.

ViT, BERT, BLIP's text decoder, Llama, sentence embeddings, and stacks that
leave something out: each written down from its definition, with the parts of
definition.py, in double, and rounded once. Weights have attn2c's own names.

    models.py            writes all cases (the same bytes each time)
    models.py --check    writes nothing; exit 1 if the stored files differ
    models.py CASE ...   only these cases

goldens.py says what a case consists of. Run with Python 3.11, torch 2.15.0, numpy 2.4.6,
safetensors 0.8.0.
"""

import sys

import numpy as np
import torch
import torch.nn.functional as F

from definition import (attention, causal, linear as product, norm as normed, padding, pairs,
                        rope_halves, scale_of, sinusoidal, stack, window)
from goldens import (Table, encoder, hidden, image, linear, main, norm, normalise, pool, tokens,
                     vocabulary)

VIT = {"d_model": 30, "heads": 3, "layers": 2, "d_ff": 28, "activation": "gelu", "norm": "pre",
       "eps": 1e-6, "final_norm": True}
BERT = {"d_model": 30, "heads": 3, "layers": 2, "d_ff": 28, "activation": "gelu", "norm": "post",
        "eps": 1e-12}
POOLER = [hidden(), pool("first"), linear(to=30, activation="tanh", name="pooled")]
# The transform in front of BERT's vocabulary.
HEAD = [linear(to=30, activation="gelu"), norm(), vocabulary(tied=True, name="logits")]

# lengths: the input of a padding mask; memory_lengths: that of the memory.
CASES = {
    # ViT
    "vit_class": {
        "about": "class token, learned positions, no bias of q, k, v, one attention map",
        "expect": "vit",
        "description": {
            "batch": 2, "input": image(channels=3, height=20, width=28, patch=4),
            **VIT, "bias": Table(qkv=False), "scale": 0.35, "drop_path": 0.1,
            "attention_output": Table(kind="heads", layers=[1]),
            "output": [pool("first"), linear(to=7, name="logits")],
        },
    },
    "vit_mean": {
        "about": "no class token, the mean of 72 patches, all hidden states",
        "expect": "vit",
        "description": {
            "batch": 1, "seq": 72,
            "input": image(channels=3, height=36, width=32, patch=4, class_token=False),
            **VIT, "attention_output": "mean",
            "output": [hidden(), pool("mean"), linear(to=7, name="logits")],
        },
    },
    "vit_gray": {
        "about": "one channel, one row of patches, sinusoidal positions, post-norm",
        "expect": "vit",
        "description": {
            "batch": 3, "input": image(channels=1, height=5, width=40, patch=5),
            **VIT, "norm": "post", "layers": 1, "positions": "sinusoidal",
            "output": [pool("mean"), linear(to=3, name="logits")],
        },
    },
    # BERT
    "bert_types": {
        "about": "token types, a norm after the embeddings, padding, the pooler",
        "expect": "bert", "lengths": [21, 9, 1],
        "description": {
            "batch": 3, "seq": 21, "input": tokens(vocab=50, types=2, norm=True), **BERT,
            "max_position": 40, "mask": "padding", "output": POOLER,
        },
    },
    "bert_added": {
        "about": "padding as the tutorials have it: -10000 added to the scores",
        "expect": "bert", "lengths": [17, 9, 1],
        "description": {
            "batch": 3, "seq": 17, "input": tokens(vocab=50, types=2, norm=True), **BERT,
            "mask": "padding", "mask_value": -10000, "output": POOLER,
        },
    },
    "bert_added_little": {
        "about": "ignored keys that are only made less likely",
        "expect": "bert",
        "description": {
            "batch": 2, "seq": 70, "input": tokens(vocab=50, norm=True), **BERT, "layers": 1,
            "mask": "key_padding", "mask_value": -2.5,
        },
    },
    "bert_relative": {
        "about": "relative_key, with a table for more positions than there are",
        "expect": "bert", "lengths": [21, 8],
        "description": {
            "batch": 2, "seq": 21, "input": tokens(vocab=50, types=2, norm=True), **BERT,
            "positions": "relative_key", "max_position": 30, "mask": "padding",
        },
    },
    "bert_relative_query": {
        "about": "relative_key_query",
        "expect": "bert",
        "description": {
            "batch": 2, "seq": 21, "input": tokens(vocab=50, norm=True), **BERT,
            "positions": "relative_key_query", "max_position": 24,
        },
    },
    "bert_relative70": {
        "about": "relative_key_query longer than a block, the smallest table",
        "expect": "bert",
        "description": {
            "batch": 1, "seq": 70, "input": tokens(vocab=50), **BERT, "layers": 1,
            "positions": "relative_key_query",
        },
    },
    "bert_head_mask": {
        "about": "an input that weighs the heads of each layer",
        "expect": "bert",
        "description": {
            "batch": 2, "seq": 17, "input": tokens(vocab=50, norm=True), **BERT, "head_mask": "input",
        },
    },
    "bert_head_pruned": {
        "about": "heads weighed by constants, one left out",
        "expect": "bert",
        "description": {
            "batch": 2, "seq": 17, "input": tokens(vocab=50, norm=True), **BERT,
            "head_mask": [[1, 0, 0.5], [0.25, 1, 1]], "attention_output": "heads",
        },
    },
    "bert_past": {
        "about": "keys and values of what came before; the new ones are outputs",
        "expect": "bert",
        "description": {
            "batch": 2, "seq": 6, "past": 11, "input": tokens(vocab=50, norm=True), **BERT,
            "max_position": 32, "mask": "causal", "attention_output": "mean",
        },
    },
    "bert_past_relative": {
        "about": "relative positions after a past that reaches over a block",
        "expect": "bert",
        "description": {
            "batch": 2, "seq": 5, "past": 66, "input": tokens(vocab=50, norm=True), **BERT, "layers": 1,
            "positions": "relative_key", "max_position": 80, "mask": "causal",
        },
    },
    "bert_past_padding": {
        "about": "ignored keys among past and new ones",
        "expect": "bert",
        "description": {
            "batch": 2, "seq": 7, "past": 9, "input": tokens(vocab=50, norm=True), **BERT, "layers": 1,
            "mask": Table("causal", "key_padding"),
        },
    },
    "bert_cross": {
        "about": "cross-attention to a memory of a width of its own",
        "expect": "bert", "lengths": [17, 3], "memory_lengths": [5, 13],
        "description": {
            "batch": 2, "seq": 17, "input": tokens(vocab=50, types=2, norm=True), **BERT,
            "mask": Table("causal", "padding"),
            "memory": Table(seq=13, width=44, mask="padding"), "attention_output": "mean",
        },
    },
    # BLIP
    "blip_text": {
        "about": "a caption's decoder: cross-attention to image tokens, tied vocabulary",
        "expect": "bert",
        "description": {
            "batch": 2, "seq": 13, "input": tokens(vocab=50, norm=True), **BERT, "mask": "causal",
            "memory": Table(seq=70, width=28), "output": HEAD,
        },
    },
    "blip_whole": {
        "about": "the same with the image's encoder in front",
        "expect": "blip",
        "description": {
            "batch": 2, "seq": 9, "input": tokens(vocab=50, norm=True), **BERT, "layers": 1,
            "mask": "causal",
            "memory": encoder(input=image(channels=3, height=12, width=20, patch=4), positions="learned",
                              mask="none", d_model=28, heads=2, layers=2, d_ff=24, norm="pre",
                              final_norm=True, eps=1e-6),
            "output": HEAD,
        },
    },
    # Llama and its parts
    "llama": {
        "about": "rms norm, gated silu, two key heads for six, a head_dim of its own, rope",
        "expect": "llama",
        "description": {
            "batch": 1, "seq": 70, "input": tokens(vocab=50), "d_model": 44, "heads": 6, "kv_heads": 2,
            "head_dim": 10, "layers": 2, "d_ff": 36, "activation": "silu", "gated": True,
            "norm": "pre", "norm_kind": "rms", "eps": 1e-6, "final_norm": True, "bias": False,
            "positions": "rope", "mask": "causal", "output": [vocabulary(tied=True, name="logits")],
        },
    },
    "llama_past": {
        "about": "the next four tokens, after keys that are rotated already",
        "expect": "llama",
        "description": {
            "batch": 2, "seq": 4, "past": 17, "input": tokens(vocab=50), "d_model": 44, "heads": 6,
            "kv_heads": 3, "head_dim": 10, "layers": 1, "d_ff": 36, "activation": "silu", "gated": True,
            "norm": "pre", "norm_kind": "rms", "eps": 1e-6, "final_norm": True, "bias": False,
            "positions": "rope", "mask": "causal", "output": [vocabulary(tied=True, name="logits")],
        },
    },
    "llama_past_by_head": {
        "about": "keys and values by head, as transformers keeps them",
        "expect": "llama",
        "description": {
            "batch": 3, "seq": 5, "past": 13, "kv_layout": "heads_first", "input": tokens(vocab=50), "d_model": 44,
            "heads": 6, "kv_heads": 3, "head_dim": 10, "layers": 2, "d_ff": 36, "activation": "silu", "gated": True,
            "norm": "pre", "norm_kind": "rms", "eps": 1e-6, "final_norm": True, "bias": False,
            "positions": "rope", "mask": "causal", "output": [vocabulary(tied=True, name="logits")],
        },
    },
    "gated_bias": {
        "about": "gated gelu, one key head, rms norm after the sums, every bias, a large eps",
        "expect": "states",
        "description": {
            "batch": 2, "seq": 17, "d_model": 36, "heads": 4, "kv_heads": 1, "layers": 2, "d_ff": 28,
            "activation": "gelu_tanh", "gated": True, "norm": "post", "norm_kind": "rms", "eps": 0.02,
        },
    },
    # Stages after the layers, and parts that are left out
    "embedding_unit": {
        "about": "a sentence embedding: the mean of its rows, of length 1",
        "expect": "embedding", "lengths": [17, 1, 8],
        "description": {
            "batch": 3, "seq": 17, "input": tokens(vocab=50), "d_model": 30, "heads": 3, "layers": 1,
            "d_ff": 28, "mask": "padding", "output": [pool("mean"), normalise(name="embedding")],
        },
    },
    "embedding_kept": {
        "about": "the pools of sentence-transformers, of rows that a mask keeps",
        "expect": "kept_embedding",
        "description": {
            "batch": 4, "seq": 13, "input": tokens(vocab=50), "d_model": 30, "heads": 3, "layers": 1, "d_ff": 28,
            "mask": "attention_mask",
            "output": [pool(over=["mean", "max", "root", "weighted", "last", "first"], name="embedding")],
        },
    },
    "normalise_rows": {
        "about": "every row of the last states and of a projection made length 1",
        "expect": "unit_rows",
        "description": {
            "batch": 2, "seq": 17, "d_model": 30, "heads": 3, "layers": 1, "d_ff": 28,
            "output": [normalise(name="unit"), linear(to=5), normalise(name="small")],
        },
    },
    "no_feed_forward_post": {
        "about": "d_ff = 0: attention, sum and norm",
        "expect": "states",
        "description": {"batch": 2, "seq": 17, "d_model": 30, "heads": 3, "layers": 3, "d_ff": 0},
    },
    "no_feed_forward_pre": {
        "about": "d_ff = 0 with the norm before attention and one after the stack",
        "expect": "states",
        "description": {"batch": 2, "seq": 70, "d_model": 28, "heads": 2, "layers": 2, "d_ff": 0,
                        "norm": "pre", "final_norm": True, "mask": "causal"},
    },
    "no_residual_post": {
        "about": "nothing is added to what comes in; norms after each part",
        "expect": "states",
        "description": {"batch": 2, "seq": 17, "d_model": 30, "heads": 3, "layers": 2, "d_ff": 28,
                        "residual": False},
    },
    "no_residual_pre": {
        "about": "nothing is added to what comes in; norms before each part",
        "expect": "states",
        "description": {"batch": 2, "seq": 17, "d_model": 30, "heads": 3, "layers": 2, "d_ff": 28,
                        "residual": False, "norm": "pre"},
    },
    "window150_mean": {
        "about": "a window over three blocks, one row out of it",
        "expect": "windowed_mean",
        "description": {"batch": 2, "seq": 150, "d_model": 20, "heads": 2, "layers": 1, "d_ff": 28,
                        "activation": "relu", "mask": Table(window=Table(left=16, right=9)),
                        "output": [pool("mean"), linear(to=5, name="logits")]},
    },
}


def patches(golden, x, size, width, path):
    """Patches through a linear layer: a convolution whose stride is its size."""
    channels = x.shape[1]
    weight = golden.weight(path + ".weight", width, channels * size * size,
                           deviation=(channels * size * size) ** -0.5)
    bias = golden.weight(path + ".bias", width, deviation=0.3)
    x = F.conv2d(x, weight.reshape(width, channels, size, size), bias, stride=size)
    return x.flatten(2).mT


def image_states(golden, d, name, prefix=""):
    """The states that an image's encoder begins with."""
    stage = d["input"]
    shape = d["batch"], stage["channels"], stage["height"], stage["width"]
    x = patches(golden, golden.normal(name, *shape), stage["patch"], d["d_model"], prefix + "input.patches")
    if stage.get("class_token", True):
        first = golden.weight(prefix + "input.class", 1, d["d_model"])
        x = torch.cat((first.expand(d["batch"], 1, -1), x), 1)
    if d.get("positions") == "sinusoidal":
        return x + sinusoidal(x.shape[1], d["d_model"])
    return x + golden.weight(prefix + "input.positions.weight", x.shape[1], d["d_model"], deviation=0.5)


def fused_attention(golden, d, path, x):
    """ViT's attention as timm has it: one product for q, k and v. The result, and the weights."""
    width = d["d_model"]
    bias = d.get("bias", True) is True
    weight = torch.cat([golden.weight(f"{path}.{part}.weight", width, width, deviation=1.3 * width ** -0.5)
                        for part in "qkv"])
    qkv = x @ weight.T
    if bias:
        qkv = qkv + torch.cat([golden.weight(f"{path}.{part}.bias", width, deviation=0.3) for part in "qkv"])
    batch, seq, _ = x.shape
    q, k, v = qkv.reshape(batch, seq, 3, d["heads"], -1).permute(2, 0, 3, 1, 4)
    weights = (q @ k.mT * scale_of(d, width // d["heads"])).softmax(-1)
    return product(golden, path + ".out", (weights @ v).transpose(1, 2).reshape(batch, seq, width),
                   width), weights


def vit_stack(golden, d, x, prefix=""):
    """The hidden states after the stack, and the weights of each layer."""
    maps = []

    def attend(layer, path, y):
        result, weights = fused_attention(golden, d, path, y)
        maps.append(weights)
        return result

    return stack(golden, d, x, attend, prefix=prefix), maps


def vit(case, golden):
    """Dosovitskiy et al. 2021."""
    d = case["description"]
    x, maps = vit_stack(golden, d, image_states(golden, d, "image"))
    outputs, stages = {}, d["output"]
    if d.get("attention_output") == "mean":
        outputs.update((f"attention_{layer}", weights.mean(1)) for layer, weights in enumerate(maps))
    elif "attention_output" in d:
        outputs.update((f"attention_{layer}", maps[layer]) for layer in d["attention_output"]["layers"])
    if stages[0].constructor == "hidden":
        outputs["hidden"] = x
    pooled = x[:, 0] if stages[-2].items == ("first",) else x.mean(1)
    outputs["logits"] = product(golden, f"output.{len(stages)}.linear", pooled, stages[-1]["to"])
    return outputs


def text_states(golden, d):
    """Token, position and type tables, and the norm after them."""
    stage, past = d["input"], d.get("past", 0)
    shape = d["batch"], d["seq"]
    x = golden.weight("input.tokens.weight", stage["vocab"], d["d_model"])[
        golden.integers("ids", stage["vocab"], *shape)]
    if d.get("positions", "learned") == "learned":
        rows = d.get("max_position", past + d["seq"])
        table = golden.weight("input.positions.weight", rows, d["d_model"], deviation=0.5)
        x = x + table[past: past + d["seq"]]
    if stage.get("types"):
        types = golden.weight("input.types.weight", stage["types"], d["d_model"], deviation=0.5)
        x = x + types[golden.integers("token_types", stage["types"], *shape)]
    return normed(golden, d, "input.norm", x) if stage.get("norm") else x


def text_masks(golden, case):
    """(blocked, bias) of self-attention."""
    d = case["description"]
    words, past = d.get("mask", "none"), d.get("past", 0)
    words = words.items if isinstance(words, Table) else (words,)
    keys = past + d["seq"]
    blocked = torch.zeros(d["seq"], keys, dtype=torch.bool)
    if "causal" in words:
        blocked = causal(d["seq"], offset=past)
    ignored = None
    if "padding" in words:
        ignored = padding(golden.input("lengths", np.array(case["lengths"])), keys)
    if "key_padding" in words:
        ignored = golden.chosen("key_padding", 0.4, d["batch"], keys)
        ignored[:, 0] = False
        ignored = golden.input("key_padding", ignored)[:, None, None, :]
    if ignored is None:
        return blocked, 0.0
    if "mask_value" in d:
        return blocked, torch.where(ignored, float(d["mask_value"]), 0.0).double()
    return blocked | ignored, 0.0


def relative_scores(golden, d, path):
    """Hugging Face's BertSelfAttention with position_embedding_type relative_key(_query)."""
    past, rows = d.get("past", 0), d.get("max_position", d["seq"])
    table = golden.weight(path + ".distance.weight", 2 * rows - 1, d["d_model"] // d["heads"], deviation=0.7)
    i, j = pairs(d["seq"], offset=past)
    distances = table[i - j + rows - 1]

    def scores(q, k):
        s = q @ k.mT + torch.einsum("bhld,lrd->bhlr", q, distances)
        if d["positions"] == "relative_key_query":
            s = s + torch.einsum("bhrd,lrd->bhlr", k, distances)
        return s

    return scores


def head_mask(golden, d):
    """[layers][heads]."""
    if d.get("head_mask") == "input":
        mask = golden.stream("head_mask").random((d["layers"], d["heads"]))
        mask[0, 1] = 0.0
        return golden.input("head_mask", mask)
    return torch.tensor(d.get("head_mask", [[1] * d["heads"]] * d["layers"])).double()


def text_stack(golden, case, x, memory=None, memory_ignored=None):
    """BERT's layers. The hidden states, and the outputs that they leave on their way."""
    d = case["description"]
    blocked, bias = text_masks(golden, case)
    factors = head_mask(golden, d)
    wanted = d.get("attention_output", "none")
    outputs = {}

    def keep(name, weights):
        if wanted != "none":
            outputs[name] = weights.mean(1) if wanted == "mean" else weights

    def attend(layer, path, y):
        more, seen = {}, {}
        if d.get("positions", "").startswith("relative"):
            more["scores"] = relative_scores(golden, d, path)
        if d.get("past"):
            shape = d["batch"], d["past"], d["d_model"]
            more["past"] = [golden.normal(f"past_{what}_{layer}", *shape) for what in ("keys", "values")]
        result = attention(golden, d, path, y, blocked=blocked, bias=bias, seen=seen,
                           factor=factors[layer][:, None, None], **more)
        keep(f"attention_{layer}", seen["weights"])
        if d.get("past"):
            outputs[f"keys_{layer}"], outputs[f"values_{layer}"] = seen["keys"], seen["values"]
        return result

    def cross(layer, path, y):
        seen = {}
        result = attention(golden, d, path, y, memory, blocked=memory_ignored, seen=seen)
        keep(f"cross_attention_{layer}", seen["weights"])
        return result

    return stack(golden, d, x, attend, cross if memory is not None else None), outputs


def text_heads(golden, d, x):
    """The stages of POOLER or HEAD, or the hidden states."""
    stages = d.get("output")
    if stages is POOLER:
        return {"hidden": x, "pooled": product(golden, "output.3.linear", x[:, 0], 30).tanh()}
    if stages is HEAD:
        x = F.gelu(product(golden, "output.1.linear", x, 30))
        x = normed(golden, d, "output.2.norm", x)
        return {"logits": x @ golden.weight("input.tokens.weight", 50, d["d_model"]).T}
    return {"hidden": x}


def bert(case, golden):
    """Devlin et al. 2019, and its variants in Hugging Face's BertModel."""
    d = case["description"]
    memory = memory_ignored = None
    if "memory" in d:
        memory = golden.normal("memory", d["batch"], d["memory"]["seq"], d["memory"].get("width", d["d_model"]))
        if d["memory"].get("mask") == "padding":
            lengths = golden.input("memory_lengths", np.array(case["memory_lengths"]))
            memory_ignored = padding(lengths, d["memory"]["seq"])
    x, outputs = text_stack(golden, case, text_states(golden, d), memory, memory_ignored)
    return outputs | text_heads(golden, d, x)


def blip(case, golden):
    """Li et al. 2022: a ViT, and a BERT that looks at what it makes of the image."""
    d = case["description"]
    e = {"batch": d["batch"], **d["memory"].fields}
    memory, _ = vit_stack(golden, e, image_states(golden, e, "source_image", "encoder."), "encoder.")
    x, _ = text_stack(golden, case, text_states(golden, d), memory)
    return text_heads(golden, d, x)


def llama(case, golden):
    """Touvron et al. 2023, with grouped heads, and the rotation of Hugging Face's checkpoints."""
    d = case["description"]
    past, outputs = d.get("past", 0), {}
    table = golden.weight("input.tokens.weight", 50, d["d_model"])
    x = table[golden.integers("ids", 50, d["batch"], d["seq"])]

    def attend(layer, path, y):
        seen, before = {}, None
        if past:
            shape = d["batch"], past, d["kv_heads"] * d["head_dim"]
            if d.get("kv_layout") == "heads_first":
                shape = d["batch"], d["kv_heads"], past, d["head_dim"]
            before = [golden.normal(f"past_{what}_{layer}", *shape) for what in ("keys", "values")]
        result = attention(golden, d, path, y, blocked=causal(d["seq"], offset=past), past=before,
                           rotate=rope_halves(first=past), seen=seen)
        if past:
            outputs[f"keys_{layer}"], outputs[f"values_{layer}"] = seen["keys"], seen["values"]
        return result

    return outputs | {"logits": stack(golden, d, x, attend) @ table.T}


def states(case, golden):
    """A stack on hidden states."""
    d = case["description"]
    x = golden.normal("hidden", d["batch"], d["seq"], d["d_model"])
    blocked = causal(d["seq"]) if d.get("mask") == "causal" else None
    return {"hidden": stack(golden, d, x, lambda _, path, y: attention(golden, d, path, y, blocked=blocked))}


def embedding(case, golden):
    """The mean of a text's states, divided by its length."""
    d = case["description"]
    x, _ = text_stack(golden, case, text_states(golden, d))
    lengths = torch.tensor(case["lengths"])
    inside = ~padding(lengths, d["seq"])[:, 0, 0, :, None]
    return {"embedding": F.normalize((x * inside).sum(1) / lengths[:, None], dim=-1)}


def kept_embedding(case, golden):
    """sentence_transformers.models.Pooling: mean, max, mean_sqrt_len, weightedmean, lasttoken and cls, side by side."""
    d = case["description"]
    mask = golden.stream("attention_mask").integers(0, 2, (d["batch"], d["seq"]))
    mask[0], mask[1], mask[3] = np.arange(d["seq"]) >= 4, np.arange(d["seq"]) < 6, 1
    mask = golden.input("attention_mask", mask)
    states = text_states(golden, d)
    x = stack(golden, d, states, lambda _, path, y: attention(golden, d, path, y, blocked=(mask == 0)[:, None, None, :]))
    wide = mask[:, :, None].expand(x.shape).double()
    weights = wide * torch.arange(1, d["seq"] + 1)[None, :, None]
    last = d["seq"] - 1 - mask.flip(1).argmax(1)
    pools = [(x * wide).sum(1) / wide.sum(1), x.masked_fill(wide == 0, -1e9).max(1).values,
             (x * wide).sum(1) / wide.sum(1).sqrt(), (x * weights).sum(1) / weights.sum(1),
             x[torch.arange(len(x)), last], x[:, 0]]
    return {"embedding": torch.cat(pools, 1)}


def unit_rows(case, golden):
    """F.normalize of states, and of a linear layer on them."""
    unit = F.normalize(states(case, golden)["hidden"], dim=-1)
    return {"unit": unit, "small": F.normalize(product(golden, "output.2.linear", unit, 5), dim=-1)}


def windowed_mean(case, golden):
    """One layer in which each position sees 16 before it and 9 after it; a linear layer on the mean."""
    d = case["description"]
    x = golden.normal("hidden", d["batch"], d["seq"], d["d_model"])
    blocked = window(d["seq"], 16, 9)
    x = stack(golden, d, x, lambda _, path, y: attention(golden, d, path, y, blocked=blocked))
    return {"logits": product(golden, "output.2.linear", x.mean(1), 5)}


if __name__ == "__main__":
    sys.exit(main("models.py", CASES, globals()))
