#!/usr/bin/env python3
"""uneven.py - times built models in turn, with all cores free or with one core partly taken by another process.

  python3 tests/bench/uneven.py [--seq N] [--batch N] [--calls N] [--taken CORE --duty D] FOLDER FOLDER ...

Each FOLDER is of `attn2c build`, for one model, and has its own number of threads. Their calls alternate. Printed are the
median and the least time of each, and the median of its time divided by that of the first in the same round. --taken:
the caller stays on another core, and a process that computes for a part D of the time (1: always) stays on CORE.
"""
import argparse
import ctypes
import glob
import json
import os
import re
import statistics
import subprocess
import sys
import time

import numpy


def busy(core, duty):
    """Starts a process that computes on a core: in each 2 ms for a part of them, or without an end."""
    loop = ("import time\nwhile True:\n  stop = time.perf_counter() + %f\n"
            "  while time.perf_counter() < stop: pass\n  %s" % (0.002 * duty, "time.sleep(%f)" % (0.002 * (1 - duty))
                                                                if duty < 1 else "pass"))
    return subprocess.Popen(["taskset", "-c", str(core), sys.executable, "-c", loop])


def write_checkpoint(source, path):
    """Writes a checkpoint of small numbers with the tensors that an emitted _model.c lists."""
    text = open(source).read()
    names = dict(re.findall(r'\*const (names_\d+)\[\] = { "([^"]+)"', text))
    header, at, number = {}, 0, numpy.random.default_rng(1)
    for name, shape in re.findall(r"^  { (names_\d+), \d+, { ([\d, ]+) } },$", text, re.M):
        shape = [int(n) for n in shape.split(",")]
        bytes_ = 4 * int(numpy.prod(shape))
        header[names[name]] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + bytes_]}
        at += bytes_
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    with open(path, "wb") as file:
        file.write(len(head).to_bytes(8, "little") + head)
        for each in header.values():
            file.write((number.standard_normal(each["shape"], numpy.float32) * 0.03).tobytes())


class Built:
    """A built model: a context with seeded weights, and inputs of ones."""

    def __init__(self, folder, batch, seq):
        self.folder = folder
        header = [h for h in glob.glob(os.path.join(folder, "*.h")) if not h.endswith("_ops.h")][0]
        self.name = os.path.basename(header)[:-2]
        text = open(header).read()
        weights = os.path.join(folder, "weights.safetensors")
        if not os.path.exists(weights):
            write_checkpoint(os.path.join(folder, self.name + "_model.c"), weights)
        self.library = ctypes.CDLL(os.path.join(folder, "lib%s.so" % self.name), mode=os.RTLD_LOCAL)
        self.model, self.context = ctypes.c_void_p(), ctypes.c_void_p()
        message = ctypes.create_string_buffer(1000)
        self.do("open", weights.encode(), ctypes.byref(self.model), message, ctypes.c_size_t(1000))
        self.do("create", self.model, ctypes.byref(self.context))
        self.prepare(text, batch, seq)

    def function(self, name):
        return getattr(self.library, "%s_%s" % (self.name, name))

    def do(self, name, *arguments):
        status = self.function(name)(*arguments)
        if status != 0:
            sys.exit("%s: %s returns %d" % (self.folder, name, status))

    def prepare(self, text, batch, seq):
        """Fills the structs of N_forward, whose fields are pointers and sizes, in the order of the header."""
        structs, self.kept = [], []
        for which in ("in", "out"):
            body = re.search(r"typedef struct {([^}]*)} %s_forward_%s;" % (self.name, which), text).group(1)
            fields, values = [], []
            for type_, star, field in re.findall(r"^\s*(?:const )?(\w+) (\*?)(\w+);", body, re.M):
                if not star:
                    fields.append((field, ctypes.c_int64 if type_ == "int64_t" else ctypes.c_size_t))
                    values.append({"seq": seq, "batch": batch, "sequences": batch}[field])
                    continue
                element = seq if field == "lengths" else 1
                of = ctypes.c_int32 if type_ == "int32_t" else ctypes.c_float
                self.kept.append((of * (batch * seq * 4096))(*([element] * batch * seq)))
                fields.append((field, ctypes.c_void_p))
                values.append(ctypes.cast(self.kept[-1], ctypes.c_void_p))
            structs.append(type(which, (ctypes.Structure,), {"_fields_": fields})(*values))
        self.kept += structs
        self.arguments = (self.context, ctypes.byref(structs[0]), ctypes.byref(structs[1]))

    def time(self):
        start = time.perf_counter()
        self.do("forward", *self.arguments)
        return (time.perf_counter() - start) * 1e3


def race(built, calls):
    times = [[] for _ in built]
    for each in built * 3:
        each.time()
    for round_ in range(calls):
        order = list(range(len(built)))
        for i in order[round_ % len(order):] + order[:round_ % len(order)]:
            times[i].append(built[i].time())
    return times


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seq", type=int, default=128)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--calls", type=int, default=40)
    parser.add_argument("--taken", type=int)
    parser.add_argument("--duty", type=float, default=1)
    parser.add_argument("folders", nargs="+")
    of = parser.parse_args()
    built = [Built(folder, of.batch, of.seq) for folder in of.folders]
    other = None
    if of.taken is not None:
        os.sched_setaffinity(0, os.sched_getaffinity(0) - {of.taken})  # only the caller; its threads exist
        other = busy(of.taken, of.duty)
    try:
        times = race(built, of.calls)
    finally:
        if other:
            other.kill()
            other.wait()
    for each, list_ in zip(built, times):
        ratio = statistics.median(t / first for t, first in zip(list_, times[0]))
        print("%-40s median %8.3f ms, least %8.3f ms, %5.3f of the first" % (each.folder, statistics.median(list_),
                                                                             min(list_), ratio))


if __name__ == "__main__":
    main()
