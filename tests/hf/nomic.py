"""NomicBERT's mixture of experts (nomic-embed-text v2) by its published description: transformers has only the dense
model. Every second layer has experts, without biases but one of their sum; the other feed-forwards have no gate."""

import torch
import transformers as hf
from torch import nn


class Dense(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.fc1 = nn.Linear(config.hidden_size, config.intermediate_size)
        self.fc2 = nn.Linear(config.intermediate_size, config.hidden_size)

    def forward(self, x):
        return self.fc2(nn.functional.gelu(self.fc1(x)))


class Mixture(nn.Module):
    def __init__(self, config):
        super().__init__()
        rows = config.num_experts * config.intermediate_size
        self.router, self.experts = nn.Module(), nn.Module()
        self.router.layer = nn.Linear(config.hidden_size, config.num_experts, bias=False)
        self.experts.mlp = nn.Module()
        self.experts.mlp.w1 = nn.Parameter(torch.empty(rows, config.hidden_size))
        self.experts.mlp.w2 = nn.Parameter(torch.empty(rows, config.hidden_size))
        self.experts.bias = nn.Parameter(torch.empty(config.hidden_size))
        self.count, self.used = config.num_experts, config.moe_top_k

    def forward(self, x):
        weights, chosen = self.router.layer(x).softmax(-1).topk(self.used, dim=-1)
        each = torch.zeros(*x.shape[:2], self.count).scatter(-1, chosen, weights)
        w1, w2 = (w.view(self.count, -1, x.shape[-1]) for w in (self.experts.mlp.w1, self.experts.mlp.w2))
        inner = nn.functional.gelu(torch.einsum("bsi,efi->besf", x, w1))
        return torch.einsum("besf,efo,bse->bso", inner, w2, each) + self.experts.bias


class NomicMoeModel(getattr(hf, "NomicBertModel", object)):  # transformers 4 has none, which texts.py --pipeline runs
    def __init__(self, config, *args, **kwargs):
        super().__init__(config, *args, **kwargs)
        for number, layer in enumerate(self.layers):
            layer.mlp = (Mixture if number % config.moe_every_n_layers == 1 else Dense)(config)
            width = config.hidden_size
            for part in ("q_proj", "k_proj", "v_proj", "o_proj"):
                setattr(layer.self_attn, part, nn.Linear(width, width))
