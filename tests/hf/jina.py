"""JinaBERT by its published description, as plain modules with the published names: transformers has none.

The first version is that of jina-embeddings-v2-base-en; `post_norm` in the configuration makes the second, which has
norms of all queries and keys, and other names (jina-embeddings-v2-base-code). Distances to both sides are subtracted
from the scores, by slopes of ALiBi (Press et al. 2022).
"""

import math

import torch
import transformers as hf
from torch import nn
from transformers.modeling_outputs import BaseModelOutputWithPooling, MaskedLMOutput, SequenceClassifierOutput


def slopes(heads):
    """A geometric series for a power of two; else that of the next lower one, and every second of the next higher."""
    power = 2 ** math.floor(math.log2(heads))
    series = [2.0 ** (-8.0 * (i + 1) / power) for i in range(power)]
    return series if power == heads else series + slopes(2 * power)[0::2][:heads - power]


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        width = config.hidden_size
        self.self, self.output = nn.Module(), nn.Module()
        for name in ("query", "key", "value"):
            setattr(self.self, name, nn.Linear(width, width))
        if config.post_norm:
            self.self.layer_norm_q = nn.LayerNorm(width, eps=config.layer_norm_eps)
            self.self.layer_norm_k = nn.LayerNorm(width, eps=config.layer_norm_eps)
        self.output.dense = nn.Linear(width, width)
        if not config.post_norm:
            self.output.LayerNorm = nn.LayerNorm(width, eps=config.layer_norm_eps)
        self.heads, self.post_norm = config.num_attention_heads, config.post_norm

    def forward(self, x, added):
        def by_head(y):
            return y.view(*y.shape[:2], self.heads, -1).transpose(1, 2)
        q, k, v = self.self.query(x), self.self.key(x), self.self.value(x)
        if self.post_norm:
            q, k = self.self.layer_norm_q(q), self.self.layer_norm_k(k)
        q, k, v = by_head(q), by_head(k), by_head(v)
        weights = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]) + added, -1)
        return self.output.dense((weights @ v).transpose(1, 2).flatten(2))


class Layer(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, inner, eps = config.hidden_size, config.intermediate_size, config.layer_norm_eps
        self.attention, self.mlp, self.post_norm = Attention(config), nn.Module(), config.post_norm
        if self.post_norm:
            self.mlp.up_gated_layer = nn.Linear(width, 2 * inner, bias=False)
            self.mlp.down_layer = nn.Linear(inner, width)
            self.layer_norm_1, self.layer_norm_2 = nn.LayerNorm(width, eps=eps), nn.LayerNorm(width, eps=eps)
        else:
            self.mlp.gated_layers = nn.Linear(width, 2 * inner, bias=False)
            self.mlp.wo = nn.Linear(inner, width)
            self.mlp.layernorm = nn.LayerNorm(width, eps=eps)
        self.act = {"geglu": nn.functional.gelu, "reglu": nn.functional.relu}[config.feed_forward_type]

    def forward(self, x, added):
        y = self.attention(x, added)
        if self.post_norm:
            x = self.layer_norm_1(x + y)
            up, gate = self.mlp.up_gated_layer(x).chunk(2, -1)
            return self.layer_norm_2(x + self.mlp.down_layer(up * self.act(gate)))
        x = self.attention.output.LayerNorm(x + y)
        gate, other = self.mlp.gated_layers(x).chunk(2, -1)
        return self.mlp.layernorm(x + self.mlp.wo(self.act(gate) * other))


class JinaBertConfig(hf.BertConfig):
    def __init__(self, position_embedding_type="alibi", feed_forward_type="geglu", post_norm=False, **more):
        super().__init__(**more)
        self.position_embedding_type, self.feed_forward_type = position_embedding_type, feed_forward_type
        self.post_norm = post_norm


class Base(hf.PreTrainedModel):
    config_class = JinaBertConfig
    base_model_prefix = "bert"

    def _init_weights(self, module):
        pass


class JinaBertModel(Base):
    def __init__(self, config):
        super().__init__(config)
        width = config.hidden_size
        self.embeddings, self.encoder, self.pooler = nn.Module(), nn.Module(), nn.Module()
        self.embeddings.word_embeddings = nn.Embedding(config.vocab_size, width)
        self.embeddings.token_type_embeddings = nn.Embedding(config.type_vocab_size, width)
        self.embeddings.LayerNorm = nn.LayerNorm(width, eps=config.layer_norm_eps)
        self.encoder.layer = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))
        self.pooler.dense = nn.Linear(width, width)
        self.post_init()

    def forward(self, input_ids, attention_mask, token_type_ids=None):
        types = torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids
        x = self.embeddings.LayerNorm(self.embeddings.word_embeddings(input_ids)
                                      + self.embeddings.token_type_embeddings(types))
        place = torch.arange(input_ids.shape[1])
        apart = (place[None] - place[:, None]).abs().float()
        added = -torch.tensor(slopes(self.config.num_attention_heads))[:, None, None] * apart
        added = added[None].masked_fill(attention_mask[:, None, None] == 0, torch.finfo(torch.float32).min)
        for layer in self.encoder.layer:
            x = layer(x, added)
        return BaseModelOutputWithPooling(last_hidden_state=x, pooler_output=torch.tanh(self.pooler.dense(x[:, 0])))


class JinaBertForSequenceClassification(Base):
    def __init__(self, config):
        super().__init__(config)
        self.bert, self.classifier = JinaBertModel(config), nn.Linear(config.hidden_size, config.num_labels)
        self.post_init()

    def forward(self, **inputs):
        return SequenceClassifierOutput(logits=self.classifier(self.bert(**inputs).pooler_output))


class JinaBertForMaskedLM(Base):
    def __init__(self, config):
        super().__init__(config)
        width = config.hidden_size
        self.bert, self.cls = JinaBertModel(config), nn.Module()
        self.cls.predictions = nn.Module()
        self.cls.predictions.transform = nn.Module()
        self.cls.predictions.transform.dense = nn.Linear(width, width)
        self.cls.predictions.transform.LayerNorm = nn.LayerNorm(width, eps=config.layer_norm_eps)
        self.cls.predictions.bias = nn.Parameter(torch.zeros(config.vocab_size))
        self.post_init()

    def forward(self, **inputs):
        head = self.cls.predictions
        x = head.transform.LayerNorm(nn.functional.gelu(head.transform.dense(self.bert(**inputs).last_hidden_state)))
        return MaskedLMOutput(logits=x @ self.bert.embeddings.word_embeddings.weight.T + head.bias)
