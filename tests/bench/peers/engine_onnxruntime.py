"""ONNX Runtime: the graph in each form that its fusions know, all optimisations on, inputs
and outputs bound beforehand; in int8 by its dynamic quantisation."""
import logging
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

import onnx_graph


def source(model, data, engine, variant):
    """A graph: in a form of onnx_graph, or the plain one through onnxruntime.transformers.optimizer."""
    graph = f32_source(model, data, variant)
    return dynamic(graph) if model.precision == "int8" else graph


def dynamic(graph):
    """The graph with weights in int8, a scale an output, and activations quantised in each call."""
    from onnxruntime.quantization import QuantType, quantize_dynamic
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        # The type is that of what comes out of its own operators, which its shape inference does not know.
        quantize_dynamic(graph, path, weight_type=QuantType.QInt8, per_channel=True,
                         extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT})
        return onnx.load(path)


def f32_source(model, data, variant):
    if variant != "optimizer":
        return onnx_graph.write_graph(model, data.arrays(), variant)
    from onnxruntime.transformers import optimizer
    logging.getLogger("onnxruntime.transformers").setLevel(logging.ERROR)
    plain = onnx_graph.write_graph(model, data.arrays(), "plain")
    return optimizer.optimize_model(plain, model_type="bert", num_heads=model.heads, hidden_size=model.d_model,
                                    opt_level=0).model


class Engine:
    def __init__(self, model, threads, proto, x):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(proto.SerializeToString(), options, ["CPUExecutionProvider"])
        self.any_length, self.output_shape = model.any_length, model.output_shape
        self.take(x)

    def take(self, x):
        """Makes x the input of the next calls; of a model of any length it may have any number of tokens."""
        shape = (*x.shape[:2], *self.output_shape[2:]) if self.any_length else self.output_shape
        self.x = onnxruntime.OrtValue.ortvalue_from_numpy(np.array(x, np.float32))
        self.y = onnxruntime.OrtValue.ortvalue_from_numpy(np.full(shape, np.nan, np.float32))
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
