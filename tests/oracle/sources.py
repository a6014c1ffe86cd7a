#!/usr/bin/env python3
"""Draws small encoders beside decoders that go on, with the logits that definition.py says.

    sources.py             writes sources/: cases whose sources and sequences have one length each
    sources.py --check     writes nothing; exit 1 if the stored cases differ
    sources.py --torch     writes nothing; exit 1 if the case "post" differs from PyTorch's nn.Transformer

A case is a packed file (given.py): the weights, the inputs of two sources and ids of two sequences, and the logits of all
tokens. Its description is that of a model with a context. The definition is given the lengths of the case instead.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

from anchor import TOLERANCE, difference
from definition import evaluate, sinusoid
from given import Drawn, pack, unpack
from oracle import describe, same

CASES = Path(__file__).resolve().parent / "sources"
SEQUENCES, SOURCE, TOKENS = 2, 9, 11    # the last two: rows of each source and of each sequence

TOKENS_OF = {"stage": "tokens", "vocab": 13}
BASE = {"d_model": 24, "heads": 3, "layers": 2, "d_ff": 32, "mask": "causal", "input": TOKENS_OF,
        "output": [{"stage": "vocabulary"}]}

# Keys of a model and of its encoder: Vaswani et al. 2017, Raffel et al. 2020, one whose stacks differ; and encoders of
# pictures and of sources of one length, which have their own seq.
KEYS = {
    "post": ({"positions": "sinusoidal", "activation": "relu"}, {"positions": "sinusoidal"}),
    "t5": ({"positions": "t5", "t5_buckets": 8, "t5_distance": 10, "norm": "pre", "norm_kind": "rms", "final_norm": True,
            "bias": False, "scale": False, "activation": "relu"}, {"scale": False}),
    "apart": ({"positions": "rope", "norm": "pre", "kv_heads": 1, "gated": True, "activation": "silu", "bias": {"qkv": False},
               "mask": ["causal", "window"], "window": [4, 0]},
              {"d_model": 20, "heads": 5, "kv_heads": 5, "layers": 1, "positions": "learned", "max_position": 16,
               "mask": "window", "window": [2, 3]}),
    "pictures": ({"positions": "learned", "max_position": 20, "activation": "relu"},
                 {"input": {"stage": "image", "height": 8, "width": 12, "patch": 4, "channels": 3}, "seq": 7, "d_model": 20, "to": 12,
                  "heads": 5, "kv_heads": 5, "norm": "pre", "final_norm": True}),
    "frames": ({"kv_heads": 1, "positions": "sinusoidal"},
               {"input": {"stage": "linear", "from": 6}, "seq": 70, "positions": "relative_key", "layers": 1, "kv_heads": 3}),
}
CONTEXT, MOST_SOURCE = 20, 16


def make(name):
    """The arrays and the metadata of a case."""
    more, of_encoder = KEYS[name]
    d = {**BASE, **more}
    encoder = {"input": {"stage": "tokens", "vocab": 12}, **of_encoder}
    given = Drawn(f"sources/{name}")
    logits = evaluate({**d, "batch": SEQUENCES, "seq": TOKENS,
                       "memory": {"stage": "encoder", **({"seq": SOURCE} | encoder)}}, given)["logits"]
    arrays = {**given.weights, **{"input/" + key: value for key, value in given.inputs.items()},
              "expected/logits": logits.astype("float32")}
    described = {"name": "reader", "context": CONTEXT, "sequences": SEQUENCES, "chunk": 8, **d,
                 "memory": {"stage": "encoder", **({"seq": {"stage": "any", "": MOST_SOURCE}} | encoder)}}
    text = describe(described, {}).replace("any {  = %d }" % MOST_SOURCE, "any(%d)" % MOST_SOURCE)
    return arrays, {"description": text.replace("-- \n", f"-- an encoder beside a decoder that goes on: {name}\n")}


def by_torch(arrays):
    """The logits of the case "post", by the layers of nn.Transformer, without its two last norms."""
    import torch
    from torch import nn
    width, heads, d_ff = BASE["d_model"], BASE["heads"], BASE["d_ff"]
    kinds = {"norm1": "norm1", "norm2": "norm2", "linear1": "ff.up", "linear2": "ff.down", "self_attn.out_proj": "attn.out"}
    of_decoder = {**kinds, "norm2": "norm_cross", "norm3": "norm2", "multihead_attn.out_proj": "cross.out"}

    def filled(module, prefix, kinds, attentions):
        values = {f"{theirs}.{part}": arrays[f"{prefix}.{ours}.{part}"]
                  for theirs, ours in kinds.items() for part in ("weight", "bias")}
        for theirs, ours in attentions.items():
            for part in ("weight", "bias"):
                values[f"{theirs}.in_proj_{part}"] = np.concatenate(
                    [arrays[f"{prefix}.{ours}.{each}.{part}"] for each in "qkv"])
        module.load_state_dict({key: torch.tensor(value.astype(float)) for key, value in values.items()})
        return module.double().eval()

    def embedded(prefix, name):
        ids = arrays["input/" + name]
        rows = np.array([sinusoid(i, width) for i in range(ids.shape[1])])
        return torch.tensor(arrays[prefix + "input.tokens.weight"].astype(float)[ids] + rows)

    memory, x = embedded("encoder.", "source_ids"), embedded("", "ids")
    future = torch.triu(torch.ones(TOKENS, TOKENS, dtype=torch.bool), 1)
    options = {"activation": "relu", "batch_first": True}
    with torch.no_grad():
        for i in range(BASE["layers"]):
            memory = filled(nn.TransformerEncoderLayer(width, heads, d_ff, 0.0, **options), f"encoder.l{i}", kinds,
                            {"self_attn": "attn"})(memory)
        for i in range(BASE["layers"]):
            x = filled(nn.TransformerDecoderLayer(width, heads, d_ff, 0.0, **options), f"l{i}", of_decoder,
                       {"self_attn": "attn", "multihead_attn": "cross"})(x, memory, tgt_mask=future)
        return (x @ torch.tensor(arrays["input.tokens.weight"].astype(float)).T).numpy()


def main():
    parser = argparse.ArgumentParser(description="encoders beside decoders, with their logits")
    parser.add_argument("--check", action="store_true", help="compare with the stored cases")
    parser.add_argument("--torch", action="store_true", help="compare one with PyTorch")
    options, wrong = parser.parse_args(), 0
    if options.torch:
        arrays = make("post")[0]
        apart = difference(arrays["expected/logits"], by_torch(arrays))
        print(f"post: PyTorch's logits differ by {apart:.3g} of the largest")
        return 0 if apart <= TOLERANCE else 1
    CASES.mkdir(exist_ok=True)
    for name in KEYS:
        path, case = CASES / f"{name}.safetensors", make(name)
        if not options.check:
            path.write_bytes(pack(*case))
        elif not path.is_file() or not same(unpack(path.read_bytes()), case):
            wrong += 1
            print(f"{path}: differs", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
