"""The models in PyTorch: as torch.nn.TransformerEncoder, whose state_dict every engine
takes its weights from, and as plain functions around scaled_dot_product_attention."""
import zlib

import torch
import torch.nn.functional as F
from torch import nn


class Mean(nn.Module):
    def forward(self, x):
        return x.mean(dim=1)


class Encoder(nn.Module):
    """PyTorch's own encoder, with its fast path where it has one."""

    def __init__(self, model):
        super().__init__()
        layer = nn.TransformerEncoderLayer(model.d_model, model.heads, model.d_ff, dropout=0.0,
                                           activation=model.activation, batch_first=True,
                                           norm_first=model.norm == "pre")
        norm = nn.LayerNorm(model.d_model) if model.final_norm else None
        self.input = nn.Linear(model.features, model.d_model) if model.features else nn.Identity()
        self.encoder = nn.TransformerEncoder(layer, model.layers, norm=norm, enable_nested_tensor=False)
        self.output = nn.Sequential(Mean(), nn.Linear(model.d_model, model.hidden), nn.Sigmoid(),
                                    nn.Linear(model.hidden, model.speakers)) if model.speakers else nn.Identity()
        self.causal = model.causal
        if model.causal:
            mask = nn.Transformer.generate_square_subsequent_mask(model.seq)
            self.register_buffer("mask", mask, persistent=False)

    def forward(self, x):
        x = self.input(x)
        x = self.encoder(x, mask=self.mask, is_causal=True) if self.causal else self.encoder(x)
        return self.output(x)


class PlainEncoder(nn.Module):
    """The same computation from the same parameters, one line an operation."""

    def __init__(self, encoder, model):
        super().__init__()
        self.parts = encoder
        self.heads, self.causal, self.pre = model.heads, model.causal, model.norm == "pre"
        self.activation = {"gelu": F.gelu, "relu": F.relu}[model.activation]

    def queries_keys_values(self, x, a):
        return F.linear(x, a.in_proj_weight, a.in_proj_bias)

    def joined(self, x, a):
        return a.out_proj(x)

    def feed(self, x, layer):
        return layer.linear2(self.activation(layer.linear1(x)))

    def attention(self, x, a):
        batch, seq, width = x.shape
        qkv = self.queries_keys_values(x, a).view(batch, seq, 3, self.heads, width // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.joined(y.transpose(1, 2).reshape(batch, seq, width), a)

    def forward(self, x):
        x = self.parts.input(x)
        for layer in self.parts.encoder.layers:
            if self.pre:
                x = x + self.attention(layer.norm1(x), layer.self_attn)
                x = x + self.feed(layer.norm2(x), layer)
            else:
                x = layer.norm1(x + self.attention(x, layer.self_attn))
                x = layer.norm2(x + self.feed(x, layer))
        if self.parts.encoder.norm is not None:
            x = self.parts.encoder.norm(x)
        return self.parts.output(x)


class OneDnnEncoder(PlainEncoder):
    """The same on oneDNN's products with packed weights and the activation fused: PyTorch's own default is MKL, which
    is slow on processors of other makers than Intel."""

    def __init__(self, encoder, model):
        super().__init__(encoder, model)
        rows = model.batch * model.seq
        for layer in encoder.encoder.layers:
            for part, weight in ((layer.self_attn, "in_proj_weight"), (layer.self_attn.out_proj, "weight"),
                                 (layer.linear1, "weight"), (layer.linear2, "weight")):
                part.packed = torch.ops.mkldnn._reorder_linear_weight(getattr(part, weight), rows)
        self.fused = model.activation

    @staticmethod
    def product(x, part, bias, fused="none"):
        y = torch.ops.mkldnn._linear_pointwise(x.flatten(0, 1), part.packed, bias, fused, [],
                                               "none" if fused == "gelu" else "")
        return y.unflatten(0, x.shape[:2])

    def feed(self, x, layer):
        y = self.product(x, layer.linear1, layer.linear1.bias, self.fused)
        return self.product(y, layer.linear2, layer.linear2.bias)

    def queries_keys_values(self, x, a):
        return self.product(x, a, a.in_proj_bias)

    def joined(self, x, a):
        return self.product(x, a.out_proj, a.out_proj.bias)


def make_encoder(model):
    """An Encoder with random weights, the same for the same name; those of norms and biases are random too, since
    zeros and ones would hide one that is left out."""
    random = torch.Generator().manual_seed(zlib.crc32(model.name.encode()))
    encoder = Encoder(model).eval().requires_grad_(False)
    for name, value in encoder.named_parameters():
        noise = torch.randn(value.shape, generator=random)
        if value.dim() == 2:
            value.copy_(noise / value.shape[1] ** 0.5)
        else:
            value.copy_(0.1 * noise + (1.0 if "norm" in name and name.endswith("weight") else 0.0))
    return encoder


def make_input(model):
    """Standard normal hidden states or features, [batch][seq][width]."""
    random = torch.Generator().manual_seed(zlib.crc32(model.name.encode()) + 1)
    return torch.randn(model.input_shape, generator=random)


@torch.inference_mode()
def expected_output(encoder, model, x):
    """What the model should give, computed in double precision; a float64 array."""
    y = PlainEncoder(encoder.double(), model)(x.double()).numpy()
    encoder.float()
    return y
