"""What a description means: from weights and inputs to outputs, in plain lines and doubles.

It is written from `gen/attn2c keys` and models/README.md alone, and shares nothing with the compiler.
`d` is a description as a dict. `given` hands out what the model is told at run time:

    given.weight(path, *shape, mean=, deviation=)   a weight of the checkpoint, by attn2c's names
    given.floats(name, *shape, deviation=)          an input of numbers
    given.integers(name, least, end, *shape)        an input of integers from least to end - 1
    given.blocked(name, *shape)                     an input of booleans, true: left out

Attention goes through its rows one by one and looks only at the keys that a row may see.
"""

import math

import numpy as np

from kinds import convolution, match, mixed, normed, of_tokens, recurrent

_erf = np.vectorize(math.erf, otypes=[float])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


ACTIVATIONS = {
    "relu": lambda x: np.maximum(x, 0),
    "gelu": lambda x: x / 2 * (1 + _erf(x / math.sqrt(2))),
    "gelu_tanh": lambda x: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3))),
    "log_relu": lambda x: np.log1p(np.maximum(x, 0)),
    "quick_gelu": lambda x: x * sigmoid(1.702 * x),
    "silu": lambda x: x * sigmoid(x),
    "sigmoid": sigmoid,
    "tanh": np.tanh,
}

# Keys that an encoder within a model does not take from the model.
OWN = {"mask", "window", "prefix", "mask_value", "input", "seq", "attention_output", "head_mask",
       "max_position"}
OF_WIDTH = {"head_dim", "rope_dim", "d_ff", "scale"}    # taken only where the widths are the model's
OF_STACK = {"seq", "d_model", "heads", "kv_heads", "head_dim", "layers", "d_ff", "gated", "activation", "norm",
            "norm_kind", "eps", "final_norm", "residual", "residual_scale", "parallel", "qk_norm", "bias",
            "projections", "scale", "softcap", "qkv_limit", "gate_limit", "sinks", "alibi_max", "alibi_factor",
            "scoring", "weighting", "fully_masked", "bias_kv", "zero_attn", "positions", "rope_theta", "rope_style",
            "rope_dim", "t5_buckets", "t5_distance", "t5_by_layer", "position_terms", "position_buckets",
            "position_distance", "position_norm", "position_projections"}
DEFAULT_NAMES = {"hidden": "hidden", "norm": "hidden", "pool": "pooled", "linear": "logits",
                 "vocabulary": "logits", "normalise": "embedding", "argmax": "label", "attend": "pooled",
                 "similarity": "similarity", "recurrent": "hidden", "match": "scores",
                 "softmax": "probabilities", "log_softmax": "log_probabilities", "topk": "top"}


def mask_words(d):
    """The words of a mask, in a set; "window" and "prefix" have their bounds beside them."""
    mask = d.get("mask", "none")
    return {mask} if isinstance(mask, str) else set(mask)


def seen_statically(d, i, j):
    """Whether the token at position i sees the one at position j; of several masks, all must let it."""
    words = mask_words(d)
    if "causal" in words and j > i:
        return False
    if "prefix" in words and j > i and j >= d["prefix"]:
        return False
    return "window" not in words or i - d["window"][0] <= j <= i + d["window"][1]


def alibi_slopes(heads, most):
    """Press et al. 2022, with their rule for head counts that are no power of two; most is 8 there."""
    power = 2 ** math.floor(math.log2(heads))
    slopes = [2.0 ** (-most * (h + 1) / power) for h in range(power)]
    return slopes if power == heads else slopes + alibi_slopes(2 * power, most)[0::2][:heads - power]


def t5_bucket(distance, both_sides, buckets, largest):
    """Raffel et al. 2020; distance is key minus query. The logarithm is of floats, as theirs."""
    first = 0
    if both_sides:
        buckets //= 2
        first = buckets if distance > 0 else 0
        distance = abs(distance)
    else:
        distance = max(0, -distance)
    exact = buckets // 2
    if distance < exact:
        return first + distance
    far = np.log(np.float32(distance) / np.float32(exact)) / np.float32(math.log(largest / exact))
    return first + min(buckets - 1, exact + int(far * np.float32(buckets - exact)))


def log_bucket(distance, buckets, farthest):
    """DeBERTa-v2's bucket of query minus key; the logarithm is of floats, as theirs."""
    size, middle = abs(distance), buckets // 2
    if not buckets or size <= middle:
        return distance
    far = np.log(np.float32(size) / np.float32(middle)) / np.log(np.float32((farthest - 1) / middle))
    bucket = int(np.ceil(far * np.float32(middle - 1))) + middle
    return bucket if distance > 0 else -bucket


def sinusoid(position, width):
    """Vaswani et al. 2017, section 3.5."""
    return [(math.sin if c % 2 == 0 else math.cos)(position / 10000.0 ** ((c - c % 2) / width)) for c in range(width)]


def rotated(d, x, first):
    """Rotary positions of x, [heads][rows][head_dim], whose first row stands at `first`."""
    width = d.get("rope_dim", x.shape[-1])
    y = x.copy()
    for row in range(x.shape[1]):
        for pair in range(width // 2):
            angle = (first + row) * d.get("rope_theta", 10000.0) ** (-2 * pair / width)
            if d.get("rope_style", "halves") == "halves":
                a, b = pair, pair + width // 2
            else:
                a, b = 2 * pair, 2 * pair + 1
            y[:, row, a] = x[:, row, a] * math.cos(angle) - x[:, row, b] * math.sin(angle)
            y[:, row, b] = x[:, row, b] * math.cos(angle) + x[:, row, a] * math.sin(angle)
    return y


def weigh(d, scores):
    """The weights of a row of scores; -inf is a key that the row does not see."""
    seen = scores != -np.inf
    weights = np.zeros(len(scores))
    if not seen.any():
        return weights + (np.nan if d.get("fully_masked", "zero") == "nan" else 0.0)
    kind = d.get("weighting", "softmax")
    if kind == "softmax" and np.isnan(scores[seen]).any():
        weights[:] = np.nan
    elif kind == "softmax":
        e = np.exp(scores[seen] - scores[seen].max())
        weights[seen] = e / e.sum()
    else:
        weights[seen] = np.maximum(scores[seen], 0) if kind == "relu" else scores[seen]
    return weights


def split(x, heads):
    """[rows][heads * D] as [heads][rows][D]."""
    return x.reshape(x.shape[0], heads, -1).transpose(1, 0, 2)


class Stack:
    """A stack of layers: the model's, or an encoder's, whose weights begin with encoder. and inputs with source_."""

    def __init__(self, d, given, outputs, prefix="", input_prefix=""):
        self.d, self.given, self.outputs = d, given, outputs
        self.prefix, self.input_prefix = prefix, input_prefix
        self.heads = d["heads"]
        self.kv_heads = d.get("kv_heads", self.heads)
        self.head_dim = d.get("head_dim", d["d_model"] // self.heads)
        self.batch, self.past = d.get("batch", 1), d.get("past", 0)
        self.seq_first = d.get("layout") == "seq_first"
        self.memory, self.memory_masks = None, {}

    # Parts.

    def has_bias(self, part, group=None):
        bias = self.d.get("bias", True)
        return bias if isinstance(bias, bool) else bias.get(part, bias.get(group, True))

    def linear(self, path, x, width, bias=True, gain=1.0):
        weight = self.given.weight(path + ".weight", width, x.shape[-1], deviation=gain * x.shape[-1] ** -0.5)
        return x @ weight.T + (self.given.weight(path + ".bias", width, deviation=0.3) if bias else 0.0)

    @staticmethod
    def normed(x, eps, kind):
        if kind == "rms":
            return x / np.sqrt((x ** 2).mean(-1, keepdims=True) + eps)
        return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps)

    def norm(self, path, x, eps=None, kind=None):
        gain = self.given.weight(path + ".weight", x.shape[-1], mean=1.0, deviation=0.3)
        own = kind or self.d.get("norm_kind")
        y = self.normed(x, self.d.get("eps", 1e-5) if eps is None else eps, own) * gain
        if own == "rms":
            return y
        return y + (self.given.weight(path + ".bias", x.shape[-1], deviation=0.3) if kind or self.has_bias("norm") else 0.0)

    def rows(self, name, rows, width):
        """An input of rows, as [batch][rows][width]."""
        name = self.input_prefix + name
        if self.seq_first:
            return self.given.floats(name, rows, self.batch, width).transpose(1, 0, 2)
        return self.given.floats(name, self.batch, rows, width)

    def heads_rows(self, name, rows, heads, width):
        """An input of keys or values, as [batch][rows][heads * D]."""
        if self.d.get("kv_layout") != "heads_first":
            return self.given.floats(name, self.batch, rows, width)
        x = self.given.floats(name, self.batch, heads, rows, width // heads)
        return x.transpose(0, 2, 1, 3).reshape(self.batch, rows, width)

    def laid_out(self, x):
        """Rows as they go out."""
        return x.transpose(1, 0, 2) if self.seq_first and x.ndim == 3 else x

    # Before the layers.

    def image_rows(self, stage):
        """Patches, channel by channel and row by row, through a linear layer; before them the class token."""
        channels, size = stage.get("channels", 3), stage["patch"]
        down, across = stage["height"] // size, stage["width"] // size
        image = self.given.floats(self.input_prefix + "image", self.batch, channels, stage["height"], stage["width"])
        patches = image.reshape(self.batch, channels, down, size, across, size).transpose(0, 2, 4, 1, 3, 5)
        x = self.linear(self.prefix + "input.patches", patches.reshape(self.batch, down * across, -1), self.d["d_model"])
        if stage.get("class_token", True):
            first = self.given.weight(self.prefix + "input.class", 1, self.d["d_model"])
            x = np.concatenate((np.broadcast_to(first, (self.batch, 1, x.shape[-1])), x), 1)
        return x

    def first_states(self):
        d, path = self.d, self.prefix + "input"
        stage = d.get("input", {"stage": "hidden"})
        kind, width = stage["stage"], d["d_model"]
        if kind == "hidden":
            x = self.rows("hidden", d["seq"], width)
        elif kind == "linear":
            rows = self.rows("features", d["seq"], stage["from"])
            rows = self.norm(path + ".features_norm", rows) if stage.get("features_norm") else rows
            x = self.linear(path + ".linear", rows, width, stage.get("bias", True))
        elif kind == "tokens":
            ids = self.ids = self.given.integers(self.input_prefix + "ids", 0, stage["vocab"], self.batch, d["seq"])
            x = self.given.weight(path + ".tokens.weight", stage["vocab"], width)[ids]
        elif kind == "image":
            x = self.image_rows(stage)
        else:
            x = self.rows("query", d["seq"], width)
        rows = x.shape[1]
        positions = d.get("positions", "learned" if kind in ("tokens", "image") else "none")
        if positions == "learned":
            table = self.given.weight(path + ".positions.weight", d.get("max_position", self.past + rows), width,
                                      deviation=0.5)
            x = x + table[self.past: self.past + rows]
        elif positions == "sinusoidal":
            x = x + np.array([sinusoid(self.past + i, width) for i in range(rows)])
        if stage.get("types"):
            types = self.given.integers(self.input_prefix + "token_types", 0, stage["types"], self.batch, rows)
            x = x + self.given.weight(path + ".types.weight", stage["types"], width, deviation=0.5)[types]
        if positions == "convolution":  # which needs lengths
            return x
        return self.norm(path + ".norm", x) if stage.get("norm") else x

    def convolved(self, x):
        """x plus what a convolution makes of the rows around each, in each group of columns by itself. Beyond the ends
        of a sequence there are zeros."""
        d, kernel, groups = self.d, self.d["position_kernel"], self.d["position_groups"]
        path, width = self.prefix + "positions.conv", self.d["d_model"] // groups
        weight = self.given.weight(path + ".weight", d["d_model"], width, kernel, deviation=(width * kernel) ** -0.5)
        z = np.zeros_like(x) + self.given.weight(path + ".bias", d["d_model"], deviation=0.3)
        for b in range(self.batch):
            rows = self.masks["lengths"][b] if "lengths" in self.masks else x.shape[1]
            for row in range(x.shape[1]):
                for k in range(kernel):
                    if 0 <= row + k - kernel // 2 < rows:
                        for out in range(d["d_model"]):
                            first = out // width * width
                            z[b, row, out] += weight[out, :, k] @ x[b, row + k - kernel // 2, first:first + width]
        x = x + ACTIVATIONS[d.get("position_activation", "gelu")](z)
        return self.norm(self.prefix + "input.norm", x) if d.get("input", {}).get("norm") else x

    def read_inputs(self):
        """States, key and value of qkv(), and what masks and heads are told at run time."""
        d = self.d
        self.states = self.first_states()
        queries = new = self.states.shape[1]
        self.key = self.value = None
        if d.get("input", {}).get("stage") == "qkv":
            new = d.get("key_seq", queries)
            for name, part, width in (("key", "k", "kdim"), ("value", "v", "vdim")):
                width = d.get(width, d["d_model"])
                by_head = d.get("kv_layout") == "heads_first" and not self.projects(part)
                rows = self.heads_rows(name, new, self.kv_heads, width) if by_head else self.rows(name, new, width)
                setattr(self, name, rows)
        keys, words, given = self.past + new, mask_words(d), self.given
        self.masks = {}
        shapes = {"key_bias": ("key_bias", (self.batch, keys)), "additive": ("mask_bias", (queries, keys)),
                  "additive_heads": ("head_bias", (self.batch, self.heads, queries, keys)),
                  "key_padding": ("key_padding", (self.batch, keys)), "blocked": ("blocked", (queries, keys)),
                  "blocked_heads": ("head_blocked", (self.batch, self.heads, queries, keys))}
        if "padding" in words:
            self.masks["lengths"] = given.integers(self.input_prefix + "lengths", 1, new + 1, self.batch)
        for word in sorted(words & set(shapes)):
            name, shape = shapes[word]
            draw = given.floats if word in ("key_bias", "additive", "additive_heads") else given.blocked
            self.masks[word] = draw(self.input_prefix + name, *shape)
        if "attention_mask" in words:   # left out whatever mask_value is
            self.masks["attention_mask"] = given.integers(self.input_prefix + "attention_mask", 0, 2, self.batch, keys)
        factors = d.get("head_mask", "none")
        if factors == "input":
            factors = given.floats(self.input_prefix + "head_mask", d["layers"], self.heads)
        self.factors = np.ones((d["layers"], self.heads)) if isinstance(factors, str) else np.array(factors, float)
        if d.get("positions") == "convolution":
            self.states = self.convolved(self.states)
        if d.get("positions") == "t5" and not d.get("t5_by_layer"):
            self.buckets = self.table_of_buckets(self.prefix + "positions")

    def table_of_buckets(self, path):
        return self.given.weight(path + ".bias.weight", self.d.get("t5_buckets", 32), self.heads, deviation=0.5)

    # Attention.

    def raw_score(self, path, h, q, k):
        """Before the scale: query . key, or v . tanh(query + key)."""
        if self.d.get("scoring") != "additive":
            return q @ k
        vector = self.given.weight(path + ".score.weight", self.heads, len(q), deviation=2 * len(q) ** -0.5)
        return vector[h] @ np.tanh(q + k)

    def relative(self, path, q, k, i, j):
        """What relative_key and relative_key_query add to the score of positions i and j."""
        positions = self.d.get("positions", "none")
        if not positions.startswith("relative_key"):
            return 0.0
        reach = self.d.get("max_position", self.positions_in_use)
        row = self.given.weight(path + ".distance.weight", 2 * reach - 1, len(q), deviation=0.7)[i - j + reach - 1]
        return q @ row + (k @ row if positions == "relative_key_query" else 0.0)

    def projected(self, path, part, width, distance):
        """A row of the table of distances, projected as keys (k) or queries (q): that of query less key."""
        d, buckets = self.d, self.d.get("position_buckets", 256)
        farthest = d.get("position_distance", 512)
        middle = buckets or farthest
        table = self.given.weight(self.prefix + "positions.table.weight", 2 * middle, d["d_model"])
        row = table[min(2 * middle - 1, max(0, middle + log_bucket(distance, buckets, farthest)))]
        if d.get("position_norm"):
            path_of_norm = self.prefix + "positions.norm"
            gain = self.given.weight(path_of_norm + ".weight", d["d_model"], mean=1.0, deviation=0.3)
            shift = self.given.weight(path_of_norm + ".bias", d["d_model"], deviation=0.3)
            row = (row - row.mean()) / np.sqrt(row.var() + d.get("eps", 1e-5)) * gain + shift
        is_own = d.get("position_projections") == "own"
        path = f"{path}.position_{part}" if is_own else f"{path}.{part}"
        return self.linear(path, row, width, is_own or self.has_bias("qkv"), 1.0 if is_own else 1.5)

    def disentangled(self, path, h, q, k, distance):
        """query . K(distance) + key . Q(distance), or one of them (He et al. 2021)."""
        if self.d.get("positions") != "disentangled":
            return 0.0
        terms, score, of = self.d.get("position_terms", "both"), 0.0, h // (self.heads // self.kv_heads)
        if terms != "position_to_content":
            row = self.projected(path, "k", self.kv_heads * self.head_dim, distance)
            score += q @ row.reshape(self.kv_heads, -1)[of]
        if terms != "content_to_position":
            row = self.projected(path, "q", self.heads * self.head_dim, distance)
            score += k @ row.reshape(self.heads, -1)[h]
        return score

    def scaled(self, score, width):
        """Times the scale, and bent by the soft cap."""
        scale = self.d.get("scale", width ** -0.5)
        score = score if scale is False else scale * score
        cap = self.d.get("softcap")
        return cap * math.tanh(score / cap) if cap else score

    def placed(self, h, i, j):
        """What a position adds to a scaled score."""
        positions = self.d.get("positions")
        if positions == "alibi":
            slopes = alibi_slopes(self.heads, self.d.get("alibi_max", 8))
            return -self.d.get("alibi_factor", 1) * slopes[h] * abs(i - j)
        if positions == "t5":
            return self.buckets[t5_bucket(j - i, "causal" not in mask_words(self.d), self.d.get("t5_buckets", 32),
                                          self.d.get("t5_distance", 128)), h]
        return 0.0

    def self_masked(self, score, b, h, row, j):
        """A score of a self-attention with its masks: -inf where the key is left out."""
        i, masks = self.past + row, self.masks
        if not seen_statically(self.d, i, j):
            return -np.inf
        if "attention_mask" in masks and masks["attention_mask"][b, j] == 0:
            return -np.inf
        if "blocked" in masks and masks["blocked"][row, j]:
            return -np.inf
        if "blocked_heads" in masks and masks["blocked_heads"][b, h, row, j]:
            return -np.inf
        if "key_bias" in masks:
            score += masks["key_bias"][b, j]
        if "additive" in masks:
            score += masks["additive"][row, j]
        if "additive_heads" in masks:
            score += masks["additive_heads"][b, h, row, j]
        return self.padded(score, masks, b, j, self.past)

    def padded(self, score, masks, b, j, past):
        """A score where padding may leave its key out, or take mask_value."""
        left_out = ("lengths" in masks and j >= past + masks["lengths"][b],
                    "key_padding" in masks and bool(masks["key_padding"][b, j]))
        if "mask_value" in self.d:
            return score + sum(left_out) * self.d["mask_value"]
        return -np.inf if any(left_out) else score

    def projects(self, part):
        given = self.d.get("projections", True)
        return given.get(part, True) if isinstance(given, dict) else given

    def project(self, path, query, key, value):
        """q, k and v of a sequence, by heads."""
        wide, narrow, bias = self.heads * self.head_dim, self.kv_heads * self.head_dim, self.has_bias("qkv")
        if self.projects("q"):
            query = self.linear(path + ".q", query, wide, bias, 1.5)
        if self.projects("k"):
            key = self.linear(path + ".k", key, narrow, bias, 1.5)
        if self.projects("v") and self.d.get("values") != "keys":
            value = self.linear(path + ".v", value, narrow, bias)
        values = self.d.get("values", "projected") if path.endswith(".attn") else "projected"
        if values != "projected":
            value = normed(key if values == "keys" else value, self.kv_heads, self.d.get("eps", 1e-5))
        return split(query, self.heads), split(key, self.kv_heads), split(value, self.kv_heads)

    def qk_norm(self, path, x):
        """Queries or keys, [heads][rows][D], with their norm: each head by itself, or all of a row together."""
        if self.d.get("qk_norm") == "heads":
            return self.norm(path, x)
        if self.d.get("qk_norm") == "each":
            gain = self.given.weight(path + ".weight", x.shape[0], x.shape[2], mean=1.0, deviation=0.3)
            return self.normed(x, self.d.get("eps", 1e-5), self.d.get("norm_kind")) * gain[:, None]
        if self.d.get("qk_norm") == "all":
            return split(self.norm(path, x.transpose(1, 0, 2).reshape(x.shape[1], -1)), x.shape[0])
        return x

    def close(self, path, context):
        if not self.projects("out"):
            return context
        return self.linear(path + ".out", context, self.d["d_model"], self.has_bias("out"))

    def context_of(self, b, q, k, v, score_of, factors, sinks=None):
        """Rows of one sequence: its context, [rows][heads * D], its weights as they go out and its scores, [heads][rows][keys]."""
        rows, keys = q.shape[1], k.shape[1]
        scores, weights, shown = (np.zeros((self.heads, rows, keys)) for _ in range(3))
        wanted = self.d.get("attention_output")
        before = isinstance(wanted, dict) and wanted.get("before_head_mask")
        context = np.zeros((rows, self.heads, v.shape[-1]))
        for h in range(self.heads):
            of = h // (self.heads // self.kv_heads)
            for row in range(rows):
                line = np.array([score_of(b, h, row, j, q[h, row], k[of, j]) for j in range(keys)])
                scores[h, row] = line
                weighed = weigh(self.d, line) if sinks is None else weigh(self.d, np.append(line, sinks[h]))[:-1]
                weights[h, row] = weighed * factors[h]
                shown[h, row] = weighed if before else weights[h, row]
                for j in range(keys):
                    if line[j] != -np.inf or np.isnan(weights[h, row, j]):
                        context[row, h] += weights[h, row, j] * v[of, j]
        return context.reshape(rows, -1), shown, scores

    def show(self, name, layer, weights, scores):
        """Weights and scores as outputs, where the description asks for this layer's."""
        wanted = self.d.get("attention_output", "none")
        wanted = {"kind": wanted} if isinstance(wanted, str) else wanted
        if "layers" in wanted and layer not in wanted["layers"]:
            return
        kind = wanted.get("kind", "heads")
        name = self.input_prefix + name
        if kind != "none":
            self.outputs[f"{name}attention_{layer}"] = weights.mean(1) if kind == "mean" else weights
        if wanted.get("scores"):
            self.outputs[f"{name}scores_{layer}"] = scores

    def self_attention(self, layer, path, x):
        d, past, own, limit = self.d, self.past, {}, self.d.get("qkv_limit", np.inf)
        if d.get("positions") == "t5" and d.get("t5_by_layer"):
            self.buckets = self.table_of_buckets(path + ".positions")
        keys_from = x if self.key is None else self.key
        values_from = x if self.value is None else self.value
        new = keys_from.shape[1]
        self.positions_in_use = past + max(x.shape[1], new)
        own_keys = past + new

        def score_of(b, h, row, j, q, k):
            raw = self.raw_score(path, h, q, k)
            if j >= own_keys:       # after each sequence's own keys: without a position, seen by all
                return self.scaled(raw, len(q))
            raw += self.relative(path, q, k, past + row, j) + self.disentangled(path, h, q, k, past + row - j)
            return self.self_masked(self.scaled(raw, len(q)) + self.placed(h, past + row, j), b, h, row, j)

        before = None
        if past:
            before = [self.heads_rows(f"{self.input_prefix}past_{what}_{layer}", past, self.kv_heads,
                                      self.kv_heads * self.head_dim) for what in ("keys", "values")]
        results = []
        for b in range(self.batch):
            q, k, v = self.project(path, x[b], keys_from[b], values_from[b])
            q, k = self.qk_norm(path + ".q_norm", q), self.qk_norm(path + ".k_norm", k)
            q, k, v = (np.clip(y, -limit, limit) if self.projects(part) else y for part, y in zip("qkv", (q, k, v)))
            if d.get("positions") == "rope":
                q, k = rotated(d, q, past), rotated(d, k, past)
            source = self.d.get("keys_of", layer)
            self.made[layer, b] = k, v
            k, v = self.made[min(source, layer), b]
            if past:
                for what, new_rows in (("keys", k), ("values", v)):
                    by_head = d.get("kv_layout") == "heads_first"
                    new_rows = new_rows if by_head else new_rows.transpose(1, 0, 2).reshape(new, -1)
                    own.setdefault(what, []).append(new_rows)
                k = np.concatenate((split(before[0][b], self.kv_heads), k), 1)
                v = np.concatenate((split(before[1][b], self.kv_heads), v), 1)
            if d.get("bias_kv"):
                k = np.concatenate((k, split(self.given.weight(path + ".bias_k", 1, 1, self.kv_heads * self.head_dim)[0],
                                             self.kv_heads)), 1)
                v = np.concatenate((v, split(self.given.weight(path + ".bias_v", 1, 1, self.kv_heads * self.head_dim)[0],
                                             self.kv_heads)), 1)
            if d.get("zero_attn"):
                k = np.concatenate((k, np.zeros_like(k[:, :1])), 1)
                v = np.concatenate((v, np.zeros_like(v[:, :1])), 1)
            sinks = self.given.weight(path + ".sinks", self.heads) if d.get("sinks") else None
            results.append(self.context_of(b, q, k, v, score_of, self.factors[layer], sinks))
        context, weights, scores = (np.stack(part) for part in zip(*results))
        for what, rows in own.items():
            self.outputs[f"{self.input_prefix}{what}_{layer}"] = np.stack(rows)
        self.show("", layer, weights, scores)
        return self.close(path, context)

    def cross_attention(self, layer, path, x):
        def score_of(b, h, _, j, q, k):
            return self.padded(self.scaled(self.raw_score(path, h, q, k), len(q)), self.memory_masks, b, j, 0)

        results = []
        for b in range(self.batch):
            q, k, v = self.project(path, x[b], self.memory[b], self.memory[b])
            results.append(self.context_of(b, q, k, v, score_of, np.ones(self.heads)))
        context, weights, scores = (np.stack(part) for part in zip(*results))
        self.show("cross_", layer, weights, scores)
        return self.close(path, context)

    # Layers.

    def feed_forward(self, path, x):
        act, bias = ACTIVATIONS[self.d.get("activation", "gelu")], self.has_bias("up", "ff")
        d_ff = self.d.get("d_ff", 4 * self.d["d_model"])
        up = self.linear(path + ".up", x, d_ff, bias)
        gated, limit = self.d.get("gated"), self.d.get("gate_limit", np.inf)
        gate = np.minimum(self.linear(path + ".gate", x, d_ff, bias), limit) if gated else up
        hidden = act(gate) * (np.clip(up, -limit, limit) + np.isfinite(limit)) if gated else act(up)
        return self.linear(path + ".down", hidden, self.d["d_model"], self.has_bias("down", "ff"))

    def branch(self, path, x, part, first=None):
        """What a part makes of x, or of `first` where the norm before it is another's, with its norms and factor."""
        where = self.d.get("norm", "post")
        if first is None:
            before = where in ("pre", "sandwich") or where == "pre_ff" and not path.endswith("norm1")
            first = self.norm(path, x) if before else x
        y = part(first)
        if where == "sandwich":
            y = self.norm(path + "_after", y)
        elif where == "res_post":
            y = self.norm(path, y)
        return y * self.d.get("residual_scale", 1.0)

    def sublayer(self, path, x, part):
        y = self.branch(path, x, part)
        if self.d.get("residual", True):
            y = x + y
        return self.norm(path, y) if self.d.get("norm", "post") == "post" else y

    def parallel(self, layer, path, x):
        """Attention and feed-forward of the same states."""
        first = self.norm(path + ".norm1", x) if self.d["parallel"] == "one_norm" else None
        y = self.branch(path + ".norm1", x, lambda z: mixed(self, layer, path, z), first)
        if self.d.get("d_ff") != 0:
            y = y + self.branch(path + ".norm2", x, lambda z: self.feed_forward(path + ".ff", z), first)
        return x + y if self.d.get("residual", True) else y

    def run(self):
        self.read_inputs()
        x, self.made = self.states, {}
        for layer in range(self.d["layers"]):
            path, before = f"{self.prefix}l{layer}", x
            if self.d.get("parallel", "none") != "none":
                x = self.parallel(layer, path, x)
                continue
            x = self.sublayer(path + ".norm1", x, lambda y: mixed(self, layer, path, y))
            if self.memory is not None:
                x = self.sublayer(path + ".norm_cross", x, lambda y: self.cross_attention(layer, path + ".cross", y))
            if self.d.get("d_ff") != 0:
                x = self.sublayer(path + ".norm2", x, lambda y: self.feed_forward(path + ".ff", y))
            if layer == 0 and "conv_kernel" in self.d:
                x = convolution(self, before, x, ACTIVATIONS[self.d.get("conv_activation", "tanh")])
            if "layer_inputs" in self.d:
                x = x + of_tokens(self, layer, path + ".tokens", x, ACTIVATIONS[self.d.get("activation", "gelu")])
            if self.d.get("layer_scale"):
                x = x * self.given.weight(path + ".scale.weight", self.d["d_model"], mean=1.0, deviation=0.3)
        return self.norm(self.prefix + "final_norm", x) if self.d.get("final_norm") else x

    # After the layers.

    def pool(self, x, over, pad=None, ending=None):
        """One row a sequence, of those that its length has, or else a mask keeps; both are of keys where there is qkv().
        Of a list of pools their rows side by side. pad: the last row of another token, or the first row; ending: the
        first row of this token, or with -1 of the largest one."""
        if isinstance(over, list):
            return np.concatenate([self.pool(x, each) for each in over], -1)
        kept = [slice(None)] * self.batch
        if "lengths" in self.masks and self.key is None:
            kept = [slice(n) for n in self.masks["lengths"]]
        elif "attention_mask" in self.masks and self.key is None:
            kept = self.masks["attention_mask"][:, self.past:] != 0
        elif "key_padding" in self.masks and self.key is None:
            kept = ~self.masks["key_padding"][:, self.past:].astype(bool)
        rows = [np.arange(x.shape[1])[kept[b]] for b in range(self.batch)]
        if ending is not None:
            asked = [max(self.ids[b, i], default=0) if ending < 0 else ending for b, i in enumerate(rows)]
            return np.stack([x[b, min(i[self.ids[b, i] == asked[b]], default=0)] for b, i in enumerate(rows)])
        if pad is not None:
            return np.stack([x[b, max(i[self.ids[b, i] != pad], default=0)] for b, i in enumerate(rows)])
        place = np.arange(1.0, x.shape[1] + 1)
        pick = {"mean": lambda y, p: y.mean(0), "max": lambda y, p: y.max(0), "last": lambda y, p: y[-1],
                "root": lambda y, p: y.sum(0) / np.sqrt(len(y)), "weighted": lambda y, p: p @ y / p.sum()}
        if over == "first":
            return x[:, 0]
        if over == "patches":
            return x[:, 1 if self.d["input"].get("class_token", True) else 0:].mean(1)
        return np.stack([pick[over](x[b, kept[b]], place[kept[b]]) if x[b, kept[b]].size else np.zeros(x.shape[-1])
                         for b in range(self.batch)])

    def attend(self, path, x):
        """What a learned query takes of all rows, and the feed-forward of its norm."""
        self.memory, self.memory_masks = x, {}
        probe = self.given.weight(path + ".probe.weight", 1, self.d["d_model"])
        y = self.cross_attention(-1, path + ".cross", np.broadcast_to(probe, (self.batch, *probe.shape)))
        return (y + self.feed_forward(path + ".ff", self.norm(path + ".norm", y)))[:, 0]

    def stage(self, number, stage, x):
        kind, path = stage["stage"], f"output.{number}"
        if kind == "attend":
            return self.attend(path + ".attend", x)
        if kind == "similarity":
            return np.repeat(self.given.weight(path + ".similarity.weight", 1, 1 + stage.get("bias", False)), self.batch, 0)
        if kind in ("recurrent", "match"):
            return {"recurrent": recurrent, "match": match}[kind](self, f"{path}.{kind}", stage, x)
        if kind == "norm":
            return self.norm(path + ".norm", x, stage.get("eps"), stage.get("kind"))
        if kind == "pool":
            return self.pool(x, stage["over"], stage.get("pad"), stage.get("ending"))
        if kind == "linear":
            y = self.linear(path + ".linear", x, stage["to"], stage.get("bias", True))
            return ACTIVATIONS[stage["activation"]](y) if "activation" in stage else y
        if kind == "vocabulary":
            vocab = self.d["input"]["vocab"]
            own = "input.tokens.weight" if stage.get("tied", True) else path + ".vocabulary.weight"
            y = x @ self.given.weight(own, vocab, x.shape[-1], deviation=x.shape[-1] ** -0.5).T * stage.get("scale", 1.0)
            y = y + (self.given.weight(path + ".vocabulary.bias", vocab) if stage.get("bias") else 0.0)
            cap = stage.get("softcap")
            return cap * np.tanh(y / cap) if cap else y
        if kind == "normalise":
            return x / np.maximum(np.sqrt((x ** 2).sum(-1, keepdims=True)), 1e-12)
        if kind in ("softmax", "log_softmax"):
            x = x - x.max(-1, keepdims=True)
            logarithm = x - np.log(np.exp(x).sum(-1, keepdims=True))
            return np.exp(logarithm) if kind == "softmax" else logarithm
        if kind == "argmax":
            return x.argmax(-1)
        return x if kind in ("hidden", "topk") else ACTIVATIONS[kind](x)

    def finish(self, x):
        stages, self.results = self.d.get("output") or [{"stage": "hidden"}], [x]
        for number, stage in enumerate(stages, 1):
            self.results.append(x := self.stage(number, stage, x))
            name = stage.get("name")
            if not name and (number == len(stages) or stage["stage"] == "hidden"):
                name = DEFAULT_NAMES.get(stage["stage"], "activations")
                while name in self.outputs:
                    name = f"{name}_{number}"
            if stage["stage"] == "topk":
                order = np.argsort(-x, axis=-1, kind="stable")[..., :stage["k"]]
                self.outputs[name], self.outputs[name + "_index"] = np.take_along_axis(x, order, -1), order
            elif name:
                self.outputs[name] = self.laid_out(x)


def encoder_description(d, own):
    """An encoder's keys: its own, else the model's."""
    alike = "d_model" not in own and "heads" not in own
    e = {key: value for key, value in d.items()
         if key in OF_STACK and key not in OWN and (key not in OF_WIDTH or alike)}
    if e.get("positions") in ("learned", "sinusoidal"):
        del e["positions"]
    e.update({key: value for key, value in own.items() if key != "stage"})
    return {**e, "batch": d.get("batch", 1), "layout": d.get("layout", "batch_first")}


def evaluate(d, given):
    """All outputs of a model, {name: array}."""
    outputs = {}
    model = Stack(d, given, outputs)
    memory = d.get("memory")
    if memory and memory.get("stage") == "encoder":
        encoder = Stack(encoder_description(d, memory), given, outputs, "encoder.", "source_")
        model.memory = encoder.run()
        if "to" in memory:
            model.memory = encoder.linear("encoder.projection", model.memory, memory["to"])
        model.memory_masks = {key: encoder.masks[key] for key in ("lengths", "key_padding") if key in encoder.masks}
    elif memory:
        model.memory = model.rows("memory", memory["seq"], memory.get("width", d["d_model"]))
        if memory.get("mask") == "padding":
            model.memory_masks["lengths"] = given.integers("memory_lengths", 1, memory["seq"] + 1, model.batch)
        elif memory.get("mask") == "key_padding":
            model.memory_masks["key_padding"] = given.blocked("memory_key_padding", model.batch, memory["seq"])
    x = model.run()
    model.finish(x)
    return outputs
