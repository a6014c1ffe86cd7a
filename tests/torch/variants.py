#!/usr/bin/env python3
"""Makes goldens of tests/torch/goldens for kinds of attention: scoring, positions, masks.

Small stacks on hidden states, or a single attention, that differ in how scores are made,
turned into weights, moved by positions, and masked. Each is written down from its paper's
definition with the parts of definition.py, in double, and rounded once. Weights have
attn2c's own names.

    variants.py            writes all cases (the same bytes each time)
    variants.py --check    writes nothing; exit 1 if the stored files differ
    variants.py CASE ...   only these cases

goldens.py says what a case consists of. Run with Python 3.11, torch 2.15.0, numpy 2.4.6,
safetensors 0.8.0.
"""

import math
import sys

import numpy as np
import torch

from definition import (attention, causal, padding, pairs, prefix, rope_halves, rope_pairs,
                        sinusoidal, softmax, stack, window)
from goldens import Table, main, qkv, tokens

SMALL = {"batch": 2, "seq": 17, "d_model": 30, "heads": 3, "layers": 1, "d_ff": 20}
DEEP = {**SMALL, "layers": 2}
LONG = {"batch": 1, "seq": 70, "d_model": 30, "heads": 3, "layers": 1, "d_ff": 20}
ALONE = {"layers": 1, "d_ff": 0, "norm": "none", "residual": False}
T5 = {"activation": "relu", "norm": "pre", "norm_kind": "rms", "eps": 1e-6, "final_norm": True,
      "bias": False, "scale": False, "positions": "t5"}

# lengths: the input of a padding mask. empty: queries whose every key is blocked.
CASES = {
    # Positions
    "alibi_causal4": {
        "about": "ALiBi, causal, four heads nine wide",
        "expect": "states",
        "description": {**LONG, "d_model": 36, "heads": 4, "positions": "alibi", "mask": "causal"},
    },
    "alibi_heads3": {
        "about": "ALiBi to both sides, three heads: no power of two",
        "expect": "states", "description": {**SMALL, "positions": "alibi"},
    },
    "alibi_heads6": {
        "about": "ALiBi with six heads and padding",
        "expect": "states", "lengths": [17, 6],
        "description": {**DEEP, "heads": 6, "positions": "alibi", "mask": "padding"},
    },
    "alibi_past": {
        "about": "ALiBi after a past",
        "expect": "states",
        "description": {**SMALL, "seq": 5, "past": 12, "positions": "alibi", "mask": "causal"},
    },
    "rope_halves70": {
        "about": "rotary positions as in Hugging Face's Llama",
        "expect": "states", "description": {**LONG, "batch": 2, "positions": "rope"},
    },
    "rope_halves_partial": {
        "about": "rotary positions on 6 of 10 dimensions, causal (GPT-NeoX)",
        "expect": "states",
        "description": {**SMALL, "positions": "rope", "rope_dim": 6, "mask": "causal"},
    },
    "rope_pairs": {
        "about": "rotary positions of neighbours, theta 500, 4 of 10 dimensions (GPT-J)",
        "expect": "states",
        "description": {**DEEP, "positions": "rope", "rope_style": "pairs", "rope_theta": 500, "rope_dim": 4},
    },
    "rope_pairs_past": {
        "about": "the same on all dimensions, after a past; new keys come out rotated",
        "expect": "states",
        "description": {**DEEP, "seq": 8, "past": 9, "positions": "rope", "rope_style": "pairs",
                        "mask": "causal"},
    },
    "t5_bidirectional": {
        "about": "T5's buckets to both sides, unscaled, over more than a block",
        "expect": "states", "description": {**LONG, "layers": 2, **T5},
    },
    "t5_far": {
        "about": "distances beyond T5's largest, 200 positions",
        "expect": "states",
        "description": {"batch": 1, "seq": 200, "d_model": 20, "heads": 2, "layers": 1, "d_ff": 12, **T5},
    },
    "t5_causal": {
        "about": "T5's buckets of a causal stack, few and near",
        "expect": "states",
        "description": {**LONG, **T5, "t5_buckets": 10, "t5_distance": 20, "mask": "causal"},
    },
    "t5_scaled": {
        "about": "T5's table added to scores that are scaled",
        "expect": "states",
        "description": {**DEEP, "positions": "t5", "t5_buckets": 8, "t5_distance": 12},
    },
    "sinusoidal_odd": {
        "about": "sinusoidal positions on an odd width",
        "expect": "states", "description": {**SMALL, "d_model": 33, "positions": "sinusoidal"},
    },
    "learned_more": {
        "about": "a learned table of more positions than there are",
        "expect": "states",
        "description": {**SMALL, "input": tokens(vocab=50), "positions": "learned", "max_position": 40},
    },
    # Scoring and weighting
    "additive_scoring": {
        "about": "Bahdanau's additive scores, unscaled, more keys than queries",
        "expect": "single", "description": {
            "batch": 1, "seq": 17, "key_seq": 70, "d_model": 36, "heads": 3, **ALONE, "input": qkv(),
            "scoring": "additive", "scale": False, "attention_output": "heads"},
    },
    "additive_padding": {
        "about": "additive scores, causal, sequences of different lengths",
        "expect": "states", "lengths": [17, 5],
        "description": {**DEEP, "scoring": "additive", "scale": False, "mask": Table("causal", "padding")},
    },
    "additive_scaled": {
        "about": "additive scores, one head, times 1.7, in a window over two blocks",
        "expect": "states",
        "description": {**LONG, "heads": 1, "scoring": "additive", "scale": 1.7, "mask": Table(window=(9, 4))},
    },
    "softcap70": {
        "about": "scores bent to a cap before a causal mask and a window, as in Gemma 2",
        "expect": "states",
        "description": {**LONG, "softcap": 1.5, "mask": Table("causal", window=(20, 9))},
    },
    "relu_weights": {
        "about": "max(scale s, 0) in place of softmax, causal; the weights too",
        "expect": "states",
        "description": {**DEEP, "weighting": "relu", "mask": "causal", "attention_output": "heads"},
    },
    "relu_weights70": {
        "about": "the same with ignored keys, longer than a block",
        "expect": "states", "description": {**LONG, "weighting": "relu", "scale": 0.05, "mask": "key_padding"},
    },
    "linear_weights": {
        "about": "scale s itself as the weight, sequences of different lengths",
        "expect": "states", "lengths": [17, 4],
        "description": {**SMALL, "weighting": "none", "scale": 0.1, "mask": "padding"},
    },
    "linear_weights70": {
        "about": "the same, causal, longer than a block; the mean weights too",
        "expect": "states",
        "description": {**LONG, "weighting": "none", "scale": 0.02, "mask": "causal",
                        "attention_output": "mean"},
    },
    "scale_odd": {
        "about": "a scale of no power of two",
        "expect": "states", "description": {**SMALL, "scale": 0.7071, "mask": "causal"},
    },
    # Masks
    "prefix70": {
        "about": "the first nine keys seen by all, the others causal, longer than a block",
        "expect": "states", "prefix": 9, "description": {**LONG, "mask": "prefix", "prefix": 9},
    },
    "prefix_long": {
        "about": "a prefix that reaches into the second block",
        "expect": "states", "prefix": 66, "description": {**LONG, "mask": Table(prefix=66)},
    },
    "prefix_key_padding": {
        "about": "a prefix, and ignored keys in it",
        "expect": "states", "prefix": 5, "description": {**SMALL, "mask": Table("key_padding", prefix=5)},
    },
    "causal_window70": {
        "about": "causal, and no further back than 20",
        "expect": "states", "description": {**LONG, "mask": Table("causal", window=(20, 3))},
    },
    "causal_key_additive": {
        "about": "causal, ignored keys and a float mask",
        "expect": "states", "description": {**DEEP, "mask": Table("causal", "key_padding", "additive")},
    },
    "blocked_heads_both": {
        "about": "pairs blocked for all, more for single heads, a bias for single heads",
        "expect": "states",
        "description": {**SMALL, "mask": Table("blocked", "blocked_heads", "additive_heads")},
    },
    "window_padding": {
        "about": "a window and padding: queries far beyond the end see nothing, get zeros",
        "expect": "states", "lengths": [40, 7, 1],
        "description": {**DEEP, "batch": 3, "seq": 40, "mask": Table("padding", window=(2, 3))},
    },
    "empty_zero": {
        "about": "rows without a key in a whole stack: zeros in place of weights",
        "expect": "states", "empty": [0, 7, 16],
        "description": {**DEEP, "mask": "blocked", "fully_masked": "zero", "attention_output": "mean"},
    },
    "empty_nan": {
        "about": "rows without a key: NaN, in these rows only",
        "expect": "states", "empty": [0, 7, 16], "not_finite": True,
        "description": {**SMALL, "mask": "blocked", "fully_masked": "nan",
                        "attention_output": "heads"},
    },
    "empty_nan_key_padding": {
        "about": "a sequence whose every key is ignored: NaN; the other sequence is whole",
        "expect": "states", "all_ignored": 1, "not_finite": True,
        "description": {**DEEP, "mask": "key_padding", "fully_masked": "nan"},
    },
}


def alibi(heads, queries, offset):
    """Press et al. 2022: -m_h |i - j|, with their rule for head counts that are no power of two."""
    def slopes(count):
        power = 2 ** math.floor(math.log2(count))
        first = [2.0 ** (-8 * (h + 1) / power) for h in range(power)]
        return first if power == count else first + slopes(2 * power)[0::2][:count - power]
    i, j = pairs(queries, offset=offset)
    return -torch.tensor(slopes(heads)).double()[:, None, None] * (i - j).abs()


def t5_bucket(distance, bidirectional, buckets, largest):
    """Raffel et al. 2020, as Hugging Face's T5Attention has it; distance is key minus query."""
    bucket = torch.zeros_like(distance)
    if bidirectional:
        buckets //= 2
        bucket = bucket + (distance > 0) * buckets
        distance = distance.abs()
    else:
        distance = -distance.clamp(max=0)
    exact = buckets // 2
    far = exact + (torch.log(distance.float() / exact) / math.log(largest / exact)
                   * (buckets - exact)).nan_to_num(neginf=0).long()
    return bucket + torch.where(distance < exact, distance, far.clamp(max=buckets - 1))


def t5(golden, d, is_causal):
    """[heads][S][S], the same in all layers."""
    buckets, largest = d.get("t5_buckets", 32), d.get("t5_distance", 128)
    table = golden.weight("positions.bias.weight", buckets, d["heads"])
    i, j = pairs(d["seq"])
    return table[t5_bucket(j - i, not is_causal, buckets, largest)].permute(2, 0, 1)


def additive(golden, d, path):
    """Bahdanau et al. 2015: v . tanh(q + k) in each head."""
    width = d["d_model"] // d["heads"]
    vector = golden.weight(path + ".score.weight", d["heads"], width, deviation=2 * width ** -0.5)

    def scores(q, k):
        return ((q[:, :, :, None] + k[:, :, None, :]).tanh() * vector[:, None, None, :]).sum(-1)

    return scores


def masks(golden, case, keys):
    """(blocked, bias) of all the words of a mask."""
    d = case["description"]
    mask = d.get("mask", "none")
    mask = mask if isinstance(mask, Table) else Table(mask)
    batch, heads, seq = d["batch"], d["heads"], d["seq"]
    blocked, bias = torch.zeros(seq, keys, dtype=torch.bool), 0.0
    if "causal" in mask:
        blocked = blocked | causal(seq, offset=d.get("past", 0))
    if "prefix" in mask:
        blocked = blocked | prefix(seq, case["prefix"])
    if "window" in mask:
        blocked = blocked | window(seq, *mask["window"])
    if "padding" in mask:
        blocked = blocked | padding(golden.input("lengths", np.array(case["lengths"])), keys)
    if "key_padding" in mask:
        ignored = golden.chosen("key_padding", 0.4, batch, keys)
        ignored[:, 0] = False
        if "all_ignored" in case:
            ignored[case["all_ignored"]] = True
        blocked = blocked | golden.input("key_padding", ignored)[:, None, None, :]
    for word, name, shape in (("blocked", "blocked", (seq, keys)),
                              ("blocked_heads", "head_blocked", (batch, heads, seq, keys))):
        if word in mask:
            chosen = golden.chosen(name, 0.3, *shape)
            chosen[..., 2] = False
            chosen[..., case.get("empty", []), :] = True
            blocked = blocked | golden.input(name, chosen)
    if "additive" in mask:
        bias = bias + golden.normal("mask_bias", seq, keys, deviation=2.0)
    if "additive_heads" in mask:
        bias = bias + golden.normal("head_bias", batch, heads, seq, keys, deviation=2.0)
    return blocked, bias


def rotation(d):
    """The rotary positions of a description, or None."""
    if d.get("positions") != "rope":
        return None
    turn = {"halves": rope_halves, "pairs": rope_pairs}[d.get("rope_style", "halves")]
    return turn(float(d.get("rope_theta", 10000)), d.get("rope_dim"), d.get("past", 0))


WEIGHTINGS = {
    ("softmax", "zero"): softmax,
    ("softmax", "nan"): lambda s: s.softmax(-1),
    ("relu", "zero"): lambda s: s.clamp(min=0.0),
    ("none", "zero"): lambda s: s.masked_fill(s == -torch.inf, 0.0),
}


def weigh(d):
    return WEIGHTINGS[d.get("weighting", "softmax"), d.get("fully_masked", "zero")]


def shown(d, weights):
    """The attention weights as an output wants them."""
    return weights.mean(1) if d["attention_output"] == "mean" else weights


def first_states(golden, d):
    if "input" in d:
        ids = golden.integers("ids", d["input"]["vocab"], d["batch"], d["seq"])
        x = golden.weight("input.tokens.weight", d["input"]["vocab"], d["d_model"])[ids]
    else:
        x = golden.normal("hidden", d["batch"], d["seq"], d["d_model"])
    if d.get("positions") == "sinusoidal":
        x = x + sinusoidal(d["seq"], d["d_model"])
    elif d.get("positions") == "learned":
        x = x + golden.weight("input.positions.weight", d["max_position"], d["d_model"])[: d["seq"]]
    return x


def states(case, golden):
    """A stack of such attentions and feed-forwards."""
    d = case["description"]
    past = d.get("past", 0)
    x = first_states(golden, d)
    blocked, bias = masks(golden, case, past + d["seq"])
    if d.get("positions") == "alibi":
        bias = bias + alibi(d["heads"], d["seq"], past)
    if d.get("positions") == "t5":
        bias = bias + t5(golden, d, d.get("mask") == "causal")
    outputs = {}

    def attend(layer, path, y):
        more, seen = {}, {}
        if d.get("scoring") == "additive":
            more["scores"] = additive(golden, d, path)
        if past:
            shape = d["batch"], past, d["d_model"]
            more["past"] = [golden.normal(f"past_{what}_{layer}", *shape) for what in ("keys", "values")]
        result = attention(golden, d, path, y, blocked=blocked, bias=bias, rotate=rotation(d),
                           weigh=weigh(d), seen=seen, **more)
        if past:
            outputs[f"keys_{layer}"], outputs[f"values_{layer}"] = seen["keys"], seen["values"]
        if "attention_output" in d:
            outputs[f"attention_{layer}"] = shown(d, seen["weights"])
        return result

    return outputs | {"hidden": stack(golden, d, x, attend)}


def single(case, golden):
    """One additive attention from a query to a key, and a value of its own."""
    d = case["description"]
    shape = d["batch"], d["key_seq"], d["d_model"]
    query = golden.normal("query", d["batch"], d["seq"], d["d_model"])
    key, value = golden.normal("key", *shape), golden.normal("value", *shape)
    seen = {}
    result = attention(golden, d, "l0.attn", query, key, value, seen=seen,
                       scores=additive(golden, d, "l0.attn"))
    return {"hidden": result, "attention_0": shown(d, seen["weights"])}


if __name__ == "__main__":
    sys.exit(main("variants.py", CASES, globals()))
