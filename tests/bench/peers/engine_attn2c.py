"""attn2c's models, built by gen/attn2c and called through their shared libraries by ctypes:
one foreign call a forward, on arrays allocated beforehand."""
import ctypes
import json
import os
import subprocess

import numpy as np

from models import ISA, ROOT


def build(model, threads):
    """out/NAME with the library and the program. Raises with the compiler's own words."""
    name = model.built_name(threads)
    target = [f"target={ISA}"] if ISA else []
    precision = [f"precision={model.precision}"] if model.precision != "f32" else []
    if model.precision == "int8" and os.environ.get("ATTENTION") == "int8":
        precision = ['precision={ "int8", attention = "int8" }']
    build_words([model.description, f"name={name}", *model.keys, f"threads={threads}", *target, *precision])


def build_words(words):
    """`gen/attn2c build` with these words. Raises with the compiler's own words."""
    command = ["gen/attn2c", "build", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(" ".join(command) + ": " + done.stderr.strip())


def own_bench(model, threads, cores):
    """What the program's own bench says of a built model, as a dictionary: the rate, and the machine's roof."""
    name = model.built_name(threads)
    done = subprocess.run([f"out/{name}/{name}", "bench", "-o", "json"], cwd=ROOT, capture_output=True, text=True,
                          preexec_fn=lambda: os.sched_setaffinity(0, cores))
    if done.returncode:
        raise RuntimeError(f"{name} bench: {done.stderr.strip()}")
    return json.loads(done.stdout)


def source(model, data, engine, variant):
    """The file of weights."""
    return data.weights_path


class AnyLength(ctypes.Structure):
    """NAME_forward_in of a model of any length: rows of all sequences without padding."""
    _fields_ = [("sequences", ctypes.c_int64), ("lengths", ctypes.c_void_p), ("rows", ctypes.c_void_p)]


class Engine:
    """A built model, opened with the weights of a .safetensors file."""

    def __init__(self, model, threads, weights, x):
        name = model.built_name(threads)
        self.library = ctypes.CDLL(str(ROOT / "out" / name / f"lib{name}.so"))
        function = lambda suffix: getattr(self.library, name + suffix)
        message = ctypes.create_string_buffer(4096)
        self.model, self.context = ctypes.c_void_p(), ctypes.c_void_p()
        status = function("_open")(os.fsencode(weights), ctypes.byref(self.model), message, ctypes.c_size_t(4096))
        if status:
            raise RuntimeError(f"{name}_open: {message.value.decode()}")
        status = function("_create")(self.model, ctypes.byref(self.context))
        if status:
            raise RuntimeError(f"{name}_create: status {status}")
        self.forward = function("_forward")
        self.destroy, self.release = function("_destroy"), function("_close")
        self.any_length, self.output_shape = model.any_length, model.output_shape
        self.take(x)

    def take(self, x):
        """Makes x the input of the next calls; of a model of any length it may have any number of tokens."""
        self.x = np.array(x, np.float32)
        shape = (*x.shape[:2], *self.output_shape[2:]) if self.any_length else self.output_shape
        self.y = np.full(shape, np.nan, np.float32)
        self.lengths = np.full(x.shape[0], x.shape[1], np.int32)
        # The structures of pointers; the speaker model's second output is not wanted.
        self.inputs = (AnyLength(x.shape[0], self.lengths.ctypes.data, self.x.ctypes.data) if self.any_length else
                       (ctypes.c_void_p * 1)(self.x.ctypes.data))
        self.outputs = (ctypes.c_void_p * 2)(self.y.ctypes.data, None)
        self.arguments = self.context, ctypes.byref(self.inputs), ctypes.byref(self.outputs)

    def run(self, calls):
        forward, (context, inputs, outputs) = self.forward, self.arguments
        for _ in range(calls):
            status = forward(context, inputs, outputs)
            if status:
                raise RuntimeError(f"forward: status {status}")

    def output(self):
        return self.y

    def close(self):
        self.destroy(self.context)
        self.release(self.model)
