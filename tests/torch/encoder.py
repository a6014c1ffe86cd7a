#!/usr/bin/env python3
"""Makes the goldens of tests/torch/goldens from PyTorch's own TransformerEncoder.

Each case is one directory: a description for attn2c, a checkpoint with
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

import argparse
import io
import sys
import zlib
from pathlib import Path

import numpy as np
import safetensors.numpy
import torch
import torch.nn.functional as F
from torch import nn

GOLDENS = Path(__file__).resolve().parent / "goldens"

# PyTorch's last bits depend on the processor; stored outputs may differ by this.
TOLERANCE = 1e-5

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
        "description": {
            "batch": 2, "seq": 17, "d_model": 60, "heads": 3, "layers": 2, "d_ff": 45,
            "activation": "relu", "norm": "post", "final_norm": False,
        },
    },
    "torch_prenorm9": {
        "about": "pre-norm with a norm after the stack, heads three wide, a large eps",
        "description": {
            "batch": 2, "seq": 9, "d_model": 33, "heads": 11, "layers": 3, "d_ff": 47,
            "activation": "gelu", "norm": "pre", "eps": 1e-3, "final_norm": True,
        },
    },
    "torch_causal70": {
        "about": "causal, longer than one block of 64",
        "description": {
            "batch": 1, "seq": 70, "d_model": 80, "heads": 4, "layers": 1, "d_ff": 48,
            "activation": "relu", "norm": "post", "final_norm": False, "mask": "causal",
        },
    },
    "torch_window33": {
        "about": "each position sees 3 before it, itself and 5 after it",
        "description": {
            "batch": 2, "seq": 33, "d_model": 48, "heads": 4, "layers": 2, "d_ff": 50,
            "activation": "gelu_tanh", "norm": "post", "final_norm": False,
            "mask": {"window": (3, 5)},
        },
    },
    "torch_causal_window29": {
        "about": "causal and no further back than 6",
        "description": {
            "batch": 1, "seq": 29, "d_model": 36, "heads": 2, "layers": 2, "d_ff": 52,
            "activation": "relu", "norm": "pre", "final_norm": True,
            "mask": {"causal": True, "window": (6, 0)},
        },
    },
    "torch_padding21": {
        "about": "sequences of different lengths; padded rows are computed too",
        "description": {
            "batch": 3, "seq": 21, "d_model": 40, "heads": 2, "layers": 2, "d_ff": 72,
            "activation": "gelu", "norm": "post", "final_norm": False, "mask": "padding",
        },
        "lengths": [21, 5, 1],
    },
    "torch_nobias5": {
        "about": "no bias anywhere, one head",
        "description": {
            "batch": 2, "seq": 5, "d_model": 20, "heads": 1, "layers": 2, "d_ff": 31,
            "activation": "silu", "norm": "pre", "bias": False, "final_norm": False,
        },
    },
    "torch_single1": {
        "about": "one layer, one position",
        "description": {
            "batch": 2, "seq": 1, "d_model": 16, "heads": 2, "layers": 1, "d_ff": 24,
            "activation": "relu", "norm": "post", "final_norm": False,
        },
    },
}


def make_encoder(description):
    """The encoder that PyTorch has for a description, with untouched weights."""
    d = description
    eps, bias = d.get("eps", 1e-5), d.get("bias", True)
    layer = nn.TransformerEncoderLayer(
        d["d_model"], d["heads"], d["d_ff"], dropout=0.0,
        activation=ACTIVATIONS[d["activation"]], layer_norm_eps=eps,
        batch_first=True, norm_first=d["norm"] == "pre", bias=bias)
    norm = nn.LayerNorm(d["d_model"], eps, bias=bias) if d["final_norm"] else None
    encoder = nn.TransformerEncoder(layer, d["layers"], norm, enable_nested_tensor=False)
    return encoder.eval()


def randomise(encoder, rng):
    """Gives each weight random values; sharper queries and keys make masks show."""
    weights = {}
    for name, tensor in encoder.state_dict().items():
        shape = tuple(tensor.shape)
        values = rng.standard_normal(shape)
        if len(shape) == 2:
            values /= np.sqrt(shape[1])
            if name.endswith("in_proj_weight"):
                values[: 2 * shape[1]] *= 1.5
        else:
            values *= 0.3
            if "norm" in name and name.endswith("weight"):
                values += 1.0
        weights[name] = values.astype(np.float32)
    encoder.load_state_dict({name: torch.from_numpy(w) for name, w in weights.items()})
    return weights


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
    return outside | (key > query) if mask.get("causal") else outside


def lua(value):
    """A value of a description as Lua source."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, dict):     # a mask
        causal = '"causal", ' if value.get("causal") else ""
        left, right = value["window"]
        return f"{{ {causal}window = {{ {left}, {right} }} }}"
    return repr(value)


def describe(name, case):
    """The text of description.lua."""
    keys = {"name": name, **case["description"], "names": "torch"}
    lines = [f"  {key} = {lua(value)}," for key, value in keys.items()]
    return "\n".join([
        f"-- A golden made by tests/torch/encoder.py: {case['about']}.",
        "return {", *lines, "}", ""])


def npy(array):
    """The bytes of an array as a .npy file."""
    file = io.BytesIO()
    np.save(file, np.ascontiguousarray(array))
    return file.getvalue()


def make(name, case):
    """All files of a case, as {file name: bytes}."""
    description = case["description"]
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    encoder = make_encoder(description)
    weights = randomise(encoder, rng)
    shape = tuple(description[key] for key in ("batch", "seq", "d_model"))
    hidden = rng.standard_normal(shape).astype(np.float32)
    files = {
        "description.lua": describe(name, case).encode(),
        "model.safetensors": safetensors.numpy.save(weights),
        "hidden.npy": npy(hidden),
    }

    padding = None
    if "lengths" in case:
        lengths = np.array(case["lengths"], np.int32)
        files["lengths.npy"] = npy(lengths)
        padding = torch.arange(shape[1])[None, :] >= torch.from_numpy(lengths)[:, None]

    with torch.no_grad():
        output = encoder(torch.from_numpy(hidden), mask=blocked(description),
                         src_key_padding_mask=padding)
    assert output.shape == shape and torch.isfinite(output).all()
    files["expected_hidden.npy"] = npy(output.numpy())
    return files


def compare(path, made):
    """None if the stored file is what would be written, or what is wrong with it."""
    if not path.is_file():
        return "missing"
    stored = path.read_bytes()
    if stored == made:
        return None
    if not path.name.startswith("expected_"):
        return "differs"
    a, b = np.load(io.BytesIO(stored)), np.load(io.BytesIO(made))
    if a.shape != b.shape or a.dtype != b.dtype:
        return "differs in shape or type"
    error = float(np.abs(a - b).max())
    return None if error <= TOLERANCE else f"differs by {error:.3g}"


def main():
    parser = argparse.ArgumentParser(description="goldens from torch.nn.TransformerEncoder")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="default: all of " + ", ".join(CASES))
    parser.add_argument("--check", action="store_true", help="compare with the stored files")
    parser.add_argument("--out", type=Path, default=GOLDENS, help="default: goldens beside this file")
    options = parser.parse_args()
    unknown = [name for name in options.cases if name not in CASES]
    if unknown:
        parser.error("no such case: " + ", ".join(unknown))

    # PyTorch's fast path is another program with other rounding.
    torch.backends.mha.set_fastpath_enabled(False)
    torch.set_num_threads(1)

    wrong = 0
    for name in options.cases or CASES:
        files = make(name, CASES[name])
        folder = options.out / name
        if options.check:
            faults = {file: compare(folder / file, made) for file, made in files.items()}
            faults = {file: fault for file, fault in faults.items() if fault}
            for file, fault in faults.items():
                print(f"{folder / file}: {fault}", file=sys.stderr)
            wrong += len(faults)
            print(f"{name:24} {'differs' if faults else 'same'}")
        else:
            folder.mkdir(parents=True, exist_ok=True)
            for file, made in files.items():
                (folder / file).write_bytes(made)
            print(f"{name:24} {sum(map(len, files.values())):7} bytes")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
