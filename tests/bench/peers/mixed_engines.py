"""The engines of the race of sentences. Each computes batches of token ids: `batch(ids)` makes its
input of a list of lists, `run(input)` returns [sentences][width]."""
import ctypes
import os

import numpy as np
from safetensors.numpy import load_file

import sentences
from models import ROOT, Model


def model_of():
    """The sizes that encoder.py and onnx_graph.py read."""
    s = sentences
    return Model("sentences", "sentences", "", (), 1, s.LONGEST, s.WIDTH, s.HEADS, s.LAYERS, s.HIDDEN, "gelu", "post",
                 False, False, 0, 0, 0, least=1)


def weights_of(folder):
    """The checkpoint's weights by the names that nn.TransformerEncoder has for its own; embeddings as they are."""
    stored = load_file(folder / "model.safetensors")
    weights = {name: array for name, array in stored.items() if name.startswith("embeddings.")}
    for i in range(sentences.LAYERS):
        new, old = f"encoder.layers.{i}.", f"encoder.layer.{i}."
        for end in ("weight", "bias"):
            parts = [stored[f"{old}attention.self.{part}.{end}"] for part in ("query", "key", "value")]
            weights[f"{new}self_attn.in_proj_{end}"] = np.concatenate(parts)
            for to, source in (("self_attn.out_proj", "attention.output.dense"), ("linear1", "intermediate.dense"),
                               ("linear2", "output.dense"), ("norm1", "attention.output.LayerNorm"),
                               ("norm2", "output.LayerNorm")):
                weights[f"{new}{to}.{end}"] = stored[f"{old}{source}.{end}"]
    return weights


def padded(ids):
    """Ids and mask, [sentences][tokens of the longest]."""
    longest = max(map(len, ids))
    values, mask = np.zeros((len(ids), longest), np.int64), np.zeros((len(ids), longest), np.int64)
    for row, each in enumerate(ids):
        values[row, :len(each)], mask[row, :len(each)] = each, 1
    return values, mask


class Attn2c:
    """A library of the folder with any length, called through its C interface: rows without padding."""

    class Inputs(ctypes.Structure):
        _fields_ = [("sequences", ctypes.c_int64), ("lengths", ctypes.c_void_p), ("ids", ctypes.c_void_p)]

    def __init__(self, folder, variant, threads):
        name = library_name(threads)
        library = ctypes.CDLL(str(ROOT / "out" / name / f"lib{name}.so"))
        self.model, self.context = ctypes.c_void_p(), ctypes.c_void_p()
        message = ctypes.create_string_buffer(4096)
        weights = os.fsencode(folder / "model.safetensors")
        if getattr(library, name + "_open")(weights, ctypes.byref(self.model), message, ctypes.c_size_t(4096)):
            raise RuntimeError(f"{name}_open: {message.value.decode()}")
        if getattr(library, name + "_create")(self.model, ctypes.byref(self.context)):
            raise RuntimeError(f"{name}_create failed")
        self.forward = getattr(library, name + "_forward")

    def batch(self, ids):
        return np.array([len(each) for each in ids], np.int32), np.concatenate(ids).astype(np.int32)

    def run(self, batch):
        lengths, ids = batch
        result = np.empty((len(lengths), sentences.WIDTH), np.float32)
        inputs = self.Inputs(len(lengths), lengths.ctypes.data, ids.ctypes.data)
        status = self.forward(self.context, ctypes.byref(inputs), ctypes.byref(ctypes.c_void_p(result.ctypes.data)))
        if status:
            raise RuntimeError(f"forward: status {status}")
        return result


def library_name(threads):
    return f"race_sentences_{threads}"


class OnnxRuntime:
    def __init__(self, folder, variant, threads):
        import onnxruntime

        import mixed_graph
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.log_severity_level = 3
        proto = mixed_graph.write_graph(model_of(), weights_of(folder), variant)
        self.session = onnxruntime.InferenceSession(proto.SerializeToString(), options, ["CPUExecutionProvider"])

    batch = staticmethod(padded)

    def run(self, batch):
        return self.session.run(None, {"ids": batch[0], "mask": batch[1]})[0]


class OpenVino:
    def __init__(self, folder, variant, threads):
        import openvino
        core = openvino.Core()
        properties = {"INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": "1",
                      "INFERENCE_NUM_THREADS": str(threads)}
        self.request = core.compile_model(self.graph(core, folder, variant), "CPU", properties).create_infer_request()

    def graph(self, core, folder, variant):
        import mixed_graph
        if variant == "onnx":
            return core.read_model(mixed_graph.write_graph(model_of(), weights_of(folder), "plain").SerializeToString())
        return mixed_graph.converted(model_of(), weights_of(folder))

    batch = staticmethod(padded)

    def run(self, batch):
        return np.array(self.request.infer(list(batch), share_inputs=True, share_outputs=True)[0])


class SentenceTransformers:
    def __init__(self, folder, variant, threads):
        import torch
        from sentence_transformers import SentenceTransformer
        torch.set_num_threads(threads)
        self.torch, self.model = torch, SentenceTransformer(str(folder), device="cpu")

    def batch(self, ids):
        values, mask = padded(ids)
        return {"input_ids": self.torch.from_numpy(values), "attention_mask": self.torch.from_numpy(mask)}

    def run(self, batch):
        with self.torch.inference_mode():
            return self.model(dict(batch))["sentence_embedding"].numpy()


ENGINES = {"attn2c": Attn2c, "onnxruntime": OnnxRuntime, "openvino": OpenVino,
           "sentence_transformers": SentenceTransformers}
