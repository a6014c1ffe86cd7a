"""One engine of the race of families in a process of its own (families.py):

    families_worker.py ENGINE FOLDER THREADS CHECKPOINT BUILT OUTPUT

answers with lines of JSON: first, without being asked, how far its output is from the expected one; to each line of
standard input the milliseconds of one call. Inputs stay where they are between calls. With one thread these are of
processor time, so that other processes disturb less; with more, of the clock."""
import importlib.util
import inspect
import sys
import time
from pathlib import Path

import numpy as np

from models import ROOT
from worker import speaker, wait_until_quiet


def open_attn2c(folder, threads, weights, built, output):
    path = ROOT / "out" / built / f"{built}.py"
    sys.path.insert(0, str(path.parent))    # has the module that models share
    spec = importlib.util.spec_from_file_location(built, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    model = module.Model(weights)
    x, takes = np.load(folder / "input.npy"), inspect.signature(model.forward).parameters
    if "features" in takes:     # of sound, made in each call as the peers make them

        def call():
            rows = model.features(x[0])
            return model.forward(features=rows[None], lengths=np.array([len(rows)], np.int32))[output]
        return call
    if "pixel_values" in takes:
        inputs = {"pixel_values": x}
    else:
        inputs = {"input_ids": x.astype(np.int32), "lengths": np.array([x.shape[1]], np.int32)}
    if "token_type_ids" in takes:
        inputs["token_type_ids"] = np.zeros_like(inputs["input_ids"])
    return lambda: model.forward(**inputs)[output]


def open_openvino(folder, threads, *_):
    import openvino
    model = openvino.Core().compile_model(str(folder / "openvino.xml"), "CPU", {
        "INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": 1,
        "INFERENCE_NUM_THREADS": threads})
    request = model.create_infer_request()
    request.set_input_tensor(openvino.Tensor(np.load(folder / "input.npy")))

    def call():
        request.infer()
        return request.get_output_tensor().data
    return call


def open_onnxruntime(folder, threads, *_):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = onnxruntime.InferenceSession(str(folder / "graph.onnx"), options, providers=["CPUExecutionProvider"])
    inputs = {session.get_inputs()[0].name: np.load(folder / "input.npy")}
    return lambda: session.run(None, inputs)[0]


OPEN = {"attn2c": open_attn2c, "openvino": open_openvino, "onnxruntime": open_onnxruntime}


def main():
    engine, folder, threads, *own = sys.argv[1:]
    say, folder, threads = speaker(), Path(folder), int(threads)
    call = OPEN[engine](folder, threads, *own)
    clock = time.process_time_ns if threads == 1 else time.perf_counter_ns
    expected = np.load(folder / "expected.npy")
    say({"difference": float(np.abs(np.asarray(call()).reshape(expected.shape) - expected).max())})
    call()
    for _ in sys.stdin:
        start = clock()
        call()
        ms = (clock() - start) / 1e6
        if threads > 1:
            wait_until_quiet()
        say({"ms": ms})


if __name__ == "__main__":
    main()
