"""The meaning of layers of other kinds: convolutions, norms of values, and parts that read tokens.

self is the stack of definition.py.
"""

import math

import numpy as np


def normed(x, heads, eps):
    """Rows with an RMS norm of each head's part."""
    parts = x.reshape(len(x), heads, -1)
    return (parts / np.sqrt((parts ** 2).mean(-1, keepdims=True) + eps)).reshape(x.shape)


def short_conv(self, path, x):
    """Projections b, c and x: c times a convolution of b times x, each column by itself, whose last row is its own."""
    kernel, width, bias = self.d["short_conv"], self.d["d_model"], self.has_bias("qkv")
    b, c, y = (self.linear(f"{path}.{part}", x, width, bias) for part in "bcx")
    weight = self.given.weight(path + ".weight", width, 1, kernel, deviation=kernel ** -0.5)[:, 0]
    z = np.zeros_like(x) + (self.given.weight(path + ".bias", width, deviation=0.3) if bias else 0)
    for row in range(x.shape[1]):
        for t in range(max(0, kernel - 1 - row), kernel):
            z[:, row] += weight[:, t] * (b * y)[:, row + t - kernel + 1]
    return self.linear(path + ".out", c * z, width, self.has_bias("out"))


def mixed(self, layer, path, x):
    """What a layer mixes its rows by."""
    if self.d.get("short_conv"):
        return short_conv(self, path + ".conv", x)
    return self.self_attention(layer, path + ".attn", x)


def of_tokens(self, layer, path, x, act):
    """The part of a layer that reads tokens, in its columns of a table of all layers."""
    width, own, layers = self.d["layer_inputs"], self.d["d_model"], self.d["layers"]
    part = slice(layer * width, (layer + 1) * width)
    table = self.given.weight("input.layers_tokens.weight", self.d["input"]["vocab"], layers * width, deviation=0.5)
    matrix = self.given.weight("input.layers_context.weight", layers * width, own, deviation=1.0)
    context = self.norm(path + ".context_norm", self.states @ matrix[part].T / math.sqrt(own))
    given = (context + table[self.ids][..., part] * math.sqrt(width)) / math.sqrt(2)
    gate = act(self.linear(path + ".gate", x, width, False))
    return self.norm(path + ".norm", self.linear(path + ".project", gate * given, own, False))


def convolution(self, x, y, act):
    """The norm of y plus a convolution of x along the rows of each sequence, beyond whose ends there are zeros."""
    kernel, width = self.d["conv_kernel"], self.d["d_model"]
    weight = self.given.weight(self.prefix + "conv.weight", width, width, kernel, deviation=(width * kernel) ** -0.5)
    z = np.zeros_like(x) + self.given.weight(self.prefix + "conv.bias", width, deviation=0.3)
    for b in range(self.batch):
        rows = self.masks["lengths"][b] if "lengths" in self.masks else x.shape[1]
        for row in range(x.shape[1]):
            for k in range(kernel):
                if 0 <= row + k - kernel // 2 < rows:
                    z[b, row] += weight[:, :, k] @ x[b, row + k - kernel // 2]
    return self.norm(self.prefix + "conv_norm", act(z) + y)


def recurrent(self, path, stage, x):
    """The states of an LSTM over the rows of each sequence, and of one that begins at the end, side by side."""
    directions = 2 if stage.get("both") else 1
    width = stage["to"] // directions
    gates = self.linear(path + ".gates", x, 4 * stage["to"], True).reshape(*x.shape[:2], directions, 4, width)
    weight = self.given.weight(path + ".weight", stage["to"], 4 * width, deviation=width ** -0.5)
    weight = weight.reshape(directions, width, 4, width)
    y = np.zeros((*x.shape[:2], directions, width))
    is_read = np.ones(x.shape[:2], bool)
    if stage.get("marked"):
        is_read = self.given.integers("marks", 0, 3, *x.shape[:2]) == 1
    if "lengths" in self.masks:
        is_read &= np.arange(x.shape[1]) < np.asarray(self.masks["lengths"])[:, None]
    for b in range(len(x)):
        for d in range(directions):
            h, cell = np.zeros(width), np.zeros(width)
            for row in (range(x.shape[1]), range(x.shape[1] - 1, -1, -1))[d]:
                if not is_read[b, row]:
                    continue
                i, f, g, o = gates[b, row, d] + np.einsum("k,kgw->gw", h, weight[d])
                cell = cell / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
                h = np.tanh(cell) / (1 + np.exp(-o))
                y[b, row, d] = h
    return y.reshape(*x.shape[:2], stage["to"])


def by_ids(ids, rows, pad, ending):
    """Of some rows the last one of another token than `pad`; or the first one of the token `ending`, or with -1 of the
    largest one. Row 0 if there is none."""
    if ending is None:
        return max(rows[ids[rows] != pad], default=0)
    asked = max(ids[rows], default=0) if ending < 0 else ending
    return min(rows[ids[rows] == asked], default=0)


def match(self, path, stage, x):
    """Scores of each word for each label, in the order of labels; of pairs that there are not, 0."""
    labels, hidden, scores, most = self.results[stage["labels"]], stage["hidden"], stage["scores"], stage.get("most", 64)
    width = x.shape[-1] // 2
    weight = self.given.weight(path + ".weight", 3 * width + 1, hidden, deviation=(3 * width) ** -0.5)
    out = self.given.weight(path + ".out.weight", hidden + 1, scores, deviation=hidden ** -0.5)
    marks = self.given.integers("marks", 0, 3, *x.shape[:2])
    lengths = self.masks.get("lengths", [x.shape[1]] * len(x))
    y = np.zeros((*x.shape[:2], most, scores))
    for b, length in enumerate(np.asarray(lengths)):
        of_labels = [label for label in range(length) if marks[b, label] == 2][:most]
        for word in range(length):
            for c, label in enumerate(of_labels if marks[b, word] == 1 else []):
                one, other = x[b, word], labels[b, label]
                pair = np.concatenate([one[:width], other[:width], one[width:] * other[width:], [1.0]])
                y[b, word, c] = np.append(np.maximum(pair @ weight, 0), 1.0) @ out
    return y.reshape(*x.shape[:2], most * scores)
