"""Encoders whose folders have code of their own, by their published descriptions, with the published names of keys and
tensors: NomicBERT (nomic-embed-text v1, v1.5, v2), GTE v1.5 ("new") and JinaBERT of both versions. A key that a
configuration leaves out has the default of the published code."""

import json
import math

import torch
from safetensors.torch import load_file, save_file
from torch import nn
from transformers.activations import ACT2FN

from jina import slopes


def linears(module, *sizes):
    """Gives a module layers, each (name, columns, rows, whether it has a bias)."""
    for name, columns, rows, has_bias in sizes:
        setattr(module, name, nn.Linear(columns, rows, bias=has_bias))


def norms(module, width, eps, *names):
    for name in names:
        setattr(module, name, nn.LayerNorm(width, eps=eps))


def heads_of(x, count):
    return x.view(*x.shape[:2], count, -1).transpose(1, 2)


def attend(q, k, v, count, added, angles=None):
    q, k, v = (heads_of(each, count) for each in (q, k, v))
    if angles is not None:
        half = q.shape[-1] // 2
        for each in (q, k):
            first, second = each[..., :half].clone(), each[..., half:].clone()
            each[..., :half] = first * angles.cos() - second * angles.sin()
            each[..., half:] = second * angles.cos() + first * angles.sin()
    weights = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]) + added, -1)
    return (weights @ v).transpose(1, 2).flatten(2)


class Encoder(nn.Module):
    """What the three have in common. Subclasses make embeddings, layers and, by the class, what follows them."""
    defaults, prefix, longest_key = {}, "", "max_position_embeddings"
    sizes = ("hidden_size", "num_attention_heads", "num_hidden_layers", "intermediate_size")

    def __init__(self, settings):
        super().__init__()
        self.settings = settings
        self.width, self.heads, count, self.inner = (settings[key] for key in self.sizes)
        self.eps, self.class_name = self.key(self.eps_key), settings["architectures"][0]
        width, self.embeddings, self.encoder = self.width, nn.Module(), nn.Module()
        self.embeddings.word_embeddings = nn.Embedding(self.rows(), width)
        if self.key("type_vocab_size"):
            self.embeddings.token_type_embeddings = nn.Embedding(self.key("type_vocab_size"), width)
        self.make(width)
        setattr(self.encoder, self.list_name, nn.ModuleList(self.layer(i) for i in range(count)))
        if self.class_name.endswith("SequenceClassification"):
            self.pooler = nn.Module()
            linears(self.pooler, ("dense", width, width, True))
            linears(self, ("classifier", width, self.labels(), True))

    def key(self, name):
        return self.settings.get(name, self.defaults.get(name))

    def labels(self):
        return self.settings.get("num_labels", 2)

    def rows(self):
        return self.key("vocab_size")

    def make(self, width):
        norms(self.embeddings, width, self.eps, "LayerNorm")

    def normed(self, x):
        return self.embeddings.LayerNorm(x)

    def frequencies(self, seq):
        return None

    def forward(self, input_ids, attention_mask, token_type_ids=None):
        x, tables = self.embeddings.word_embeddings(input_ids), self.embeddings
        if self.key("type_vocab_size"):
            types = torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids
            x = x + tables.token_type_embeddings(types)
        x, seq = self.normed(x), input_ids.shape[1]
        added = torch.zeros(attention_mask.shape).masked_fill(attention_mask == 0, -1e30)[:, None, None]
        places, found = torch.arange(seq).float(), self.frequencies(seq)
        if found is None:
            added = added - torch.tensor(slopes(self.heads))[:, None, None] * (places[None] - places[:, None]).abs()
        angles = None if found is None else places[:, None] * found
        for layer in getattr(self.encoder, self.list_name):
            x = self.compute(layer, x, added, angles)
        if self.class_name.endswith("SequenceClassification"):
            return {"logits": self.classifier(torch.tanh(self.pooler.dense(x[:, 0])))}
        return {"last_hidden_state": x}

    def save(self, folder, dtype):
        """Writes a folder, and takes the numbers that it then has."""
        folder.mkdir(parents=True)
        (folder / "config.json").write_text(json.dumps(self.settings, indent=1))
        is_head = self.class_name.endswith("SequenceClassification")
        save_file({(self.prefix if is_head and not name.startswith("classifier") else "") + name: value.to(dtype).contiguous()
                   for name, value in self.state_dict().items()}, folder / "model.safetensors", metadata={"format": "pt"})
        self.load_state_dict({name.removeprefix(self.prefix): value.float()
                              for name, value in load_file(folder / "model.safetensors").items()})


def ntk(base, width):
    return base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)


class Nomic(Encoder):
    sizes, eps_key, longest_key = ("n_embd", "n_head", "n_layer", "n_inner"), "layer_norm_epsilon", "n_positions"
    list_name, prefix = "layers", "bert."
    defaults = {"layer_norm_epsilon": 1e-5, "activation_function": "gelu_new", "qkv_proj_bias": True, "mlp_fc1_bias": True,
                "mlp_fc2_bias": True, "rotary_emb_base": 10000, "type_vocab_size": 2, "pad_vocab_size_multiple": 1,
                "rotary_emb_fraction": 0.0, "max_trained_positions": 2048, "moe_every_n_layers": 0}
    gates = {"swiglu": "silu", "geglu": "gelu", "glu": "sigmoid"}

    def rows(self):
        multiple = self.key("pad_vocab_size_multiple")
        return -(-self.key("vocab_size") // multiple) * multiple

    def make(self, width):
        norms(self, width, self.eps, "emb_ln")

    def normed(self, x):
        return self.emb_ln(x)

    def frequencies(self, seq):
        base, width, trained = self.key("rotary_emb_base"), self.width // self.heads, self.key("max_trained_positions")
        factor = self.key("rotary_scaling_factor")
        if factor and seq > trained:
            base = base * (factor * seq / trained - (factor - 1)) ** (width / (width - 2))
        return ntk(base, width).float()

    def layer(self, number):
        made, width, inner, step = nn.Module(), self.width, self.inner, self.key("moe_every_n_layers")
        made.attn, made.mlp = nn.Module(), nn.Module()
        has = self.key("qkv_proj_bias")
        linears(made.attn, ("Wqkv", width, 3 * width, has), ("out_proj", width, width, has))
        norms(made, width, self.eps, "norm1", "norm2")
        first, second = self.key("mlp_fc1_bias"), self.key("mlp_fc2_bias")
        if step and number % step == 1:
            made.mlp.router, made.mlp.experts = nn.Module(), nn.Module()
            linears(made.mlp.router, ("layer", width, self.key("num_experts"), False))
            made.mlp.experts.mlp = nn.Module()
            for name in ("w1", "w2"):
                setattr(made.mlp.experts.mlp, name, nn.Parameter(torch.empty(self.key("num_experts") * inner, width)))
            made.mlp.experts.bias = nn.Parameter(torch.empty(width))
        elif self.key("activation_function") in self.gates:
            linears(made.mlp, ("fc11", width, inner, first), ("fc12", width, inner, first), ("fc2", inner, width, second))
        else:
            linears(made.mlp, ("fc1", width, inner, first), ("fc2", inner, width, second))
        return made

    def feed(self, mlp, x):
        name = self.key("activation_function")
        if hasattr(mlp, "fc11"):
            return mlp.fc2(mlp.fc11(x) * ACT2FN[self.gates[name]](mlp.fc12(x)))
        if hasattr(mlp, "fc1"):
            return mlp.fc2(nn.functional.gelu(mlp.fc1(x)))
        weights, chosen = mlp.router.layer(x).softmax(-1).topk(self.key("moe_top_k"), dim=-1)
        if self.key("moe_normalize_expert_weights"):
            weights = weights / weights.sum(-1, keepdim=True)
        w1, w2 = (w.view(self.key("num_experts"), self.inner, -1) for w in (mlp.experts.mlp.w1, mlp.experts.mlp.w2))
        every = torch.zeros(*x.shape[:2], len(w1)).scatter(-1, chosen, weights)
        inner = nn.functional.gelu(torch.einsum("bsi,efi->besf", x, w1))
        return torch.einsum("besf,efo,bse->bso", inner, w2, every) + mlp.experts.bias

    def compute(self, layer, x, added, angles):
        x = layer.norm1(x + layer.attn.out_proj(attend(*layer.attn.Wqkv(x).chunk(3, -1), self.heads, added, angles)))
        return layer.norm2(x + self.feed(layer.mlp, x))


class New(Encoder):
    eps_key, list_name, prefix = "layer_norm_eps", "layer", "new."
    defaults = {"layer_norm_eps": 1e-12, "hidden_act": "gelu", "type_vocab_size": 1, "rope_theta": 10000.0, "pack_qkv": True}

    def frequencies(self, seq):
        width, base, scaling = self.width // self.heads, self.key("rope_theta"), self.key("rope_scaling")
        if not scaling or scaling["factor"] == 1:
            return ntk(base, width).float()
        return (ntk(base * scaling["factor"], width) / scaling["factor"] ** (2 / width)).float()

    def layer(self, number):
        made, width = nn.Module(), self.width
        made.attention, made.mlp = nn.Module(), nn.Module()
        if self.key("pack_qkv"):
            linears(made.attention, ("qkv_proj", width, 3 * width, True))
        else:
            linears(made.attention, *((f"{part}_proj", width, width, True) for part in "qkv"))
        linears(made.attention, ("o_proj", width, width, True))
        linears(made.mlp, ("up_gate_proj", width, 2 * self.inner, False), ("down_proj", self.inner, width, True))
        norms(made, width, self.eps, "attn_ln", "mlp_ln")
        return made

    def compute(self, layer, x, added, angles):
        own = layer.attention
        parts = own.qkv_proj(x).chunk(3, -1) if self.key("pack_qkv") else (own.q_proj(x), own.k_proj(x), own.v_proj(x))
        x = layer.attn_ln(x + own.o_proj(attend(*parts, self.heads, added, angles)))
        up, gate = layer.mlp.up_gate_proj(x).chunk(2, -1)
        return layer.mlp_ln(x + layer.mlp.down_proj(ACT2FN[self.key("hidden_act")](gate) * up))


class Jina(Encoder):
    eps_key, list_name, prefix = "layer_norm_eps", "layer", "bert."
    defaults = {"layer_norm_eps": 1e-12, "hidden_act": "gelu", "type_vocab_size": 2, "feed_forward_type": "original"}
    gates = {"geglu": nn.functional.gelu, "reglu": nn.functional.relu}
    is_second = False

    def layer(self, number):
        made, width, inner, kind = nn.Module(), self.width, self.inner, self.key("feed_forward_type")
        made.attention = nn.Module()
        made.attention.self, made.attention.output = nn.Module(), nn.Module()
        linears(made.attention.self, *((part, width, width, True) for part in ("query", "key", "value")))
        linears(made.attention.output, ("dense", width, width, True))
        if self.is_second:
            norms(made.attention.self, width, self.eps, "layer_norm_q", "layer_norm_k")
            norms(made, width, self.eps, "layer_norm_1", "layer_norm_2")
            made.mlp = nn.Module()
            linears(made.mlp, ("up_gated_layer" if kind in self.gates else "up_layer", width,
                               inner * (1 + (kind in self.gates)), False), ("down_layer", inner, width, True))
            return made
        norms(made.attention.output, width, self.eps, "LayerNorm")
        if kind in self.gates:
            made.mlp = nn.Module()
            linears(made.mlp, ("gated_layers", width, 2 * inner, False), ("wo", inner, width, True))
            norms(made.mlp, width, self.eps, "layernorm")
        else:
            made.intermediate, made.output = nn.Module(), nn.Module()
            linears(made.intermediate, ("dense", width, inner, True))
            linears(made.output, ("dense", inner, width, True))
            norms(made.output, width, self.eps, "LayerNorm")
        return made

    def compute(self, layer, x, added, angles):
        own, kind, act = layer.attention.self, self.key("feed_forward_type"), ACT2FN[self.key("hidden_act")]
        q, k, v = own.query(x), own.key(x), own.value(x)
        if self.is_second:
            q, k = own.layer_norm_q(q), own.layer_norm_k(k)
        y = x + layer.attention.output.dense(attend(q, k, v, self.heads, added))
        if self.is_second:
            x, mlp = layer.layer_norm_1(y), layer.mlp
            if kind not in self.gates:
                return layer.layer_norm_2(x + mlp.down_layer(act(mlp.up_layer(x))))
            up, gate = mlp.up_gated_layer(x).chunk(2, -1)
            return layer.layer_norm_2(x + mlp.down_layer(up * self.gates[kind](gate)))
        x = layer.attention.output.LayerNorm(y)
        if kind not in self.gates:
            return layer.output.LayerNorm(x + layer.output.dense(act(layer.intermediate.dense(x))))
        gate, other = layer.mlp.gated_layers(x).chunk(2, -1)
        return layer.mlp.layernorm(x + layer.mlp.wo(self.gates[kind](gate) * other))


class SecondJina(Jina):
    is_second = True
    defaults = {**Jina.defaults, "feed_forward_type": "geglu"}
