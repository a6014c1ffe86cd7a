"""The number of threads that share a call of a model's Python module: bits do not depend on it, and others are refused.

threads.py GOLDEN MOST   the module crew is found by PYTHONPATH
"""

import ctypes
import os
import sys

import crew
import numpy as np
from refuses import refuses

folder, most = sys.argv[1], int(sys.argv[2])
weights, hidden = folder + "/model.safetensors", np.load(folder + "/hidden.npy")
with open(weights, "rb") as file:
    content = file.read()


def tasks():
    return len(os.listdir("/proc/self/task"))


expected, before = None, tasks()
for threads in (*range(1, most + 1), None):
    for model in crew.Model(weights, threads=threads), crew.Model.from_memory(content, threads=threads):
        with model:
            found = model.forward(hidden=hidden)["hidden"]
            assert tasks() - before == (threads or most) - 1, (threads, tasks(), before)
        expected = found if expected is None else expected
        assert found.tobytes() == expected.tobytes(), threads
library, opened = crew._LIBRARY, ctypes.c_void_p()
assert library.open(weights.encode(), ctypes.byref(opened), None, 0) == 0
assert [library.set_threads(opened, threads) for threads in (0, most + 1, -1, 1, most)] == [2, 2, 2, 0, 0]
assert library.set_threads(None, 1) == 2
library.close(opened)
for wrong in 0, most + 1, -1, 2**32 + 1:
    refuses(ValueError, "threads: is %d, but 1 to %d is allowed" % (wrong, most), crew.Model, weights, threads=wrong)
    refuses(ValueError, "threads: is %d, but" % wrong, crew.Model.from_memory, content, threads=wrong)
