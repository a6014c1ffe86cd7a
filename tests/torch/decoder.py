#!/usr/bin/env python3
"""Makes goldens of tests/torch/goldens from PyTorch's decoders.

From torch.nn.TransformerDecoder, whose memory is an input, and from torch.nn.Transformer,
whose memory is what its encoder makes of the source; with PyTorch's names of weights.

    decoder.py            writes all cases (the same bytes each time)
    decoder.py --check    writes nothing; exit 1 if the stored files differ
    decoder.py CASE ...   only these cases

Expected outputs are computed in double and rounded once. goldens.py says what a case
consists of. Run with Python 3.11, torch 2.15.0, numpy 2.4.6, safetensors 0.8.0.
"""

import sys

import numpy as np
import torch
from torch import nn

from definition import ACTIVATIONS, causal, sinusoidal
from goldens import Table, encoder, hidden, linear, main, tokens

# target: lengths of the targets; source: lengths of the memory or of the sources.
CASES = {
    "decoder_post": {
        "about": "post-norm, causal, a memory of another length",
        "expect": "decoder",
        "description": {
            "batch": 2, "seq": 17, "d_model": 30, "heads": 3, "layers": 2, "d_ff": 28,
            "activation": "relu", "norm": "post", "final_norm": True, "mask": "causal",
            "memory": Table(seq=23), "names": "torch",
        },
    },
    "decoder_pre": {
        "about": "pre-norm, causal, some rows of the memory are ignored",
        "expect": "decoder",
        "description": {
            "batch": 2, "seq": 17, "d_model": 30, "heads": 3, "layers": 2, "d_ff": 28,
            "activation": "gelu", "norm": "pre", "final_norm": True, "mask": "causal",
            "memory": Table(seq=23, mask="key_padding"), "names": "torch",
        },
    },
    "decoder_padding70": {
        "about": "targets and memories of different lengths, across blocks, no final norm",
        "expect": "decoder", "target": [70, 33, 1], "source": [2, 66, 65],
        "description": {
            "batch": 3, "seq": 70, "d_model": 20, "heads": 2, "layers": 1, "d_ff": 28,
            "activation": "relu", "norm": "post", "mask": Table("causal", "padding"),
            "memory": Table(seq=66, mask="padding"), "names": "torch",
        },
    },
    "decoder_nobias": {
        "about": "no bias anywhere, no mask, one target position, one row of memory",
        "expect": "decoder",
        "description": {
            "batch": 2, "seq": 1, "d_model": 20, "heads": 2, "layers": 2, "d_ff": 12,
            "activation": "silu", "norm": "pre", "final_norm": True, "bias": False,
            "memory": Table(seq=1), "names": "torch",
        },
    },
    "transformer_post": {
        "about": "encoder and decoder, sources of different lengths",
        "expect": "transformer", "source": [23, 6],
        "description": {
            "batch": 2, "seq": 17, "d_model": 30, "heads": 3, "layers": 2, "d_ff": 28,
            "activation": "relu", "norm": "post", "final_norm": True, "mask": "causal",
            "memory": encoder(input=hidden(), seq=23, layers=2, mask="padding"), "names": "torch",
        },
    },
    "transformer_pre": {
        "about": "pre-norm, more layers in the encoder, ignored source positions",
        "expect": "transformer",
        "description": {
            "batch": 2, "seq": 9, "d_model": 28, "heads": 2, "layers": 1, "d_ff": 36,
            "activation": "gelu", "norm": "pre", "final_norm": True, "mask": "causal",
            "memory": encoder(input=hidden(), seq=67, layers=3, mask="key_padding"), "names": "torch",
        },
    },
    "transformer_translate": {
        "about": "a translator: two tables, sinusoidal positions, a linear head",
        "expect": "translator", "source": [4, 21, 13],
        "description": {
            "batch": 3, "seq": 13, "d_model": 20, "heads": 2, "layers": 2, "d_ff": 28,
            "activation": "relu", "norm": "post", "final_norm": True, "mask": "causal",
            "input": tokens(vocab=37), "positions": "sinusoidal",
            "memory": encoder(input=tokens(vocab=41), positions="sinusoidal", seq=21, layers=2,
                              mask="padding"),
            "output": [linear(to=37, name="logits")],
            "names": "torch",
        },
    },
}


def ignored(golden, case, name, lengths, words, seq):
    """The boolean [batch][seq] mask of targets or sources; its input is NAMElengths or NAMEkey_padding."""
    batch = case["description"]["batch"]
    if words == "key_padding":
        mask = golden.chosen(name + words, 0.4, batch, seq)
        mask[:, 1] = False
        return golden.input(name + words, mask)
    if words is None or "padding" not in words:
        return None
    lengths = golden.input(name + "lengths", np.array(case[lengths]))
    return torch.arange(seq)[None, :] >= lengths[:, None]


def target_masks(golden, case):
    """tgt_mask and tgt_key_padding_mask."""
    d = case["description"]
    words = d.get("mask", "none")
    tgt_mask = causal(d["seq"]) if "causal" in words else None
    return tgt_mask, ignored(golden, case, "", "target", words, d["seq"])


def decoder(case, golden):
    """torch.nn.TransformerDecoder."""
    d = case["description"]
    bias = d.get("bias", True)
    layer = nn.TransformerDecoderLayer(
        d["d_model"], d["heads"], d["d_ff"], dropout=0.0, activation=ACTIVATIONS[d["activation"]],
        batch_first=True, norm_first=d["norm"] == "pre", bias=bias)
    norm = nn.LayerNorm(d["d_model"], bias=bias) if d.get("final_norm") else None
    module = golden.load(nn.TransformerDecoder(layer, d["layers"], norm))
    seq = d["memory"]["seq"]
    target = golden.normal("hidden", d["batch"], d["seq"], d["d_model"])
    memory = golden.normal("memory", d["batch"], seq, d["d_model"])
    tgt_mask, tgt_ignored = target_masks(golden, case)
    return {"hidden": module(
        target, memory, tgt_mask=tgt_mask, tgt_key_padding_mask=tgt_ignored,
        memory_key_padding_mask=ignored(golden, case, "memory_", "source", d["memory"].get("mask"), seq))}


def run_transformer(module, case, golden, source, target):
    d = case["description"]
    tgt_mask, tgt_ignored = target_masks(golden, case)
    source_ignored = ignored(golden, case, "source_", "source", d["memory"].get("mask"), d["memory"]["seq"])
    return module(source, target, tgt_mask=tgt_mask, tgt_key_padding_mask=tgt_ignored,
                  src_key_padding_mask=source_ignored, memory_key_padding_mask=source_ignored)


def sizes(d):
    """The arguments of torch.nn.Transformer."""
    return {"d_model": d["d_model"], "nhead": d["heads"], "num_encoder_layers": d["memory"]["layers"],
            "num_decoder_layers": d["layers"], "dim_feedforward": d["d_ff"], "dropout": 0.0,
            "activation": ACTIVATIONS[d["activation"]], "batch_first": True,
            "norm_first": d["norm"] == "pre"}


def transformer(case, golden):
    """torch.nn.Transformer."""
    d = case["description"]
    module = golden.load(nn.Transformer(**sizes(d)))
    source = golden.normal("source_hidden", d["batch"], d["memory"]["seq"], d["d_model"])
    target = golden.normal("hidden", d["batch"], d["seq"], d["d_model"])
    return {"hidden": run_transformer(module, case, golden, source, target)}


class Translator(nn.Transformer):
    """What the tutorials put around a torch.nn.Transformer, under the names that attn2c knows."""

    def __init__(self, source_vocab, target_vocab, **rest):
        super().__init__(**rest)
        self.source_embedding = nn.Embedding(source_vocab, rest["d_model"])
        self.token_embedding = nn.Embedding(target_vocab, rest["d_model"])
        self.output = nn.Sequential(nn.Linear(rest["d_model"], target_vocab))


def translator(case, golden):
    """A Translator."""
    d = case["description"]
    vocabs = d["memory"]["input"]["vocab"], d["input"]["vocab"]
    module = golden.load(Translator(*vocabs, **sizes(d)))
    ids = golden.integers("ids", vocabs[1], d["batch"], d["seq"])
    source_ids = golden.integers("source_ids", vocabs[0], d["batch"], d["memory"]["seq"])
    source = module.source_embedding(source_ids) + sinusoidal(d["memory"]["seq"], d["d_model"])
    target = module.token_embedding(ids) + sinusoidal(d["seq"], d["d_model"])
    return {"logits": module.output(run_transformer(module, case, golden, source, target))}


if __name__ == "__main__":
    sys.exit(main("decoder.py", CASES, globals()))
