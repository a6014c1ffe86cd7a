"""The model of the race of sentences as an ONNX graph, and as OpenVINO converts it from PyTorch: token
ids and a mask of padding in, the mean of each sentence's rows out."""
import numpy as np
from onnx import TensorProto, helper

import sentences
from onnx_graph import CONTRIB, Writer

EMBEDDINGS = "embeddings.LayerNorm"


class MaskedWriter(Writer):
    """The encoder with token ids before it, a mask of keys in it, and a mean over tokens after it."""

    def embedded(self):
        g, w = self.graph, self.weights
        words = g.node("Gather", g.constant("words", w["embeddings.word_embeddings.weight"]), "ids")
        place = w["embeddings.position_embeddings.weight"] + w["embeddings.token_type_embeddings.weight"][0]
        number = lambda value: g.constant(f"integer_{value}", np.array([value], np.int64))
        tokens = g.node("Slice", g.node("Shape", "ids"), number(1), number(2))
        places = g.node("Slice", g.constant("places", place), number(0), tokens, number(0))
        return self.norm(g.node("Add", words, places), EMBEDDINGS)

    def mask_of_keys(self):
        """0 for a token, the least number for padding: [sentences][1][1][tokens]."""
        g = self.graph
        mask = g.node("Unsqueeze", g.node("Cast", "mask", to=TensorProto.FLOAT),
                      g.constant("axes", np.array([1, 2], np.int64)))
        absent = g.node("Sub", g.constant("present", np.array(1, np.float32)), mask)
        return g.node("Mul", absent, g.constant("least", np.array(np.finfo(np.float32).min, np.float32)))

    def masked(self, scores):
        return self.graph.node("Add", scores, self.keys)

    def attention(self, x, path):
        g, m = self.graph, self.model
        if self.form == "attention":
            return g.node("Attention", x, self.weight(path + ".in_proj_weight"), self.weight(path + ".in_proj_bias"),
                          self.keys, num_heads=m.heads, domain=CONTRIB)
        if self.form == "multihead":
            parts = [self.product(x, path + ".in_proj_weight", slice(i * m.d_model, (i + 1) * m.d_model))
                     for i in range(3)]
            return g.node("MultiHeadAttention", *parts, self.weight(path + ".in_proj_bias"), self.keys,
                          num_heads=m.heads, domain=CONTRIB)
        return self.attention_plain(x, path)

    def write(self):
        g = self.graph
        self.keys = self.mask_of_keys() if self.form == "plain" else g.node("Cast", "mask", to=TensorProto.INT32)
        x = self.layers(self.embedded())
        last = g.constant("last", np.array([2], np.int64))
        mask = g.node("Unsqueeze", g.node("Cast", "mask", to=TensorProto.FLOAT), last)
        axis = g.constant("tokens", np.array([1], np.int64))
        total = g.node("ReduceSum", g.node("Mul", x, mask), axis, keepdims=0)
        return self.proto(g.node("Div", total, g.node("ReduceSum", mask, axis, keepdims=0)))

    def proto(self, x):
        g = self.graph
        g.nodes.append(helper.make_node("Identity", [x], ["output"], name="node_output"))
        inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["sentences", "tokens"])
                  for name in ("ids", "mask")]
        outputs = [helper.make_tensor_value_info("output", TensorProto.FLOAT, ["sentences", sentences.WIDTH])]
        graph = helper.make_graph(g.nodes, "sentences", inputs, outputs, list(g.constants.values()))
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(CONTRIB, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def write_graph(model, weights, form):
    """A ModelProto with `ids`, `mask` and `output`, of any number of sentences and tokens."""
    return MaskedWriter(model, weights, form).write()


def converted(model, weights):
    """PyTorch's scaled_dot_product_attention with a mask, as OpenVINO converts it."""
    import openvino
    import torch
    from torch import nn

    import encoder

    class Sentences(encoder.PlainEncoder):
        def __init__(self):
            parts = encoder.Encoder(model).eval().requires_grad_(False)
            parts.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()
                                   if name.startswith("encoder.")})
            super().__init__(parts, model)
            of = lambda name: torch.from_numpy(weights["embeddings." + name])
            self.words = nn.Embedding.from_pretrained(of("word_embeddings.weight"))
            self.register_buffer("places", of("position_embeddings.weight") + of("token_type_embeddings.weight")[0])
            self.norm = nn.LayerNorm(model.d_model, sentences.EPSILON)
            self.norm.load_state_dict({end: of(f"LayerNorm.{end}") for end in ("weight", "bias")})

        def attention(self, x, a):
            batch, seq, width = x.shape
            qkv = self.queries_keys_values(x, a).view(batch, seq, 3, self.heads, width // self.heads)
            q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
            y = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=self.keys)
            return self.joined(y.transpose(1, 2).reshape(batch, seq, width), a)

        def forward(self, ids, mask):
            rows = mask.to(torch.float32)
            self.keys = ((1 - rows) * torch.finfo(torch.float32).min)[:, None, None, :]
            x = super().forward(self.norm(self.words(ids) + self.places[:ids.shape[1]]))
            return (x * rows[:, :, None]).sum(1) / rows.sum(1, keepdim=True)

    any_shape = openvino.PartialShape([-1, -1])
    with torch.no_grad():
        example = torch.ones(2, 5, dtype=torch.int64)
        return openvino.convert_model(Sentences(), example_input=(example, example), input=[any_shape, any_shape])
