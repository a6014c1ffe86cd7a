"""OpenVINO: the ONNX graph, and PyTorch's scaled_dot_product_attention as OpenVINO converts
it, in f32, bf16 or, quantised by NNCF, int8, for latency. Called through its C interface by
ctypes, which costs less a call than its Python one."""
import ctypes
import tempfile
from pathlib import Path

import numpy as np
import onnx
import openvino

import onnx_graph

F32 = 4     # OpenVINO's number of the element type
LIBRARY = next((Path(openvino.__file__).parent / "libs").glob("libopenvino_c.so*"))


class Shape(ctypes.Structure):
    _fields_ = [("rank", ctypes.c_int64), ("dims", ctypes.POINTER(ctypes.c_int64))]


def source(model, data, engine, variant):
    """(a graph or the file of one, the number type of what is not int8 in it)."""
    if model.precision != "int8":
        return f32_graph(model, data, variant), model.precision
    import quantised
    form, others = variant.split()
    return quantised.path_of(model, engine, form, lambda: read(f32_graph(model, data, form))), others


def read(graph):
    """A graph of either kind as an openvino.Model."""
    if not isinstance(graph, onnx.ModelProto):
        return graph
    with tempfile.TemporaryDirectory() as folder:
        return openvino.Core().read_model(save(graph, folder).decode())


def f32_graph(model, data, form):
    """A graph: ONNX, or converted from PyTorch."""
    if form == "onnx":
        return onnx_graph.write_graph(model, data.arrays(), "plain")
    import torch

    from encoder import PlainEncoder
    batch, seq, width = model.input_shape
    with torch.no_grad():
        return openvino.convert_model(PlainEncoder(data.module(), model), example_input=torch.zeros(batch, seq, width),
                                      input=[openvino.PartialShape([batch, -1 if model.any_length else seq, width])])


def save(graph, folder):
    """The graph as a file that the C interface reads."""
    if isinstance(graph, Path):
        return str(graph).encode()
    if isinstance(graph, onnx.ModelProto):
        path = Path(folder) / "model.onnx"
        onnx.save(graph, path)
    else:
        path = Path(folder) / "model.xml"
        openvino.save_model(graph, path, compress_to_fp16=False)
    return str(path).encode()


class Engine:
    def __init__(self, model, threads, graph_and_type, x):
        graph, number_type = graph_and_type
        self.library = ctypes.CDLL(str(LIBRARY))
        self.library.ov_get_last_err_msg.restype = ctypes.c_char_p
        self.core, self.compiled, self.request = (ctypes.c_void_p() for _ in range(3))
        read = ctypes.c_void_p()
        properties = {"INFERENCE_PRECISION_HINT": number_type, "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": "1",
                      "INFERENCE_NUM_THREADS": str(threads)}
        words = [ctypes.c_char_p(word.encode()) for pair in properties.items() for word in pair]
        self.call("core_create", ctypes.byref(self.core))
        with tempfile.TemporaryDirectory() as folder:
            self.call("core_read_model", self.core, save(graph, folder), None, ctypes.byref(read))
            self.call("core_compile_model", self.core, read, b"CPU", ctypes.c_size_t(len(words)),
                      ctypes.byref(self.compiled), *words)
            self.library.ov_model_free(read)
        self.call("compiled_model_create_infer_request", self.compiled, ctypes.byref(self.request))
        self.any_length, self.output_shape, self.tensors = model.any_length, model.output_shape, []
        self.take(x)

    def take(self, x):
        """Makes x the input of the next calls; of a model of any length it may have any number of tokens."""
        before = self.tensors
        self.x = np.array(x, np.float32)
        shape = (*x.shape[:2], *self.output_shape[2:]) if self.any_length else self.output_shape
        self.y = np.full(shape, np.nan, np.float32)
        self.tensors = [self.bind("input", self.x), self.bind("output", self.y)]
        self.free(before)

    def free(self, tensors):
        for tensor in tensors:
            self.library.ov_tensor_free(tensor)

    def call(self, name, *arguments):
        if getattr(self.library, "ov_" + name)(*arguments):
            raise RuntimeError(f"openvino: {name}: {(self.library.ov_get_last_err_msg() or b'').decode()}")

    def bind(self, side, array):
        """Makes the request read or write the array itself."""
        shape = Shape(array.ndim, (ctypes.c_int64 * array.ndim)(*array.shape))
        tensor = ctypes.c_void_p()
        self.call("tensor_create_from_host_ptr", F32, shape, ctypes.c_void_p(array.ctypes.data), ctypes.byref(tensor))
        self.call(f"infer_request_set_{side}_tensor_by_index", self.request, ctypes.c_size_t(0), tensor)
        return tensor

    def run(self, calls):
        infer, request = self.library.ov_infer_request_infer, self.request
        for _ in range(calls):
            if infer(request):
                raise RuntimeError("openvino: infer failed")

    def output(self):
        return self.y

    def close(self):
        self.free(self.tensors)
        self.library.ov_infer_request_free(self.request)
        self.library.ov_compiled_model_free(self.compiled)
        self.library.ov_core_free(self.core)
