# sizes.py - a model of two lengths and batches whose names are Python's: its module takes arrays of any size between.
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
    for batch, seq in (1, 1), (1, 2), (1, 5), (2, 4), (3, 3), (7, 5):
        q, k, v = (random.standard_normal((batch, seq, 3), "float32") for _ in range(3))
        outputs = model.forward(lambda_=q, double_=k, out_=v)
        assert outputs["class"].shape == (batch, seq, 3)
        assert np.array_equal(outputs["class"], program({"lambda": q, "double": k, "out": v}))
        scores = np.exp(np.einsum("bqd,bkd->bqk", q, k))
        plain = np.einsum("bqk,bkd->bqd", scores / scores.sum(2, keepdims=True), v)
        assert np.allclose(outputs["class"], plain, atol=1e-4)
    rows = np.array([1, 3, 2, 3, 3, 3, 3], "uint8")
    q, k, v = (random.standard_normal((7, 3, 3), "float32") for _ in range(3))
    short = model.forward(lambda_=q, double_=k, out_=v, rows=rows)["class"]
    assert np.array_equal(short[0, 0], v[0, 0])
    assert np.array_equal(short[1], model.forward(lambda_=q, double_=k, out_=v)["class"][1])

    def call(*shapes, **more):
        return model.forward(lambda_=np.ones(shapes[0]), double_=np.ones(shapes[1]), out_=np.ones(shapes[1]), **more)

    refuses(ValueError, "double_: is float64 [2][3][3], but float32 [2][4][3] is expected", call, (2, 4, 3), (2, 3, 3))
    refuses(ValueError, "seq from 1 to 5", call, (1, 6, 3), (1, 6, 3))
    refuses(ValueError, "seq from 1 to 5", call, (1, 0, 3), (1, 0, 3))
    refuses(ValueError, "batch 1 or more", call, (0, 2, 3), (0, 2, 3))
    refuses(ValueError, "lambda_: is float64 [1][2][4], but float32 [1][2][3] is expected", call, (1, 2, 4), (1, 2, 3))
    fits = (2, 3, 3), (2, 3, 3)
    refuses(ValueError, "rows[1]: is 4, but 1 to 3 is allowed", call, *fits, rows=[1, 4])
    refuses(ValueError, "rows[0]: is 0, but 1 to 3 is allowed", call, *fits, rows=[0, 4])
    refuses(ValueError, "rows[0]: is 18446744073709551615,", call, *fits, rows=np.full(2, -1).astype("uint64"))
    refuses(ValueError, "rows: is float64 [2], but int32 [batch] is expected", call, *fits, rows=[1.0, 2.0])
    refuses(ValueError, "rows: is int64 [3], but int32 [2] is expected", call, *fits, rows=[1, 2, 3])
    for kind in "int8", "int16", "uint16", "int32", "uint32", "int64", "uint64", ">i8", "bool":
        call(*fits, rows=np.ones(2, kind))

assert "lambda_: float32 [batch][seq][3], of the array lambda\n" in module.Model.forward.__doc__
assert "class: float32 [batch][seq][3]\n" in module.Model.forward.__doc__
