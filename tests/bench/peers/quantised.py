"""OpenVINO's graphs in int8, made by NNCF: weights and activations by calibration, or the
weights alone. Kept in out/peers/quantised/, since calibration takes minutes for large models."""
import os
import zlib
from importlib import metadata

import nncf
import numpy as np
import openvino

from models import OUT

SAMPLES = 32        # inputs of the calibration


def calibrated(graph, model):
    """Weights and activations in int8, scales from random inputs like the one that is timed."""
    random = np.random.default_rng(zlib.crc32(model.name.encode()) + 2)
    inputs = [random.standard_normal(model.input_shape, np.float32) for _ in range(SAMPLES)]
    return nncf.quantize(graph, nncf.Dataset(inputs), model_type=nncf.ModelType.TRANSFORMER, subset_size=SAMPLES)


def compressed(graph, model):
    """Weights in int8, a scale an output; what they are multiplied by is OpenVINO's choice."""
    return nncf.compress_weights(graph, mode=nncf.CompressWeightsMode.INT8_SYM)


METHODS = {"openvino": calibrated, "weights": compressed}


def path_of(model, engine, form, make_graph):
    """The quantised graph's file; make_graph: a function that gives the graph in f32, an openvino.Model."""
    made_by = [model, SAMPLES, *(metadata.version(name) for name in ("nncf", "openvino", "torch"))]
    path = OUT / "quantised" / f"{model.name}_{engine}_{form}_{zlib.crc32(repr(made_by).encode()):08x}.xml"
    if not path.exists():
        graph = METHODS[engine](make_graph(), model)
        path.parent.mkdir(parents=True, exist_ok=True)
        begun = path.with_name(f"{path.stem}.{os.getpid()}.xml")
        openvino.save_model(graph, begun, compress_to_fp16=False)
        os.replace(begun.with_suffix(".bin"), path.with_suffix(".bin"))
        os.replace(begun, path)     # last: a file that is there is whole
    return path
