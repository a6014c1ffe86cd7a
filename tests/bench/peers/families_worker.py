"""One engine of the race of families in a process of its own (families.py):

    families_worker.py ENGINE FOLDER THREADS CHECKPOINT BUILT

answers with lines of JSON: first, without being asked, how far its output is from the expected one; to each line of
standard input the milliseconds of one call. Inputs stay where they are between calls."""
import importlib.util
import inspect
import sys
import time
from pathlib import Path

import numpy as np

from models import ROOT
from worker import speaker, wait_until_quiet


def open_attn2c(folder, threads, weights, built):
    path = ROOT / "out" / built / f"{built}.py"
    spec = importlib.util.spec_from_file_location(built, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    model = module.Model(weights)
    ids = np.load(folder / "ids.npy").astype(np.int32)
    inputs = {"input_ids": ids, "lengths": np.array([ids.shape[1]], np.int32)}
    if "token_type_ids" in inspect.signature(model.forward).parameters:
        inputs["token_type_ids"] = np.zeros_like(ids)
    return lambda: model.forward(**inputs)["last_hidden_state"]


def open_openvino(folder, threads, *_):
    import openvino
    model = openvino.Core().compile_model(str(folder / "openvino.xml"), "CPU", {
        "INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": 1,
        "INFERENCE_NUM_THREADS": threads})
    request = model.create_infer_request()
    request.set_input_tensor(openvino.Tensor(np.load(folder / "ids.npy")))

    def call():
        request.infer()
        return request.get_output_tensor().data
    return call


def open_onnxruntime(folder, threads, *_):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = onnxruntime.InferenceSession(str(folder / "graph.onnx"), options, providers=["CPUExecutionProvider"])
    inputs = {session.get_inputs()[0].name: np.load(folder / "ids.npy")}
    return lambda: session.run(None, inputs)[0]


OPEN = {"attn2c": open_attn2c, "openvino": open_openvino, "onnxruntime": open_onnxruntime}


def main():
    engine, folder, threads, weights, built = sys.argv[1:]
    say, folder, threads = speaker(), Path(folder), int(threads)
    call = OPEN[engine](folder, threads, weights, built)
    expected = np.load(folder / "expected.npy")
    say({"difference": float(np.abs(np.asarray(call()).reshape(expected.shape) - expected).max())})
    call()
    for _ in sys.stdin:
        start = time.perf_counter_ns()
        call()
        ms = (time.perf_counter_ns() - start) / 1e6
        if threads > 1:
            wait_until_quiet()
        say({"ms": ms})


if __name__ == "__main__":
    main()
