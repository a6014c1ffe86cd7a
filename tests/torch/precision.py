#!/usr/bin/env python3
"""Makes goldens of tests/torch/goldens of models whose products are of bf16 or int8.

What `precision` means, in plain lines of torch and in double: the operands of a product are rounded, and nothing else.
bf16 is torch's own .to(bfloat16). In int8 a row of activations, and the weights of an output, have as their scale the
largest magnitude by 127. Weights have attn2c's own names.

Two correct programs whose sums differ in the last bit of f32 may round a number to different steps, and their outputs
then differ by steps. So every number carries a bound of what f32 may make of it (bounded.py), and weights and inputs
are drawn until the bound of all outputs is within ALLOWED: the steps in doubt are then so few and so small that the
outputs are known as closely as those in f32, and torch_spec judges both alike. Without the roundings the outputs must
be off by much more, or the case says nothing.

    precision.py            writes all cases (the same bytes each time)
    precision.py --check    writes nothing; exit 1 if the stored files differ
    precision.py CASE ...   only these cases

goldens.py says what a case consists of. Run with Python 3.11, torch 2.15.0, numpy 2.4.6,
safetensors 0.8.0.
"""

import sys

import numpy as np
import torch

import bounded
from bounded import Bounded
from definition import causal, join, padding, split, window
from goldens import Table, linear, main, pool

ALLOWED = 1e-4      # of an output: as torch_spec allows a stack of layers
TELLS = 30          # times that without roundings
MOST_DRAWS = 20000

SMALL = {"batch": 1, "seq": 5, "d_model": 12, "heads": 2, "layers": 2, "d_ff": 10}
BF16 = Table("bf16", attention="bf16")

# lengths: the input of a padding mask.
CASES = {
    "bf16_post": {
        "about": "bf16, norms after the layers, gelu, padding, a linear layer on the mean",
        "expect": "rounded", "lengths": [4],
        "description": {
            **SMALL, "activation": "gelu", "norm": "post", "mask": "padding", "precision": BF16,
            "output": [pool("mean"), linear(to=5, name="logits")],
        },
    },
    "bf16_causal_pre": {
        "about": "bf16, norms before the layers, causal, relu",
        "expect": "rounded",
        "description": {
            **SMALL, "activation": "relu", "norm": "pre", "final_norm": True, "mask": "causal", "precision": BF16,
        },
    },
    "bf16_window_gated": {
        "about": "bf16, a window, a gated silu, fewer heads of keys",
        "expect": "rounded",
        "description": {
            **SMALL, "d_model": 16, "heads": 4, "kv_heads": 2, "activation": "silu", "gated": True, "norm": "pre",
            "mask": Table("causal", window=(2, 0)), "precision": BF16,
        },
    },
    "bf16_cross": {
        "about": "bf16, cross-attention to a memory of a width of its own, gelu",
        "expect": "rounded",
        "description": {
            **SMALL, "layers": 1, "activation": "gelu", "norm": "post", "mask": "causal",
            "memory": Table(seq=6, width=14), "precision": BF16,
        },
    },
    "bf16_wide": {
        "about": "bf16, wide enough for tiles of AMX, causal, gelu",
        "expect": "rounded",
        "description": {
            **SMALL, "seq": 3, "d_model": 32, "d_ff": 34, "layers": 1, "activation": "gelu", "norm": "post",
            "mask": "causal", "precision": BF16,
        },
    },
    "int8_wide": {
        "about": "int8, wide enough for tiles of AMX, causal, relu",
        "expect": "rounded",
        "description": {
            **SMALL, "seq": 2, "d_model": 64, "heads": 16, "d_ff": 67, "layers": 1, "activation": "relu", "norm": "pre",
            "mask": "causal", "precision": Table("int8", attention="f32"),
        },
    },
    "int8_post": {
        "about": "int8, a norm after the layer, gelu, padding, attention in f32",
        "expect": "rounded", "lengths": [4],
        "description": {
            **SMALL, "layers": 1, "activation": "gelu", "norm": "post", "mask": "padding",
            "precision": Table("int8", attention="f32"),
            "output": [pool("mean"), linear(to=5, name="logits")],
        },
    },
    "int8_causal_pre": {
        "about": "int8, a norm before the layer, attention in bf16, feed-forward in f32",
        "expect": "rounded",
        "description": {
            **SMALL, "layers": 1, "activation": "relu", "norm": "pre", "final_norm": True, "mask": "causal",
            "precision": Table("int8", attention="bf16", ff="f32"),
        },
    },
    "int8_attention": {
        "about": "attention in int8, padding, keys without their mean, feed-forward in f32",
        "expect": "rounded", "lengths": [4],
        "description": {
            **SMALL, "layers": 1, "activation": "relu", "norm": "pre", "final_norm": True, "mask": "padding",
            "precision": Table("int8", attention="int8", ff="f32"),
        },
    },
}


class Model:
    """The parts of a model with the number types of a description's `precision`; all of f32 where not `rounds`."""

    def __init__(self, golden, d, rounds):
        self.golden, self.d, self.rounds = golden, d, rounds

    def type_of(self, part):
        given = self.d["precision"]
        return given.get(part, given.items[0]) if self.rounds else "f32"

    def weight(self, path, *shape, **drawn):
        return Bounded(self.golden.weight(path, *shape, **drawn))

    def linear(self, part, path, x, width):
        """x W^T + b with operands of the part's type."""
        inputs = x.value.shape[-1]
        w = self.weight(path + ".weight", width, inputs, deviation=inputs ** -0.5)
        bias = self.weight(path + ".bias", width, deviation=0.3)
        if self.type_of(part) == "int8":
            (x, of_rows), (w, of_outputs) = bounded.to_int8(x), bounded.to_int8(w)
            sums = bounded.integers(x, w.map(lambda t: t.T))
            return sums * of_rows * of_outputs.map(lambda t: t.T) + bias
        if self.type_of(part) == "bf16":
            x, w = bounded.to_bf16(x), bounded.to_bf16(w)
        return bounded.product(x, w.map(lambda t: t.T)) + bias

    def norm(self, path, x):
        width = x.value.shape[-1]
        gain = self.golden.weight(path + ".weight", width, mean=1.0, deviation=0.3)
        return bounded.layer_norm(x, gain, self.golden.weight(path + ".bias", width, deviation=0.3), 1e-5)

    def attention(self, path, x, source, blocked):
        heads, width = self.d["heads"], self.d["d_model"] // self.d["heads"]
        kv_heads = self.d.get("kv_heads", heads)
        q = self.linear("qkv", path + ".q", x, heads * width).map(lambda t: split(t, heads))
        k, v = (self.linear("qkv", path + part, source, kv_heads * width)
                .map(lambda t: split(t, kv_heads).repeat_interleave(heads // kv_heads, 1)) for part in (".k", ".v"))
        if self.type_of("attention") == "int8":
            context = self.integer_context(q, k, v, width ** -0.5, blocked)
            return self.linear("out", path + ".out", context.map(join), self.d["d_model"])
        rounds = bounded.to_bf16 if self.type_of("attention") == "bf16" else lambda t: t
        scores = bounded.product(rounds(q), rounds(k).map(lambda t: t.mT))
        weights = rounds(bounded.softmax(scores, width ** -0.5, blocked))
        context = bounded.product(weights, rounds(v)).map(join)
        return self.linear("out", path + ".out", context, self.d["d_model"])

    def integer_context(self, q, k, v, scale, blocked):
        """Rows of queries and keys, and columns of values, as integers with a scale each; weights from 0 to 255. Where
        each query sees all keys of its sequence, these come without their mean."""
        if self.d["mask"] == "padding":
            kept = int((~blocked).sum(-1).max())
            k, v = (each.map(lambda t: t[..., :kept, :]) for each in (k, v))
            blocked, k = blocked[..., :kept], bounded.centred(k)
        (q, of_queries), (k, of_keys) = bounded.to_int8(q), bounded.to_int8(k)
        v, of_columns = (each.map(lambda t: t.mT) for each in bounded.to_int8(v.map(lambda t: t.mT)))
        scores = bounded.integers(q, k.map(lambda t: t.mT)) * of_queries * of_keys.map(lambda t: t.mT)
        weights = bounded.to_bytes(scores, scale, blocked)
        return bounded.integers(weights, v) * bounded.reciprocal_of_sum(weights) * of_columns

    def feed_forward(self, path, x):
        def up(part):
            return self.linear("ff", f"{path}.{part}", x, self.d["d_ff"])

        name = self.d["activation"]
        y = bounded.activation(name, up("gate")) * up("up") if self.d.get("gated") else \
            bounded.activation(name, up("up"))
        return self.linear("ff", path + ".down", y, self.d["d_model"])

    def sublayer(self, path, x, part):
        if self.d["norm"] == "pre":
            return x + part(self.norm(path, x))
        return self.norm(path, x + part(x))


def blocked_of(case, golden):
    """True where a query may not see a key."""
    d, mask = case["description"], case["description"]["mask"]
    if mask == "padding":
        return padding(golden.input("lengths", np.array(case["lengths"])), d["seq"])
    if mask == "causal":
        return causal(d["seq"])
    return causal(d["seq"]) | window(d["seq"], *mask["window"])


def outputs_of(case, golden, rounds):
    d = case["description"]
    model = Model(golden, d, rounds)
    x = Bounded(golden.normal("hidden", d["batch"], d["seq"], d["d_model"]))
    blocked, memory = blocked_of(case, golden), None
    if "memory" in d:
        memory = Bounded(golden.normal("memory", d["batch"], d["memory"]["seq"], d["memory"]["width"]))
    for layer in range(d["layers"]):
        path = f"l{layer}"
        x = model.sublayer(path + ".norm1", x, lambda y: model.attention(path + ".attn", y, y, blocked))
        if memory:
            sees_all = torch.zeros(1, 1, dtype=torch.bool)
            x = model.sublayer(path + ".norm_cross", x,
                               lambda y: model.attention(path + ".cross", y, memory, sees_all))
        x = model.sublayer(path + ".norm2", x, lambda y: model.feed_forward(path + ".ff", y))
    if d.get("final_norm"):
        x = model.norm("final_norm", x)
    if "output" not in d:
        return {"hidden": x}
    kept = case["lengths"][0]  # of the only sequence
    pooled = bounded.mean(x.map(lambda t: t[:, :kept]))
    return {"logits": model.linear("output", "output.2.linear", pooled, 5)}


def rounded(case, golden):
    """The outputs of the first draw whose bound is within ALLOWED."""
    for draw in range(MOST_DRAWS):
        golden.draw(draw)
        outputs = outputs_of(case, golden, True)
        if all(output.error.max() <= ALLOWED for output in outputs.values()):
            break
    else:
        raise SystemExit(f"{golden.name}: no draw is known closely enough")
    for name, plain in outputs_of(case, golden, False).items():
        apart = (plain.value - outputs[name].value).abs().max()
        assert apart > TELLS * ALLOWED, f"{golden.name}: {name} is only {apart:.2g} from f32"
    return {name: output.value for name, output in outputs.items()}


if __name__ == "__main__":
    sys.exit(main("precision.py", CASES, globals()))
