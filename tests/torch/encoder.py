#!/usr/bin/env python3
"""Makes goldens of tests/torch/goldens from PyTorch's own TransformerEncoder.

Each case is one directory (goldens.py writes it): a description for attn2c, a checkpoint with
PyTorch's tensor names, inputs, and the output that PyTorch computes from them:

    description.lua       the same model, as attn2c is told it
    model.safetensors     the state_dict of a bare torch.nn.TransformerEncoder
    hidden.npy            input, float32 [batch][seq][d_model]
    lengths.npy           input, int32 [batch]; only where the mask is "padding"
    expected_hidden.npy   output, float32 [batch][seq][d_model]

All weights are random, those of norms and biases too, because PyTorch's zeros
and ones would hide a norm or a bias that is left out.

    encoder.py            writes all cases (the same bytes each time)
    encoder.py --check    writes nothing; exit 1 if the stored files differ
    encoder.py CASE ...   only these cases

Run with Python 3.11, torch 2.15.0, numpy 2.4.6, safetensors 0.8.0.
"""

import sys

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from goldens import Table, main

ACTIVATIONS = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
}

# A case is what it is for, its description, and the lengths of a padding mask.
# Each key of a description is written out as it stands here.
CASES = {
    "torch_odd17": {
        "about": "post-norm, sizes that no tile divides",
        "expect": "encoder",
        "description": {
            "batch": 2, "seq": 17, "d_model": 60, "heads": 3, "layers": 2, "d_ff": 45,
            "activation": "relu", "norm": "post", "final_norm": False,
            "names": "torch",
        },
    },
    "torch_prenorm9": {
        "about": "pre-norm with a norm after the stack, heads three wide, a large eps",
        "expect": "encoder",
        "description": {
            "batch": 2, "seq": 9, "d_model": 33, "heads": 11, "layers": 3, "d_ff": 47,
            "activation": "gelu", "norm": "pre", "eps": 1e-3, "final_norm": True,
            "names": "torch",
        },
    },
    "torch_causal70": {
        "about": "causal, longer than one block of 64",
        "expect": "encoder",
        "description": {
            "batch": 1, "seq": 70, "d_model": 80, "heads": 4, "layers": 1, "d_ff": 48,
            "activation": "relu", "norm": "post", "final_norm": False, "mask": "causal",
            "names": "torch",
        },
    },
    "torch_window33": {
        "about": "each position sees 3 before it, itself and 5 after it",
        "expect": "encoder",
        "description": {
            "batch": 2, "seq": 33, "d_model": 48, "heads": 4, "layers": 2, "d_ff": 50,
            "activation": "gelu_tanh", "norm": "post", "final_norm": False,
            "mask": Table(window=(3, 5)),
            "names": "torch",
        },
    },
    "torch_causal_window29": {
        "about": "causal and no further back than 6",
        "expect": "encoder",
        "description": {
            "batch": 1, "seq": 29, "d_model": 36, "heads": 2, "layers": 2, "d_ff": 52,
            "activation": "relu", "norm": "pre", "final_norm": True,
            "mask": Table("causal", window=(6, 0)),
            "names": "torch",
        },
    },
    "torch_padding21": {
        "about": "sequences of different lengths; padded rows are computed too",
        "expect": "encoder",
        "description": {
            "batch": 3, "seq": 21, "d_model": 40, "heads": 2, "layers": 2, "d_ff": 72,
            "activation": "gelu", "norm": "post", "final_norm": False, "mask": "padding",
            "names": "torch",
        },
        "lengths": [21, 5, 1],
    },
    "torch_nobias5": {
        "about": "no bias anywhere, one head",
        "expect": "encoder",
        "description": {
            "batch": 2, "seq": 5, "d_model": 20, "heads": 1, "layers": 2, "d_ff": 31,
            "activation": "silu", "norm": "pre", "bias": False, "final_norm": False,
            "names": "torch",
        },
    },
    "torch_single1": {
        "about": "one layer, one position",
        "expect": "encoder",
        "description": {
            "batch": 2, "seq": 1, "d_model": 16, "heads": 2, "layers": 1, "d_ff": 24,
            "activation": "relu", "norm": "post", "final_norm": False,
            "names": "torch",
        },
    },
    "torch_window150": {
        "about": "a window to both sides of a sequence of three blocks",
        "expect": "encoder",
        "description": {
            "batch": 1, "seq": 150, "d_model": 44, "heads": 2, "layers": 2, "d_ff": 50,
            "activation": "gelu", "norm": "pre", "dropout": 0.1, "final_norm": True,
            "mask": Table(window=(16, 9)),
            "names": "torch",
        },
    },
    "torch_seq_first": {
        "about": "sequence before batch, as PyTorch has it without batch_first",
        "expect": "encoder",
        "description": {
            "batch": 3, "seq": 17, "d_model": 36, "heads": 3, "layers": 2, "d_ff": 40,
            "activation": "relu", "norm": "post", "final_norm": False, "layout": "seq_first",
            "mask": "padding",
            "names": "torch",
        },
        "lengths": [9, 17, 4],
    },
}


def make_encoder(description):
    """The encoder that PyTorch has for a description, with untouched weights."""
    d = description
    eps, bias = d.get("eps", 1e-5), d.get("bias", True)
    layer = nn.TransformerEncoderLayer(
        d["d_model"], d["heads"], d["d_ff"], dropout=0.0,
        activation=ACTIVATIONS[d["activation"]], layer_norm_eps=eps,
        batch_first=d.get("layout") != "seq_first", norm_first=d["norm"] == "pre", bias=bias)
    norm = nn.LayerNorm(d["d_model"], eps, bias=bias) if d["final_norm"] else None
    return nn.TransformerEncoder(layer, d["layers"], norm, enable_nested_tensor=False)


def blocked(description):
    """The boolean [seq][seq] mask, true where a query may not see a key; or None."""
    mask = description.get("mask", "none")
    if mask in ("none", "padding"):
        return None
    query = torch.arange(description["seq"])[:, None]
    key = torch.arange(description["seq"])[None, :]
    if mask == "causal":
        return key > query
    left, right = mask["window"]
    outside = (key < query - left) | (key > query + right)
    return outside | (key > query) if "causal" in mask else outside


def encoder(case, golden):
    """The output of a case's encoder, computed in float32 as PyTorch does it."""
    description = case["description"]
    module = golden.load(make_encoder(description)).float()
    order = ("seq", "batch") if description.get("layout") == "seq_first" else ("batch", "seq")
    shape = tuple(description[key] for key in (*order, "d_model"))
    hidden = golden.input("hidden", golden.rng.standard_normal(shape)).float()
    padding = None
    if "lengths" in case:
        lengths = golden.input("lengths", np.array(case["lengths"]))
        padding = torch.arange(description["seq"])[None, :] >= lengths[:, None]
    return {"hidden": module(hidden, mask=blocked(description), src_key_padding_mask=padding)}


if __name__ == "__main__":
    sys.exit(main("encoder.py", CASES, globals()))
