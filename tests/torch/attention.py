#!/usr/bin/env python3
"""Makes goldens of tests/torch/goldens for attention by itself.

From torch.nn.MultiheadAttention with everything that it can be told, from
torch.nn.functional.scaled_dot_product_attention, and from softmax(X X^T) X, which has no
parameters at all. Names of weights are those of a bare torch.nn.MultiheadAttention.

    attention.py            writes all cases (the same bytes each time)
    attention.py --check    writes nothing; exit 1 if the stored files differ
    attention.py CASE ...   only these cases

Expected outputs are computed in double and rounded once. goldens.py says what a case
consists of. Run with Python 3.11, torch 2.15.0, numpy 2.4.6, safetensors 0.8.0.
"""

import sys

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from definition import empty_rows_to, join, scale_of, split
from goldens import Table, hidden, linear, main, pool, qkv, tokens

# Keys by which a layer of attn2c is an attention and nothing else.
ALONE = {"layers": 1, "d_ff": 0, "norm": "none", "residual": False}
MULTIHEAD = {**ALONE, "input": qkv(), "names": "torch"}
BARE = {**ALONE, "input": qkv(), "projections": False}

# The worked example of the tutorials.
QUERIES = [[1, 0, 2], [2, 2, 2], [2, 1, 3]]
KEYS = [[0, 1, 1], [4, 4, 0], [2, 3, 1]]
VALUES = [[1, 2, 3], [2, 8, 0], [2, 6, 3]]

CASES = {
    # torch.nn.MultiheadAttention
    "mha_self": {
        "about": "self-attention: query, key and value are one input",
        "expect": "multihead",
        "description": {"batch": 2, "seq": 17, "d_model": 36, "heads": 3, **ALONE, "names": "torch"},
    },
    "mha_plain": {
        "about": "query, key and value of the same length",
        "expect": "multihead",
        "description": {"batch": 2, "seq": 17, "d_model": 60, "heads": 3, **MULTIHEAD},
    },
    "mha_nobias": {
        "about": "no bias, one head, more keys than queries",
        "expect": "multihead",
        "description": {"batch": 2, "seq": 9, "key_seq": 21, "d_model": 28, "heads": 1,
                        "bias": False, **MULTIHEAD},
    },
    "mha_bias_kv_zero": {
        "about": "two more keys that no mask touches: a learned one and one of zeros",
        "expect": "multihead",
        "description": {"batch": 2, "seq": 17, "key_seq": 63, "d_model": 36, "heads": 3,
                        "bias_kv": True, "zero_attn": True, **MULTIHEAD},
    },
    "mha_bias_kv": {
        "about": "a learned key and value",
        "expect": "multihead",
        "description": {"batch": 3, "seq": 5, "d_model": 36, "heads": 2, "bias_kv": True, **MULTIHEAD},
    },
    "mha_zero_attn": {
        "about": "a key and value of zeros",
        "expect": "multihead",
        "description": {"batch": 3, "seq": 5, "key_seq": 64, "d_model": 20, "heads": 2,
                        "zero_attn": True, **MULTIHEAD},
    },
    "mha_kdim_vdim": {
        "about": "keys and values of widths and a length of their own",
        "expect": "multihead",
        "description": {"batch": 2, "seq": 17, "key_seq": 70, "d_model": 36, "heads": 3,
                        "kdim": 44, "vdim": 28, **MULTIHEAD},
    },
    "mha_key_padding": {
        "about": "ignored keys, not only at the end",
        "expect": "multihead",
        "description": {"batch": 3, "seq": 11, "key_seq": 70, "d_model": 28, "heads": 2,
                        "mask": "key_padding", **MULTIHEAD},
    },
    "mha_key_bias": {
        "about": "a number added to the scores of each key, -inf among them",
        "expect": "multihead",
        "description": {"batch": 2, "seq": 17, "key_seq": 23, "d_model": 36, "heads": 3,
                        "mask": "key_bias", **MULTIHEAD},
    },
    "mha_additive": {
        "about": "a 2-D float mask, -inf among its numbers",
        "expect": "multihead",
        "description": {"batch": 2, "seq": 17, "key_seq": 70, "d_model": 28, "heads": 2,
                        "mask": "additive", **MULTIHEAD},
    },
    "mha_blocked": {
        "about": "a 2-D bool mask",
        "expect": "multihead",
        "description": {"batch": 2, "seq": 70, "key_seq": 17, "d_model": 28, "heads": 2,
                        "mask": "blocked", **MULTIHEAD},
    },
    "mha_additive_heads": {
        "about": "a 3-D float mask: one for each sequence and head",
        "expect": "multihead",
        "description": {"batch": 2, "seq": 17, "key_seq": 29, "d_model": 36, "heads": 3,
                        "mask": "additive_heads", **MULTIHEAD},
    },
    "mha_blocked_heads": {
        "about": "a 3-D bool mask: one for each sequence and head",
        "expect": "multihead",
        "description": {"batch": 2, "seq": 17, "key_seq": 70, "d_model": 36, "heads": 3,
                        "mask": "blocked_heads", **MULTIHEAD},
    },
    "mha_causal": {
        "about": "is_causal",
        "expect": "multihead",
        "description": {"batch": 1, "seq": 70, "d_model": 36, "heads": 2, "mask": "causal", **MULTIHEAD},
    },
    "mha_weights_mean": {
        "about": "the attention weights, averaged over heads",
        "expect": "multihead",
        "description": {"batch": 2, "seq": 17, "key_seq": 23, "d_model": 36, "heads": 3,
                        "attention_output": "mean", **MULTIHEAD},
    },
    "mha_weights_heads": {
        "about": "the attention weights of each head, beside ignored keys",
        "expect": "multihead",
        "description": {"batch": 2, "seq": 5, "key_seq": 70, "d_model": 36, "heads": 3,
                        "mask": "key_padding", "attention_output": "heads", **MULTIHEAD},
    },
    "mha_seq_first": {
        "about": "sequence before batch",
        "expect": "multihead",
        "description": {"batch": 3, "seq": 17, "key_seq": 21, "d_model": 36, "heads": 3, "kdim": 20,
                        "layout": "seq_first", "mask": "key_padding", "attention_output": "mean",
                        **MULTIHEAD},
    },
    "mha_mix": {
        "about": "causal, ignored keys, two more keys, and the weights of all of them",
        "expect": "multihead",
        "description": {"batch": 2, "seq": 66, "d_model": 28, "heads": 2, "bias_kv": True,
                        "zero_attn": True, "mask": Table("causal", "key_padding"),
                        "attention_output": "heads", **MULTIHEAD},
    },
    "mha_mix_additive": {
        "about": "causal, ignored keys, a float mask, two more keys, kdim, sequence first",
        "expect": "multihead",
        "description": {"batch": 2, "seq": 13, "key_seq": 19, "d_model": 36, "heads": 2, "kdim": 28,
                        "bias_kv": True, "zero_attn": True, "layout": "seq_first",
                        "mask": Table("causal", "key_padding", "additive"),
                        "attention_output": "mean", **MULTIHEAD},
    },
    # torch.nn.functional.scaled_dot_product_attention
    "sdpa_grouped": {
        "about": "six heads on two key heads, values wider than keys",
        "expect": "dot_product",
        "description": {"batch": 2, "seq": 17, "key_seq": 70, "d_model": 60, "heads": 6, "kv_heads": 2,
                        "kdim": 20, "vdim": 26, **BARE},
    },
    "sdpa_by_head": {
        "about": "keys and values by head, as that function takes them",
        "expect": "dot_product",
        "description": {"batch": 2, "seq": 17, "key_seq": 37, "d_model": 60, "heads": 6, "kv_heads": 3,
                        "kdim": 30, "vdim": 21, "kv_layout": "heads_first", **BARE},
    },
    "sdpa_causal": {
        "about": "causal with fewer queries than keys: both begin at 0",
        "expect": "dot_product",
        "description": {"batch": 2, "seq": 17, "key_seq": 29, "d_model": 44, "heads": 4, "scale": 0.45,
                        "mask": "causal", **BARE},
    },
    "sdpa_nan_value": {
        "about": "a NaN in the value row of an ignored key reaches nothing",
        "expect": "dot_product", "nan": "value",
        "description": {"batch": 2, "seq": 9, "key_seq": 21, "d_model": 28, "heads": 2,
                        "mask": "key_padding", **BARE},
    },
    "sdpa_nan_key": {
        "about": "nor does a NaN in its key row",
        "expect": "dot_product", "nan": "key",
        "description": {"batch": 2, "seq": 9, "key_seq": 21, "d_model": 28, "heads": 2,
                        "mask": "key_padding", **BARE},
    },
    "sdpa_empty_zero": {
        "about": "a row that sees no key gives zeros",
        "expect": "dot_product", "empty": [0, 5, 16],
        "description": {"batch": 2, "seq": 17, "key_seq": 23, "d_model": 28, "heads": 2,
                        "mask": "blocked", "fully_masked": "zero", "attention_output": "heads", **BARE},
    },
    "sdpa_empty_nan": {
        "about": "a row that sees no key gives NaN, as PyTorch's MultiheadAttention does",
        "expect": "dot_product", "empty": [0, 5, 16], "not_finite": True,
        "description": {"batch": 2, "seq": 17, "key_seq": 23, "d_model": 28, "heads": 2,
                        "mask": "blocked", "fully_masked": "nan", "attention_output": "heads", **BARE},
    },
    "sdpa_empty_additive": {
        "about": "a row of -inf in a float mask sees no key and gives zeros",
        "expect": "dot_product", "empty": [3, 16],
        "description": {"batch": 2, "seq": 17, "key_seq": 23, "d_model": 28, "heads": 2,
                        "mask": "additive", "attention_output": "mean", **BARE},
    },
    # The worked example, and many heads without projections.
    "example_three": {
        "about": "three queries, keys and values of the tutorials",
        "expect": "worked_example",
        "description": {"batch": 1, "seq": 3, "key_seq": 3, "d_model": 3, "heads": 1, "scale": False,
                        "attention_output": "mean", **BARE},
    },
    "example_heads3": {
        "about": "eight heads of 768, unscaled: three queries, three keys",
        "expect": "dot_product", "deviation": 0.4,
        "description": {"batch": 1, "seq": 3, "d_model": 768, "heads": 8, "scale": False,
                        "attention_output": "heads", **BARE},
    },
    "example_heads6": {
        "about": "eight heads of 768, unscaled: three queries, six keys",
        "expect": "dot_product", "deviation": 0.4,
        "description": {"batch": 1, "seq": 3, "key_seq": 6, "d_model": 768, "heads": 8, "scale": False,
                        "attention_output": "heads", **BARE},
    },
    # softmax(X X^T) X
    "plain_one": {
        "about": "softmax(X X^T) X, and not a weight in it",
        "expect": "plain", "deviation": 0.3,
        "description": {"batch": 2, "seq": 17, "d_model": 60, "heads": 1, **ALONE,
                        "projections": False, "scale": False, "attention_output": "mean"},
    },
    "plain_scaled70": {
        "about": "the same in three heads, scaled, with ignored keys, longer than a block",
        "expect": "plain",
        "description": {"batch": 2, "seq": 70, "d_model": 36, "heads": 3, **ALONE,
                        "projections": False, "mask": "key_padding"},
    },
    "plain_text": {
        "about": "a text classifier: three such layers between a table and a mean",
        "expect": "plain_text",
        "description": {"batch": 3, "seq": 21, "d_model": 20, "heads": 1, **ALONE, "layers": 3,
                        "input": tokens(vocab=50), "positions": "none", "projections": False,
                        "scale": False,
                        "output": [pool("mean"), linear(to=5, name="logits")]},
    },
    "plain_text_padding": {
        "about": "the same with texts of different lengths and their last states",
        "expect": "plain_text", "lengths": [21, 4, 1],
        "description": {"batch": 3, "seq": 21, "d_model": 20, "heads": 1, **ALONE, "layers": 3,
                        "input": tokens(vocab=50), "positions": "none", "projections": False,
                        "scale": False, "mask": "padding",
                        "output": [hidden(), pool("mean"), linear(to=5, name="logits")]},
    },
}


def inputs(case, golden, value_width=None):
    """query, key and value, batch first; the same tensor three times where the input is hidden."""
    d = case["description"]
    deviation = case.get("deviation", 1.0)
    seq_first = d.get("layout") == "seq_first"

    def states(name, seq, width):
        shape = (seq, d["batch"], width) if seq_first else (d["batch"], seq, width)
        if d.get("kv_layout") == "heads_first" and name != "query":
            shape = d["batch"], d["kv_heads"], seq, width // d["kv_heads"]
        return golden.normal(name, *shape, deviation=deviation)

    if "input" not in d:
        return (states("hidden", d["seq"], d["d_model"]),) * 3
    key_seq = d.get("key_seq", d["seq"])
    return (states("query", d["seq"], d["d_model"]), states("key", key_seq, d.get("kdim", d["d_model"])),
            states("value", key_seq, d.get("vdim", value_width or d["d_model"])))


def masks(case, golden):
    """(attn_mask, key_padding_mask) as torch.nn.MultiheadAttention takes them, from a case's words."""
    d = case["description"]
    words = d["mask"].items if isinstance(d.get("mask"), Table) else (d.get("mask", "none"),)
    batch, heads, queries = d["batch"], d["heads"], d["seq"]
    keys = d.get("key_seq", queries)
    attn_mask = key_mask = None
    for word in words:
        if word == "key_padding":
            key_mask = golden.chosen(word, 0.4, batch, keys)
            key_mask[:, 0] = False
            key_mask = golden.input(word, key_mask)
        elif word == "key_bias":
            bias = 2 * golden.stream(word).standard_normal((batch, keys))
            bias[golden.chosen(word + "/inf", 0.2, batch, keys)] = -np.inf
            key_mask = golden.input(word, bias)
        elif word == "causal":
            attn_mask = torch.ones(queries, keys, dtype=torch.bool).triu(1)
        elif word in ("additive", "additive_heads"):
            shape = (queries, keys) if word == "additive" else (batch, heads, queries, keys)
            bias = 2 * golden.stream(word).standard_normal(shape)
            bias[golden.chosen(word + "/inf", 0.1, *shape)] = -np.inf
            bias[..., 0] = 1.0
            bias[..., case.get("empty", []), :] = -np.inf
            bias = golden.input("mask_bias" if word == "additive" else "head_bias", bias)
            if attn_mask is not None:
                bias = bias.masked_fill(attn_mask, -torch.inf)
            attn_mask = bias
        elif word in ("blocked", "blocked_heads"):
            shape = (queries, keys) if word == "blocked" else (batch, heads, queries, keys)
            pairs = golden.chosen(word, 0.4, *shape)
            pairs[..., -1] = False
            pairs[..., case.get("empty", []), :] = True
            attn_mask = golden.input("blocked" if word == "blocked" else "head_blocked", pairs)
    return attn_mask, key_mask


def multihead(case, golden):
    """torch.nn.MultiheadAttention."""
    d = case["description"]
    module = golden.load(nn.MultiheadAttention(
        d["d_model"], d["heads"], bias=d.get("bias", True), add_bias_kv=d.get("bias_kv", False),
        add_zero_attn=d.get("zero_attn", False), kdim=d.get("kdim"), vdim=d.get("vdim"),
        batch_first=d.get("layout") != "seq_first"))
    query, key, value = inputs(case, golden)
    attn_mask, key_mask = masks(case, golden)
    if attn_mask is not None and attn_mask.dim() == 4:
        attn_mask = attn_mask.flatten(0, 1)
    if attn_mask is not None and key_mask is not None and attn_mask.is_floating_point():
        key_mask = torch.zeros_like(key_mask, dtype=torch.double).masked_fill(key_mask, -torch.inf)
    wanted = d.get("attention_output", "none")
    output, weights = module(
        query, key, value, key_padding_mask=key_mask, attn_mask=attn_mask,
        need_weights=wanted != "none", average_attn_weights=wanted == "mean",
        is_causal=d.get("mask") == "causal")
    return {"hidden": output} | ({"attention_0": weights} if wanted != "none" else {})


def dot_product(case, golden):
    """F.scaled_dot_product_attention on heads that are taken from the inputs as they come."""
    d = case["description"]
    heads = d["heads"]
    kv_heads = d.get("kv_heads", heads)
    query, key, value = inputs(case, golden)
    attn_mask, key_mask = masks(case, golden)
    if key_mask is not None:
        attn_mask = key_mask[:, None, None, :]
        rows = key_mask[:, :, None]
        if "nan" in case:
            golden.inputs["value"][key_mask.numpy()] = np.nan
            value = value.masked_fill(rows, 0.0)
        if case.get("nan") == "key":
            golden.inputs["key"][key_mask.numpy()] = np.nan
            key = key.masked_fill(rows, 0.0)
    if attn_mask is not None and not attn_mask.is_floating_point():
        attn_mask = torch.zeros(attn_mask.shape, dtype=torch.double).masked_fill(attn_mask, -torch.inf)
    q = split(query, heads)
    k, v = (x if x.dim() == 4 else split(x, kv_heads) for x in (key, value))
    scale = scale_of(d, q.shape[-1])
    context = F.scaled_dot_product_attention(
        q, k, v, attn_mask=attn_mask, scale=scale, enable_gqa=kv_heads != heads)
    scores = scale * q @ k.repeat_interleave(heads // kv_heads, 1).mT
    weights = (scores + (0.0 if attn_mask is None else attn_mask)).softmax(-1)
    empty = 0.0 if d.get("fully_masked", "zero") == "zero" else torch.nan
    weights = empty_rows_to(empty, weights)
    if "empty" in case:
        context[:, :, case["empty"]] = empty
    torch.testing.assert_close(
        context, weights @ v.repeat_interleave(heads // kv_heads, 1), equal_nan=True)
    outputs = {"hidden": join(context)}
    if d.get("attention_output") == "heads":
        outputs["attention_0"] = weights
    elif d.get("attention_output") == "mean":
        outputs["attention_0"] = weights.mean(1)
    return outputs


def worked_example(case, golden):
    """softmax(Q K^T) V of given numbers."""
    q, k, v = (golden.input(name, np.array([rows], np.float32)) for name, rows in (
        ("query", QUERIES), ("key", KEYS), ("value", VALUES)))
    weights = (q @ k.mT).softmax(-1)
    return {"hidden": weights @ v, "attention_0": weights}


def plain_layer(x, heads, scale, ignored=None):
    """softmax(scale X X^T) X in each head: the result, and the weights."""
    x = split(x, heads)
    scores = scale * x @ x.mT
    if ignored is not None:
        scores = scores.masked_fill(ignored[:, None, None, :], -torch.inf)
    weights = scores.softmax(-1)
    return join(weights @ x), weights


def plain(case, golden):
    """One layer of it."""
    d = case["description"]
    x, _, _ = inputs(case, golden)
    _, ignored = masks(case, golden)
    x, weights = plain_layer(x, d["heads"], scale_of(d, d["d_model"] // d["heads"]), ignored)
    return {"hidden": x} | ({"attention_0": weights.mean(1)} if "attention_output" in d else {})


def plain_text(case, golden):
    """Token table, layers of it, the mean over a text, and a linear classifier."""
    d = case["description"]
    ids = golden.integers("ids", 50, d["batch"], d["seq"])
    x = golden.weight("input.tokens.weight", 50, d["d_model"], deviation=0.5)[ids]
    lengths = torch.full((d["batch"],), d["seq"])
    if "lengths" in case:
        lengths = golden.input("lengths", np.array(case["lengths"]))
    ignored = torch.arange(d["seq"])[None, :] >= lengths[:, None]
    for _ in range(d["layers"]):
        x, _ = plain_layer(x, 1, 1.0, ignored)
    stage = 2 + ("lengths" in case)
    mean = x.masked_fill(ignored[:, :, None], 0.0).sum(1) / lengths[:, None]
    logits = (mean @ golden.weight(f"output.{stage}.linear.weight", 5, d["d_model"]).T
              + golden.weight(f"output.{stage}.linear.bias", 5))
    return {"logits": logits} | ({"hidden": x} if "lengths" in case else {})


if __name__ == "__main__":
    sys.exit(main("attention.py", CASES, globals()))
