"""ONNX Runtime: the graph in each form that its fusions know, all optimisations on, inputs
and outputs bound beforehand."""
import logging

import numpy as np
import onnxruntime

import onnx_graph


def optimised(model, proto):
    """The plain graph through onnxruntime.transformers.optimizer, or None where that fuses no attention."""
    from onnxruntime.transformers import optimizer
    logging.getLogger("onnxruntime.transformers").setLevel(logging.ERROR)
    result = optimizer.optimize_model(proto, model_type="bert", num_heads=model.heads, hidden_size=model.d_model,
                                      opt_level=0)
    fused = any(node.op_type in ("Attention", "MultiHeadAttention") for node in result.model.graph.node)
    return result.model if fused else None


def variants(model, encoder, weights):
    """Pairs of a name and a graph, the plain one first."""
    for form in onnx_graph.FORMS:
        yield form, onnx_graph.write_graph(model, weights, form)
    proto = optimised(model, onnx_graph.write_graph(model, weights, "plain"))
    if proto is not None:
        yield "optimizer", proto


class OnnxRuntime:
    def __init__(self, model, threads, proto, x):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(proto.SerializeToString(), options, ["CPUExecutionProvider"])
        self.x = onnxruntime.OrtValue.ortvalue_from_numpy(np.array(x, np.float32))
        self.y = onnxruntime.OrtValue.ortvalue_from_numpy(np.full(model.output_shape, np.nan, np.float32))
        self.binding = self.session.io_binding()
        self.binding.bind_ortvalue_input("input", self.x)
        self.binding.bind_ortvalue_output("output", self.y)

    def run(self, calls):
        call, binding = self.session.run_with_iobinding, self.binding
        for _ in range(calls):
            call(binding)

    def output(self):
        return self.y.numpy()

    def close(self):
        self.binding = self.session = None
