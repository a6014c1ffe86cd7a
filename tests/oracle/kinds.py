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
