"""The parts of a transformer as plain lines of torch, in double.

Cases that no module of PyTorch computes are put together from these. Each part takes the
description `d`, a dict whose keys mean what they mean to attn2c, and asks the `golden` of
goldens.py for the weights that it needs, by attn2c's own names.
"""

import torch
import torch.nn.functional as F

ACTIVATIONS = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "tanh": torch.tanh,
}


def split(x, heads):
    """[B][S][heads * D] as [B][heads][S][D]."""
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def join(x):
    """[B][heads][S][D] as [B][S][heads * D]."""
    return x.transpose(1, 2).flatten(2)


def has_bias(d, part):
    """Whether qkv, out, ff or norm have a bias."""
    bias = d.get("bias", True)
    return bias if isinstance(bias, bool) else bias.get(part, True)


def linear(golden, path, x, width, bias=True, gain=1.0):
    """x W^T + b."""
    y = x @ golden.weight(path + ".weight", width, x.shape[-1], deviation=gain * x.shape[-1] ** -0.5).T
    return y + golden.weight(path + ".bias", width, deviation=0.3) if bias else y


def norm(golden, d, path, x, eps=None):
    """Layer norm or root mean square norm over the last dimension."""
    width, eps = (x.shape[-1],), eps or d.get("eps", 1e-5)
    gain = golden.weight(path + ".weight", *width, mean=1.0, deviation=0.3)
    if d.get("norm_kind") == "rms":
        return F.rms_norm(x, width, gain, eps)
    bias = golden.weight(path + ".bias", *width, deviation=0.3) if has_bias(d, "norm") else None
    return F.layer_norm(x, width, gain, bias, eps)


# Masks: true where a query may not see a key.

def pairs(queries, keys=None, offset=0):
    """Positions of queries as a column, of keys as a row."""
    keys = offset + queries if keys is None else keys
    return offset + torch.arange(queries)[:, None], torch.arange(keys)[None, :]


def causal(queries, keys=None, offset=0):
    i, j = pairs(queries, keys, offset)
    return j > i


def window(queries, left, right):
    i, j = pairs(queries)
    return (j < i - left) | (j > i + right)


def prefix(queries, first):
    i, j = pairs(queries)
    return (j > i) & (j >= first)


def padding(lengths, keys):
    """[B][1][1][keys]."""
    return (torch.arange(keys)[None, :] >= lengths[:, None])[:, None, None, :]


def empty_rows_to(value, weights):
    """Weights with `value` where a whole row was masked, which softmax makes NaN."""
    return torch.where(weights.isnan().all(-1, keepdim=True), value, weights)


def softmax(scores):
    return empty_rows_to(0.0, scores.softmax(-1))


def dot(q, k):
    return q @ k.mT


def head_dim(d):
    return d.get("head_dim", d["d_model"] // d["heads"])


def scale_of(d, width):
    """What scores are multiplied with."""
    scale = d.get("scale", width ** -0.5)
    return 1.0 if scale is False else scale


def attention(golden, d, path, x, source=None, value=None, *, blocked=None, bias=0.0, rotate=None,
              scores=dot, weigh=softmax, factor=1.0, past=None, seen=None):
    """Multi-head attention from x to source, or to x itself; values come from `value`, or from source.

    blocked   true where a query may not see a key; broadcasts to [B][H][S][T]
    bias      added to the scaled scores
    rotate    turns q and k, [B][heads][S][D]
    scores    (q, k) -> scores before scaling
    weigh     scores -> weights
    factor    of the weights, after `weigh`
    past      (keys, values), [B][P][K * D] or [B][K][P][D], that stand before the new ones
    seen      a dict that takes weights, keys and values
    """
    heads, width = d["heads"], head_dim(d)
    kv_heads = d.get("kv_heads", heads)
    source = x if source is None else source
    value = source if value is None else value
    q = split(linear(golden, path + ".q", x, heads * width, has_bias(d, "qkv"), 1.5), heads)
    k = split(linear(golden, path + ".k", source, kv_heads * width, has_bias(d, "qkv"), 1.5), kv_heads)
    v = split(linear(golden, path + ".v", value, kv_heads * width, has_bias(d, "qkv")), kv_heads)
    if rotate:
        q, k = rotate(q), rotate(k)
    by_head = d.get("kv_layout") == "heads_first"
    found = {"keys": k, "values": v} if by_head else {"keys": join(k), "values": join(v)}
    if past is not None:
        k, v = (torch.cat((before if by_head else split(before, kv_heads), new), 2)
                for before, new in zip(past, (k, v)))
    k, v = (y.repeat_interleave(heads // kv_heads, 1) for y in (k, v))
    s = scale_of(d, width) * scores(q, k)
    if "softcap" in d:  # Gemma 2
        s = d["softcap"] * (s / d["softcap"]).tanh()
    s = s + bias
    if blocked is not None:
        s = s.masked_fill(blocked, -torch.inf)
    found["weights"] = weigh(s) * factor
    if seen is not None:
        seen.update(found)
    context = join(found["weights"] @ v)
    return linear(golden, path + ".out", context, d["d_model"], has_bias(d, "out"))


def feed_forward(golden, d, path, x):
    act, bias = ACTIVATIONS[d.get("activation", "gelu")], has_bias(d, "ff")
    up = linear(golden, path + ".up", x, d["d_ff"], bias)
    if d.get("gated"):
        up = act(linear(golden, path + ".gate", x, d["d_ff"], bias)) * up
    else:
        up = act(up)
    return linear(golden, path + ".down", up, d["d_model"], bias)


def sublayer(golden, d, path, x, part):
    """x + part(x), with the norm of this path before the part, after the sum, or nowhere."""
    where = d.get("norm", "post")
    y = part(norm(golden, d, path, x) if where == "pre" else x)
    if d.get("residual", True):
        y = x + y
    return norm(golden, d, path, y) if where == "post" else y


def stack(golden, d, x, attend=None, cross=None, prefix=""):
    """All layers and the final norm. attend and cross are (layer, path, x) -> result."""
    attend = attend or (lambda layer, path, y: attention(golden, d, path, y))
    for layer in range(d["layers"]):
        path = f"{prefix}l{layer}"
        x = sublayer(golden, d, path + ".norm1", x, lambda y: attend(layer, path + ".attn", y))
        if cross:
            x = sublayer(golden, d, path + ".norm_cross", x, lambda y: cross(layer, path + ".cross", y))
        if d["d_ff"]:
            x = sublayer(golden, d, path + ".norm2", x, lambda y: feed_forward(golden, d, path + ".ff", y))
    return norm(golden, d, prefix + "final_norm", x) if d.get("final_norm") else x


# Positions.

def sinusoidal(seq, width):
    """Vaswani et al. 2017, section 3.5."""
    column = torch.arange(width)
    angle = torch.arange(seq)[:, None].double() / 10000.0 ** ((column - column % 2).double() / width)
    return torch.where(column % 2 == 0, angle.sin(), angle.cos())


def angles(seq, width, theta, first):
    frequency = theta ** (-torch.arange(0, width, 2).double() / width)
    return (first + torch.arange(seq))[:, None].double() * frequency


def rope_halves(theta=10000.0, width=None, first=0):
    """Hugging Face's rotary positions: rotate_half on the first `width` dimensions."""
    def rotate(x):
        turned, rest = x[..., : width or x.shape[-1]], x[..., width or x.shape[-1]:]
        angle = angles(x.shape[-2], turned.shape[-1], theta, first)
        angle = torch.cat((angle, angle), -1)
        a, b = turned.chunk(2, -1)
        return torch.cat((turned * angle.cos() + torch.cat((-b, a), -1) * angle.sin(), rest), -1)
    return rotate


def rope_pairs(theta=10000.0, width=None, first=0):
    """The rotary positions of GPT-J and of Meta's Llama: neighbours are complex numbers."""
    def rotate(x):
        turned, rest = x[..., : width or x.shape[-1]], x[..., width or x.shape[-1]:]
        angle = angles(x.shape[-2], turned.shape[-1], theta, first)
        number = torch.view_as_complex(turned.unflatten(-1, (-1, 2)).contiguous())
        number = number * torch.polar(torch.ones_like(angle), angle)
        return torch.cat((torch.view_as_real(number).flatten(-2), rest), -1)
    return rotate
