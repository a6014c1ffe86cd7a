"""The options of a description, and which of them cannot stand together.

OPTIONS is one table: option -> {level: what it puts into the description}. A value that is a
function is asked with the sizes drawn so far. The first level of each leaves the key away.
FORBIDDEN lists combinations that the compiler refuses, or that mean nothing, each with its reason.
"""

from itertools import combinations


def stage(kind, /, **fields):
    return {"stage": kind, **fields}


def encoder(**fields):
    return lambda d: {"stage": "encoder", "seq": d["memory_rows"], **{
        key: value(d) if callable(value) else value for key, value in fields.items()}}


OPTIONS = {
    # Sequences taken together: 1 of 1, 1 of 2, 2 of 3 (two groups; the last is moved back), 2 of 2.
    "groups": {"one": {}, "apart": {"batch": 2, "group": 1}, "clamped": {"batch": 3, "group": 2},
               "together": {"batch": 2, "group": 2}},
    "input": {
        "hidden": {},
        "linear": {"input": stage("linear", **{"from": 7})},
        "tokens": {"input": stage("tokens", vocab=11)},
        "types": {"input": stage("tokens", vocab=9, types=3, norm=True)},
        "image": {"input": stage("image", height=4, width=6, patch=2, channels=2)},
        "gray": {"input": stage("image", height=6, width=3, patch=3, channels=1, class_token=False)},
        "qkv": {"input": stage("qkv"), "key_seq": lambda d: d["keys"]},
        "qkv_widths": {"input": stage("qkv"), "key_seq": lambda d: d["keys"], "kdim": lambda d: d["kdim"],
                       "vdim": lambda d: d["vdim"]},
    },
    "layers": {"one": {"layers": 1}, "two": {"layers": 2}},
    "heads": {"two": {"heads": 2}, "one": {"heads": 1}, "three": {"heads": 3}, "four": {"heads": 4}},
    "kv_heads": {"all": {}, "one": {"kv_heads": 1}, "pairs": {"kv_heads": lambda d: d["heads"] // 2}},
    "head_dim": {"divided": {}, "own": {"head_dim": lambda d: d["own_head_dim"]}},
    "d_ff": {"default": {}, "none": {"d_ff": 0}, "odd": {"d_ff": 11}, "gated": {"d_ff": 10, "gated": True}},
    "activation": {"default": {}, **{word: {"activation": word} for word in (
        "relu", "gelu_tanh", "quick_gelu", "silu", "sigmoid", "tanh")}},
    "norm": {"post": {}, "pre": {"norm": "pre"}, "none": {"norm": "none"}, "sandwich": {"norm": "sandwich"},
             "res_post": {"norm": "res_post"}, "pre_ff": {"norm": "pre_ff"}},
    "parallel": {"none": {}, "two_norms": {"parallel": "two_norms"}, "one_norm": {"parallel": "one_norm"}},
    "norm_kind": {"layer": {}, "rms": {"norm_kind": "rms"}},
    "eps": {"default": {}, "large": {"eps": 0.1}},
    "final_norm": {"no": {}, "yes": {"final_norm": True}},
    "residual": {"yes": {}, "no": {"residual": False}},
    "residual_scale": {"one": {}, "own": {"residual_scale": 0.4}},
    "bias": {"all": {}, "none": {"bias": False}, "no_qkv": {"bias": {"qkv": False, "ff": False}},
             "no_out": {"bias": {"out": False, "norm": False}}, "no_up": {"bias": {"up": False}}},
    "projections": {"yes": {}, "no": {"projections": False}, "no_out": {"projections": {"out": False}},
                    "no_qk": {"projections": {"q": False, "k": False}},
                    "no_v": {"projections": {"v": False, "out": True}}},
    "qk_norm": {"none": {}, "heads": {"qk_norm": "heads"}, "all": {"qk_norm": "all"}},
    "scale": {"default": {}, "false": {"scale": False}, "own": {"scale": 0.3}},
    "softcap": {"none": {}, "low": {"softcap": 1.5}},
    "scoring": {"dot": {}, "additive": {"scoring": "additive"}},
    "weighting": {"softmax": {}, "relu": {"weighting": "relu"}, "none": {"weighting": "none"}},
    "fully_masked": {"zero": {}, "nan": {"fully_masked": "nan"}},
    "empty_rows": {"no": {}, "yes": {}},    # of masks that are drawn
    "poison": {"no": {}, "yes": {}},        # NaN in the last token of the first sequence
    "bias_kv": {"no": {}, "yes": {"bias_kv": True}},
    "zero_attn": {"no": {}, "yes": {"zero_attn": True}},
    "attention_output": {
        "none": {}, "heads": {"attention_output": "heads"}, "mean": {"attention_output": "mean"},
        "last_scores": {"attention_output": lambda d: {"kind": "heads", "layers": [d["layers"] - 1], "scores": True}},
        "scores": {"attention_output": {"kind": "none", "scores": True}},
        "unmasked": {"attention_output": {"before_head_mask": True}},
    },
    "head_mask": {"none": {}, "input": {"head_mask": "input"},
                  "constant": {"head_mask": lambda d: [[0.0, 0.5, 1.0, -2.0][-d["heads"] - layer:][:d["heads"]]
                                                       if d["heads"] + layer <= 4 else [1.0, 0.0, 0.5, 1.0]
                                                       for layer in range(d["layers"])]}},
    "past": {"none": {}, "some": {"past": lambda d: d["past_rows"]}},
    "shape": {"all": {}, "causal": {"mask": ["causal"]}, "window": {"mask": ["window"], "window": [1, 1]},
              "causal_window": {"mask": ["causal", "window"], "window": [2, 2]},
              "prefix": {"mask": ["prefix"], "prefix": 3},
              "causal_prefix": {"mask": ["causal", "prefix"], "prefix": 2}},
    "pads": {"none": {}, "padding": {"mask": ["padding"]}, "key_padding": {"mask": ["key_padding"]},
             "both": {"mask": ["padding", "key_padding"]}, "attention_mask": {"mask": ["attention_mask"]}},
    "added": {"none": {}, "key_bias": {"mask": ["key_bias"]}, "additive": {"mask": ["additive"]},
              "heads": {"mask": ["additive_heads", "key_bias"]}},
    "blocked": {"none": {}, "blocked": {"mask": ["blocked"]}, "heads": {"mask": ["blocked_heads"]}},
    "mask_value": {"none": {}, "little": {"mask_value": -3.0}, "large": {"mask_value": -10000.0}},
    "positions": {
        "none": {"positions": "none"},
        "learned": {"positions": "learned", "max_position": lambda d: d["reach"] + 5},
        "sinusoidal": {"positions": "sinusoidal"},
        "rope": {"positions": "rope", "rope_dim": lambda d: d["even"]},
        "rope_pairs": {"positions": "rope", "rope_style": "pairs", "rope_theta": 50.0, "rope_dim": 2},
        "alibi": {"positions": "alibi"},
        "t5": {"positions": "t5", "t5_buckets": 8, "t5_distance": 9},
        "relative_key": {"positions": "relative_key", "max_position": lambda d: d["reach"] + 3},
        "relative_key_query": {"positions": "relative_key_query"},
        "disentangled": {"positions": "disentangled", "position_buckets": 4, "position_distance": 7,
                         "position_norm": True},
        "disentangled_own": {"positions": "disentangled", "position_terms": "content_to_position",
                             "position_buckets": 0, "position_distance": 5, "position_projections": "own"},
    },
    "memory": {
        "none": {}, "rows": {"memory": lambda d: {"seq": d["memory_rows"], "width": d["d_model"]}},
        "padding": {"memory": lambda d: {"seq": d["memory_rows"], "width": d["memory_width"], "mask": "padding"}},
        "key_padding": {"memory": lambda d: {"seq": d["memory_rows"], "mask": "key_padding"}},
        "encoder": {"memory": encoder(mask=["padding"], attention_output="heads",
                                       bias=lambda d: {"norm": d["other_bias"]})},
        "encoder_own": {"memory": encoder(
            input=stage("tokens", vocab=8), layers=1, d_model=10, heads=2, kv_heads=1, d_ff=6, mask=["key_padding", "window"],
            window=[1, 2], positions="alibi", norm="pre", final_norm=True, head_mask="input")},
    },
    "layout": {"batch_first": {}, "seq_first": {"layout": "seq_first"}},
    "kv_layout": {"rows_first": {}, "heads_first": {"kv_layout": "heads_first"}},
    "output": {
        "default": {},
        "mean": {"output": [stage("hidden"), stage("pool", over="mean"), stage("linear", to=5, activation="tanh")]},
        "max": {"output": [stage("norm", eps=0.01, kind="layer"), stage("pool", over="max", name="most"), stage("normalise")]},
        "last": {"output": [stage("hidden"), stage("pool", over="last"), stage("linear", to=3, bias=False)]},
        "first": {"output": [stage("relu", name="states"), stage("pool", over="first"), stage("sigmoid")]},
        "vocabulary": {"output": [stage("hidden"), stage("gelu"), stage("vocabulary", bias=True, softcap=1.5)]},
        "own_vocabulary": {"output": [stage("hidden"), stage("linear", to=6),
                                      stage("vocabulary", tied=False, scale=0.5)]},
        "softmax": {"output": [stage("softmax", name="inner"), stage("pool", over="first"), stage("linear", to=4),
                               stage("log_softmax")]},
        "topk": {"output": [stage("linear", to=9), stage("softmax"), stage("topk", k=4)]},
        "argmax": {"output": [stage("linear", to=9, name="logits"), stage("argmax")]},
    },
    # How it is computed, which means nothing.
    "plan": {"default": {}, "small": {"plan": {"query_block": 4, "key_block": 16, "token_block": 5, "panel": 16,
                                               "window_block": 3, "key_align": 1}},
             "pieces": {"plan": {"piece_rows": 3, "softmax_block": 16, "tile_bytes": 64, "key_block": 16}}},
    "target": {"host": {}, "avx2": {"target": "avx2"}, "x86_64": {"target": "x86_64"},
               "libxsmm": {"kernels": "libxsmm"}},
    "threads": {"one": {}, "two": {"threads": 2, "divide": True}, "three": {"threads": 3, "divide": True}},
    "reuse": {"yes": {}, "no": {"reuse": False}},
}

DISENTANGLED = ("disentangled", "disentangled_own")
SHOWN = ("heads", "mean", "last_scores", "unmasked")
QKV, IMAGES, TOKENS = ("qkv", "qkv_widths"), ("image", "gray"), ("tokens", "types")

# (options and levels that do not stand together, why). A tuple of levels stands for each of them.
FORBIDDEN = [
    ({"input": QKV, "layers": "two"}, "qkv() is one attention"),
    ({"input": QKV, "positions": DISENTANGLED}, "it is of states and their own keys"),
    ({"scoring": "additive", "positions": DISENTANGLED}, "its terms are products"),
    ({"projections": ("no", "no_qk"), "positions": "disentangled"}, "no weight would project the table"),
    ({"input": QKV, "memory": ("rows", "padding", "key_padding", "encoder", "encoder_own")}, "it has keys of its own"),
    ({"input": QKV, "past": "some"}, "it has keys of its own"),
    ({"input": QKV, "norm": ("pre", "sandwich")}, "only the query would have a norm"),
    ({"parallel": ("two_norms", "one_norm"), "norm": "post"}, "there is one sum"),
    ({"parallel": "one_norm", "norm": ("none", "res_post", "pre_ff")}, "there is no norm before the parts"),
    ({"parallel": ("two_norms", "one_norm"), "memory": ("rows", "padding", "key_padding", "encoder", "encoder_own")},
     "the feed-forward would not read the memory"),
    ({"parallel": ("two_norms", "one_norm"), "input": QKV}, "the feed-forward would not read what the attention reads"),
    ({"residual_scale": "own", "projections": ("no", "no_out"), "norm": ("post", "pre", "pre_ff", "none")},
     "no weight would take it"),
    ({"input": ("qkv_widths",), "projections": "no"}, "nothing would turn widths into those of heads"),
    ({"projections": "no", "bias_kv": "yes"}, "there is no width to project to"),
    ({"projections": "no", "past": "some"}, "the new keys would be the states"),
    ({"projections": "no", "head_dim": "own"}, "heads are slices of the states"),
    ({"projections": "no", "kv_heads": ("one", "pairs")}, "keys are slices of the states"),
    ({"projections": "no", "head_mask": "constant"}, "constant factors go with projections"),
    ({"projections": "no", "memory": ("encoder_own", "padding")}, "the memory is as wide as d_model"),
    ({"input": ("qkv_widths",), "projections": ("no_qk", "no_v")}, "nothing would turn widths into those of heads"),
    ({"projections": ("no_qk", "no_v"), "bias_kv": "yes"}, "it goes with projections of k and v"),
    ({"projections": ("no_qk", "no_v"), "past": "some"}, "it goes with projections of k and v"),
    ({"projections": ("no_out", "no_qk", "no_v"), "head_dim": "own"}, "heads are slices of the states"),
    ({"projections": ("no_qk", "no_v"), "kv_heads": ("one", "pairs")}, "keys or values are slices of the states"),
    ({"projections": ("no_out", "no_qk", "no_v"), "head_mask": "constant"}, "constant factors go with projections"),
    ({"projections": ("no_qk", "no_v"), "memory": ("encoder_own", "padding")}, "the memory is as wide as d_model"),
    ({"projections": "no_out", "memory": "encoder_own"}, "its heads are of other widths"),
    ({"heads": ("one", "three"), "kv_heads": "pairs"}, "an odd number of heads has no pairs"),
    ({"heads": "one", "kv_heads": "one"}, "it is the same as all"),
    ({"weighting": ("relu", "none"), "fully_masked": "nan"}, "nan is of a softmax"),
    ({"norm": "none", "final_norm": "yes"}, "a final norm goes with norms"),
    ({"input": TOKENS + IMAGES, "layout": "seq_first"}, "seq_first is of float rows"),
    ({"kv_layout": "heads_first", "past": "none", "input": ("hidden", "linear", "qkv_widths") + TOKENS + IMAGES},
     "no keys come in"),
    ({"kv_layout": "heads_first", "past": "none", "projections": ("yes", "no_out")}, "no keys come in"),
    ({"input": ("hidden", "linear") + IMAGES + QKV, "output": ("vocabulary", "own_vocabulary")}, "there is no table"),
    ({"pads": ("none", "attention_mask"), "mask_value": ("little", "large"), "memory": ("none", "rows", "encoder", "encoder_own")},
     "there is no padding to add it to"),
    ({"blocked": "none", "empty_rows": "yes"}, "only blocked rows are drawn empty"),
    ({"fully_masked": "nan", "output": ("max", "argmax", "topk")}, "there is no largest of NaN"),
    ({"poison": "yes", "output": ("max", "argmax", "topk")}, "there is no largest of NaN"),
    ({"poison": "yes", "shape": ("all", "prefix")}, "all tokens would see it"),
    ({"poison": "yes", "input": TOKENS + IMAGES + QKV}, "the last token has no numbers, or is not its own key"),
    ({"poison": "yes", "attention_output": SHOWN}, "what keys weigh that a row of NaN does not see is not said"),
    ({"fully_masked": "nan", "attention_output": SHOWN,
      "shape": ("causal", "window", "causal_window", "prefix", "causal_prefix")}, "the same"),
    ({"weighting": ("relu", "none"), "norm": "none", "layers": "two"}, "states would grow beyond what floats follow"),
    ({"mask_value": "large", "weighting": "none"}, "floats would keep nothing of the other weights"),
    ({"mask_value": "large", "empty_rows": "yes"}, "floats keep three digits of scores where all keys are padded"),
    ({"mask_value": "large", "shape": ("window", "causal_window")}, "the same, of rows that see padded keys alone"),
    ({"d_ff": ("none",), "activation": ("relu", "gelu_tanh", "quick_gelu", "silu", "sigmoid", "tanh")},
     "there is nothing to apply it to"),
]

# Combinations of more than two that some case must have.
MANDATORY = [
    {"shape": "window", "pads": "padding", "mask_value": "little", "plan": "small", "input": "hidden", "layers": "one"},
    {"shape": "window", "pads": "key_padding", "mask_value": "little", "plan": "small", "past": "some"},
    {"groups": "clamped", "pads": "padding", "threads": "one", "positions": "alibi", "softcap": "low"},
    {"groups": "clamped", "threads": "two", "past": "some", "positions": "t5"},
    {"poison": "yes", "shape": "causal", "pads": "none", "blocked": "none", "added": "none", "past": "none",
     "bias_kv": "no", "zero_attn": "no", "fully_masked": "zero", "weighting": "softmax", "output": "default",
     "memory": "none", "threads": "one"},
    {"memory": "encoder", "norm_kind": "layer", "bias": "all", "output": "default"},
]


def holds(chosen):
    """Whether no forbidden combination is among the chosen levels, {option: level}; some may still be open."""
    for levels, _ in FORBIDDEN:
        for option, level in levels.items():
            got = chosen.get(option)
            if got is None or got != level and (isinstance(level, str) or got not in level):
                break
        else:
            return False
    return True


def pairs_of(chosen):
    """All pairs of a choice, each as ((option, level), (option, level))."""
    return combinations(sorted(chosen.items()), 2)


def all_pairs():
    """Every pair of levels of two options."""
    for a, b in combinations(sorted(OPTIONS), 2):
        for level_a in OPTIONS[a]:
            for level_b in OPTIONS[b]:
                yield (a, level_a), (b, level_b)


# Options that few models have, beside the first level of each option above, by the name of a case: levels, and keys.
FIXED = {
    "convolution": ({"input": "tokens", "layers": "two"}, {"mask": ["padding"], "conv_kernel": 3}),
    "convolution_wide": ({"groups": "together"}, {"conv_kernel": 5, "conv_activation": "relu", "norm": "pre"}),
    "positions_convolved": ({"groups": "together"}, {
        "input": stage("linear", **{"from": 7}, features_norm=True, norm=True), "mask": ["padding"],
        "positions": "convolution", "position_kernel": 4, "position_groups": 2}),
    "positions_convolved_whole": ({"input": "tokens", "threads": "two", "norm": "pre"}, {
        "positions": "convolution", "position_kernel": 5, "position_groups": 1, "position_activation": "relu"}),
    "attend": ({"input": "image", "groups": "together"}, {"output": [stage("attend"), stage("similarity", bias=True)]}),
    "attend_gated": ({"input": "gray", "layers": "two"}, {"gated": True, "norm_kind": "rms", "output": [
        stage("attend", name="embedding"), stage("similarity")]}),
    "patches": ({"input": "image"}, {"output": [stage("pool", over=["first", "patches"]), stage("linear", to=4)]}),
    "last_but_padding": ({"groups": "together"}, {"input": stage("tokens", vocab=2), "mask": ["causal", "padding"],
                                                   "output": [stage("pool", over="last", pad=1), stage("linear", to=4)]}),
    "last_but_padding_masked": ({"layers": "two"}, {"input": stage("tokens", vocab=2), "mask": ["attention_mask"],
                                                     "output": [stage("pool", over="last", pad=0)]}),
    "ending": ({"groups": "together"}, {"input": stage("tokens", vocab=3), "mask": ["causal", "padding"],
                                         "output": [stage("pool", over="last", ending=1), stage("linear", to=4)]}),
    "ending_masked": ({"layers": "two"}, {"input": stage("tokens", vocab=3), "mask": ["attention_mask"],
                                           "output": [stage("pool", over="last", ending=-1)]}),
    "norms_of_heads": ({"groups": "together", "layers": "two"}, {"qk_norm": "each"}),
    "norms_of_heads_rms": ({"input": "tokens"}, {"qk_norm": "each", "norm_kind": "rms", "positions": "rope", "rope_dim": 2}),
    "slopes": ({"threads": "two"}, {"positions": "alibi", "alibi_max": 3.0, "alibi_factor": 0.6}),
    "limited": ({"groups": "together", "bias": "no_qkv", "qk_norm": "all"}, {"qkv_limit": 0.4, "mask": ["causal"]}),
    "sinks": ({"groups": "together", "layers": "two"}, {"sinks": True, "scale": 0.7, "mask": ["causal", "padding"]}),
    "sinks_masked": ({"threads": "two"}, {"sinks": True, "mask": ["blocked"], "attention_output": "heads"}),
    "gate_limit": ({"d_ff": "gated"}, {"gate_limit": 0.5, "activation": "quick_gelu"}),
    "short_convolutions": ({"groups": "together", "layers": "two"}, {"short_conv": 3, "mask": ["padding"]}),
    "shared_keys": ({"input": "tokens", "layers": "two"}, {"keys_of": 0, "values": "normed", "qk_norm": "heads",
                                                           "positions": "rope", "rope_dim": 2, "mask": ["causal"]}),
    "shared_keys_added": ({"layers": "two"}, {"keys_of": 0, "bias_kv": True, "zero_attn": True, "mask": ["causal"]}),
    "values_of_keys": ({"threads": "two"}, {"values": "keys", "norm_kind": "rms", "layer_scale": True}),
    "tokens_again": ({"input": "tokens", "layers": "two"}, {"layer_inputs": 5, "positions": "none", "norm": "pre",
                                                            "layer_scale": True}),
    "recurrent": ({"groups": "together"}, {"output": [stage("recurrent", to=5, name="states"), stage("linear", to=3)]}),
    "recurrent_both": ({"input": "tokens", "layers": "two"}, {"mask": ["padding"], "output": [
        stage("recurrent", to=14, both=True), stage("recurrent", to=6, both=True, marked=True)]}),
    "recurrent_marked": ({"threads": "two"}, {"mask": ["causal"], "output": [
        stage("recurrent", to=17, marked=True), stage("pool", over="max")]}),
    "match": ({"input": "tokens"}, {"mask": ["padding"], "output": [
        stage("linear", to=6), stage("linear", to=6), stage("match", labels=1, hidden=9, scores=2, most=2)]}),
    "patches_alone": ({"input": "gray"}, {"output": [stage("pool", over="patches")]}),
}


def fixed(name):
    """The levels of such a case."""
    return {**{option: next(iter(levels)) for option, levels in OPTIONS.items()}, **FIXED[name][0]}


def sizes(rng, chosen):
    """Small odd sizes that fit the chosen levels."""
    d = {"layers": OPTIONS["layers"][chosen["layers"]]["layers"], "heads": OPTIONS["heads"][chosen["heads"]]["heads"]}
    d["d_model"] = d["heads"] * rng.choice([n for n in range(2, 13) if 6 <= n * d["heads"] <= 10])
    head_dim = d["own_head_dim"] = d["d_model"] // d["heads"] + rng.choice([1, 2, 3])
    if chosen["head_dim"] == "divided":
        head_dim = d["d_model"] // d["heads"]
    d["other_bias"] = chosen["bias"] in ("none", "no_out")
    d["even"] = head_dim // 2 * 2
    d["seq"] = {"image": 7, "gray": 2}.get(chosen["input"], rng.randrange(3, 11))
    d["keys"], d["past_rows"], d["memory_rows"] = rng.randrange(3, 13), rng.randrange(1, 7), rng.randrange(2, 9)
    d["memory_width"], d["kdim"], d["vdim"] = rng.randrange(5, 12), rng.randrange(5, 12), rng.randrange(5, 12)
    if chosen["shape"] == "window" and chosen["input"] not in IMAGES:   # long enough for blocks that begin after key 0
        d["seq"] = 8 + d["seq"] % 4
    d["reach"] = max(d["seq"] + (d["past_rows"] if chosen["past"] == "some" else 0),
                     d["keys"] if chosen["input"] in QKV else 0)
    return d


def description(name, chosen, rng):
    """The description of a choice, its keys in an order that reads well."""
    size = sizes(rng, chosen)
    d = {"name": name, "seq": size["seq"], "d_model": size["d_model"]}
    more = FIXED.get(name, ((), {}))[1]
    for option, levels in OPTIONS.items():
        for key, value in levels[chosen[option]].items():
            value = value(size) if callable(value) else value
            d[key] = d[key] + value if key == "mask" and key in d else value
    d.update(more)
    plan = dict(d.pop("plan", {}))
    if "group" in d:
        plan["group_tokens"] = d.pop("group") * d["seq"]
    if d.pop("divide", False):      # however little there is to divide
        plan.update(least_phase=0, least_team=0)
    if plan:
        d["plan"] = plan
    if d.get("positions") == "none" and d.get("input", {}).get("stage") not in ("tokens", "image"):
        del d["positions"]
    return d
