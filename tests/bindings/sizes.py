# sizes.py - a model of one length and batch whose names are Python's: its module takes arrays of this size.
# Usage: sizes.py FOLDER, with PROGRAM's answers as given below.
import subprocess
import sys

import numpy as np
import numpy_ as module
from refuses import refuses

folder = sys.argv[1]
EMPTY = b"\x02\0\0\0\0\0\0\0{}"  # a checkpoint of no tensors
random = np.random.default_rng(3)


def program(arrays):
    words = [folder + "/numpy", "run", "--output", "class=%s/class.npy" % folder]
    for name, array in arrays.items():
        np.save("%s/%s.npy" % (folder, name), array)
        words += ["--input", "%s=%s/%s.npy" % (name, folder, name)]
    subprocess.run(words, check=True)
    return np.load(folder + "/class.npy")


with module.Model.from_memory(EMPTY), module.Model(None):
    pass
with module.Model() as model:  # it has no weights
    q, k, v = (random.standard_normal((3, 5, 3), "float32") for _ in range(3))
    outputs = model.forward(lambda_=q, double_=k, out_=v)
    assert outputs["class"].shape == (3, 5, 3)
    assert np.array_equal(outputs["class"], program({"lambda": q, "double": k, "out": v}))
    scores = np.exp(np.einsum("bqd,bkd->bqk", q, k))
    plain = np.einsum("bqk,bkd->bqd", scores / scores.sum(2, keepdims=True), v)
    assert np.allclose(outputs["class"], plain, atol=1e-4)
    # The program takes any number of sequences, in calls of three.
    for batch in 1, 2, 4, 7:
        q, k, v = (random.standard_normal((batch, 5, 3), "float32") for _ in range(3))
        scores = np.exp(np.einsum("bqd,bkd->bqk", q, k))
        plain = np.einsum("bqk,bkd->bqd", scores / scores.sum(2, keepdims=True), v)
        assert np.allclose(program({"lambda": q, "double": k, "out": v}), plain, atol=1e-4)

    def call(*shapes, **more):
        return model.forward(lambda_=np.ones(shapes[0]), double_=np.ones(shapes[1]), out_=np.ones(shapes[1]), **more)

    fits = (3, 5, 3)
    refuses(ValueError, "double_: is float64 [3][4][3], but float32 [3][5][3] is expected", call, fits, (3, 4, 3))
    refuses(ValueError, "lambda_: is float64 [2][5][3], but float32 [3][5][3] is expected", call, (2, 5, 3), fits)
    refuses(ValueError, "lambda_: is float64 [3][5][4], but float32 [3][5][3] is expected", call, (3, 5, 4), fits)

assert "lambda_: float32 [3][5][3], of the array lambda\n" in module.Model.forward.__doc__
assert "class: float32 [3][5][3]\n" in module.Model.forward.__doc__
