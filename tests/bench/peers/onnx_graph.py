"""The models as ONNX graphs, written by hand in the forms that the engines' fusions know:
plain (standard operators, opset 17), or with ONNX Runtime's own fused operators."""
import math

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FORMS = "plain", "attention", "multihead"     # the last two: with the fused operator of that kind
CONTRIB = "com.microsoft"


class Graph:
    """Collects nodes and constants; each method returns the name of the new tensor."""

    def __init__(self):
        self.nodes, self.constants, self.count = [], {}, 0

    def constant(self, name, array):
        self.constants.setdefault(name, numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(self, kind, *inputs, outputs=1, domain="", **attributes):
        self.count += 1
        name = f"{kind}_{self.count}"
        names = [name if i == 0 else f"{name}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, name=f"node_{name}", domain=domain,
                                           **attributes))
        return names[0] if outputs == 1 else names

    def reshape(self, x, *shape):
        name = "shape_" + "_".join(map(str, shape))
        return self.node("Reshape", x, self.constant(name, np.array(shape, np.int64)))

    def proto(self, x, input_shape, output_shape):
        """The model whose result is x."""
        self.nodes.append(helper.make_node("Identity", [x], ["output"], name="node_output"))
        graph = helper.make_graph(
            self.nodes, "encoder", [helper.make_tensor_value_info("input", TensorProto.FLOAT, input_shape)],
            [helper.make_tensor_value_info("output", TensorProto.FLOAT, output_shape)],
            list(self.constants.values()))
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(CONTRIB, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)


class Writer:
    """One model, its weights (PyTorch's names to arrays) and the form to write it in."""

    def __init__(self, model, weights, form):
        self.model, self.weights, self.form, self.graph = model, weights, form, Graph()
        self.fused = form != "plain"

    def weight(self, name, rows=None):
        """A matrix as [in, out], or a vector; `rows` of it only."""
        array = self.weights[name]
        label = name if rows is None else f"{name}.{rows.start}"
        array = array if rows is None else array[rows]
        return self.graph.constant(label, array.T if array.ndim == 2 else array)

    def product(self, x, name, rows=None, bias=None):
        """x · W, without the bias unless it is named."""
        y = self.graph.node("MatMul", x, self.weight(name, rows))
        return self.graph.node("Add", y, self.weight(bias, rows)) if bias else y

    def norm(self, x, name):
        return self.graph.node("LayerNormalization", x, self.weight(name + ".weight"), self.weight(name + ".bias"),
                               axis=-1, epsilon=1e-5)

    def masked(self, scores):
        m = self.model
        if not m.causal:
            return scores
        mask = np.triu(np.full((1, 1, m.seq, m.seq), np.finfo(np.float32).min, np.float32), 1)
        return self.graph.node("Add", scores, self.graph.constant("mask", mask))

    def attention_plain(self, x, path):
        g, m = self.graph, self.model
        parts = []
        for part, order in enumerate(([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])):   # queries, keys transposed, values
            rows = slice(part * m.d_model, (part + 1) * m.d_model)
            y = self.product(x, path + ".in_proj_weight", rows, path + ".in_proj_bias")
            parts.append(g.node("Transpose", g.reshape(y, 0, 0, m.heads, m.head_dim), perm=order))
        scores = g.node("MatMul", parts[0], parts[1])
        scores = g.node("Div", scores, g.constant("scale", np.array(math.sqrt(m.head_dim), np.float32)))
        y = g.node("MatMul", g.node("Softmax", self.masked(scores), axis=-1), parts[2])
        return g.reshape(g.node("Transpose", y, perm=[0, 2, 1, 3]), 0, 0, m.d_model)

    def attention(self, x, path):
        """The heads' results side by side, before the output's product."""
        m = self.model
        more = {"num_heads": m.heads, "unidirectional": int(m.causal), "domain": CONTRIB}
        if self.form == "attention":
            return self.graph.node("Attention", x, self.weight(path + ".in_proj_weight"),
                                   self.weight(path + ".in_proj_bias"), **more)
        if self.form == "multihead":
            parts = [self.product(x, path + ".in_proj_weight", slice(i * m.d_model, (i + 1) * m.d_model))
                     for i in range(3)]
            return self.graph.node("MultiHeadAttention", *parts, self.weight(path + ".in_proj_bias"), **more)
        return self.attention_plain(x, path)

    def activated(self, x, path):
        """activation(x · W1 + b1)"""
        g, m = self.graph, self.model
        name, bias = path + ".linear1.weight", path + ".linear1.bias"
        if self.fused and m.activation == "gelu":
            return g.node("BiasGelu", self.product(x, name), self.weight(bias), domain=CONTRIB)
        if self.fused:
            y = g.node("FusedGemm", g.reshape(x, -1, m.d_model), self.weight(name), self.weight(bias),
                       domain=CONTRIB, activation="Relu")
            return g.reshape(y, m.batch, -1, m.d_ff)
        y = self.product(x, name, bias=bias)
        if m.activation == "relu":
            return g.node("Relu", y)
        number = lambda label, value: g.constant(label, np.array(value, np.float32))
        erf = g.node("Erf", g.node("Div", y, number("sqrt2", math.sqrt(2.0))))
        return g.node("Mul", g.node("Mul", y, g.node("Add", erf, number("one", 1.0))), number("half", 0.5))

    def joined(self, y, x, bias, norm):
        """(x + y + bias, its norm); either is None where the block has no use for it."""
        g = self.graph
        if norm is None:
            return g.node("Add", g.node("Add", y, self.weight(bias)), x), None
        if not self.fused:
            total = g.node("Add", g.node("Add", y, self.weight(bias)), x)
            return total, self.norm(total, norm)
        result, _, _, total = g.node("SkipLayerNormalization", y, x, self.weight(norm + ".weight"),
                                     self.weight(norm + ".bias"), self.weight(bias), outputs=4, domain=CONTRIB,
                                     epsilon=1e-5)
        if self.model.norm == "post":           # the sum is not wanted
            del self.graph.nodes[-1].output[1:]
        else:                                   # nor are mean and deviation
            self.graph.nodes[-1].output[1] = self.graph.nodes[-1].output[2] = ""
        return total, result

    def layers(self, x):
        m = self.model
        paths = [f"encoder.layers.{i}" for i in range(m.layers)]
        last = "encoder.norm" if m.final_norm else None
        if m.norm == "post":
            for path in paths:
                y = self.product(self.attention(x, path + ".self_attn"), path + ".self_attn.out_proj.weight")
                _, x = self.joined(y, x, path + ".self_attn.out_proj.bias", path + ".norm1")
                y = self.product(self.activated(x, path), path + ".linear2.weight")
                _, x = self.joined(y, x, path + ".linear2.bias", path + ".norm2")
            return self.norm(x, last) if last else x
        normed = self.norm(x, paths[0] + ".norm1")
        for path, following in zip(paths, [p + ".norm1" for p in paths[1:]] + [last]):
            y = self.product(self.attention(normed, path + ".self_attn"), path + ".self_attn.out_proj.weight")
            x, normed = self.joined(y, x, path + ".self_attn.out_proj.bias", path + ".norm2")
            y = self.product(self.activated(normed, path), path + ".linear2.weight")
            x, normed = self.joined(y, x, path + ".linear2.bias", following)
        return normed if last else x

    def write(self):
        g, m, x = self.graph, self.model, "input"
        if m.features:
            x = self.product(x, "input.weight", bias="input.bias")
        x = self.layers(x)
        if m.speakers:
            x = g.node("ReduceMean", x, axes=[1], keepdims=0)
            x = g.node("Gemm", x, self.weight("output.1.weight"), self.weight("output.1.bias"))
            x = g.node("Gemm", g.node("Sigmoid", x), self.weight("output.3.weight"), self.weight("output.3.bias"))
        named = lambda shape: [shape[0], "tokens", *shape[2:]] if m.any_length and len(shape) > 2 else shape
        return g.proto(x, named(m.input_shape), named(m.output_shape))


def write_graph(model, weights, form):
    """A ModelProto with `input` and `output`, both float32; of fixed shapes, or of any number of tokens."""
    return Writer(model, weights, form).write()
