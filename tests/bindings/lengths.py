# lengths.py - a model of any length through its Python module and its program: sequences of different lengths, in each
# form that a call may have.
# Usage: lengths.py FOLDER WEIGHTS
import subprocess
import sys

import mixed as module
import numpy as np
from refuses import refuses

folder, weights = sys.argv[1:3]
random = np.random.default_rng(3)
LENGTHS = [1, 70, 2, 35, 69, 13, 64]
ids = [random.integers(0, 90, n) for n in LENGTHS]
types = [random.integers(0, 2, n) for n in LENGTHS]


def program(**arrays):
    words = [folder + "/mixed", "run", "--weights", weights]
    for name, array in arrays.items():
        np.save("%s/%s.npy" % (folder, name), array)
        words += ["--input", "%s=%s/%s.npy" % (name, folder, name)]
    for name in "states", "means":
        words += ["--output", "%s=%s/%s.npy" % (name, folder, name)]
    subprocess.run(words, check=True)
    return {name: np.load("%s/%s.npy" % (folder, name)) for name in ("states", "means")}


def same(left, right):
    assert left.keys() == right.keys()
    for name in left:
        assert left[name].shape == right[name].shape and np.array_equal(left[name], right[name]), name


assert module.SEQ == 70 and not hasattr(module, "BATCH")
with module.Model(weights) as model:
    of_lists = model.forward(ids=ids, token_types=types)
    assert of_lists["states"].shape == (sum(LENGTHS), 32) and of_lists["means"].shape == (7, 32)
    rows = {"ids": np.concatenate(ids), "token_types": np.concatenate(types)}
    same(of_lists, model.forward(**rows, lengths=LENGTHS))
    same(of_lists, program(**rows, lengths=LENGTHS))
    same(of_lists, model.forward(ids=tuple(map(list, ids)), token_types=types))
    for i, part in enumerate(np.split(of_lists["states"], np.cumsum(LENGTHS)[:-1])):
        alone = model.forward(ids=ids[i][None], token_types=types[i][None])
        assert alone["states"].shape == (1, LENGTHS[i], 32)
        assert np.array_equal(alone["states"][0], part) and np.array_equal(alone["means"][0], of_lists["means"][i])
    batch = {"ids": random.integers(0, 90, (9, 23)), "token_types": random.integers(0, 2, (9, 23))}
    whole = model.forward(**batch)
    assert whole["states"].shape == (9, 23, 32)
    same(whole, program(**batch))
    listed = model.forward(ids=list(batch["ids"]), token_types=list(batch["token_types"]))
    assert np.array_equal(listed["states"].reshape(9, 23, 32), whole["states"])
    # Padding is left out, whatever it has, and has zeros in the outputs.
    own = np.array([1, 23, 2, 9, 22, 13, 1, 16, 23])
    mask = np.arange(23) < own[:, None]
    padded = model.forward(**batch, lengths=own)
    assert padded["states"].shape == (9, 23, 32) and not padded["states"][~mask].any()
    same(padded, model.forward(**batch, attention_mask=mask))
    same(padded, model.forward(ids=np.where(mask, batch["ids"], 7).tolist(),
                               token_types=batch["token_types"], attention_mask=mask.tolist()))
    listed = model.forward(ids=[row[:n] for row, n in zip(batch["ids"], own)],
                           token_types=[row[:n] for row, n in zip(batch["token_types"], own)])
    assert np.array_equal(listed["states"], padded["states"][mask]) and np.array_equal(listed["means"], padded["means"])
    states = np.ones((9, 23, 32), "float32")
    model.forward(**batch, lengths=own, out={"states": states})
    assert np.array_equal(states, padded["states"])
    refuses(ValueError, "lengths[1]: is 24, but 1 to 23 is allowed", model.forward, **batch, lengths=own + 1)
    refuses(ValueError, "lengths: is for 8 sequences, but there are 9", model.forward, **batch, lengths=own[1:])
    refuses(ValueError, "attention_mask[1, 3]: is 1 after a 0", model.forward, **batch,
            attention_mask=np.arange(23) % 3 < 2 + (own == 1)[:, None])
    refuses(TypeError, "lengths, attention_mask: one of the two is expected", model.forward, **batch, lengths=own,
            attention_mask=mask)
    no_types = model.forward(ids=ids)
    same(no_types, model.forward(ids=ids, token_types=[np.zeros(n, "int8") for n in LENGTHS]))
    states = np.zeros((sum(LENGTHS), 32), "float32")
    assert list(model.forward(ids=ids, token_types=types, out={"states": states})) == ["states"]
    assert np.array_equal(states, of_lists["states"])

    def call(**more):
        return model.forward(**{"ids": ids, **more})

    refuses(ValueError, "ids[1]: is int64 [71], but int32 [seq] is expected, with seq from 1 to 70", call,
            ids=[[1], [1] * 71])
    refuses(ValueError, "ids[0]: is int64 [0], but int32 [seq] is expected", call, ids=[np.zeros(0, int)])
    refuses(ValueError, "ids: has no sequence", call, ids=[])
    refuses(ValueError, "ids[0]: is int64 one number", call, ids=[1, 2])
    refuses(ValueError, "ids[1][2]: is 90, but 0 to 89 is allowed", call, ids=[[1], [1, 2, 90]])
    refuses(ValueError, "token_types: has 2 sequences, but ids has 7", call, token_types=types[:2])
    refuses(ValueError, "token_types[0]: has 70 rows, but ids[0] has 1", call, token_types=types[1:] + types[:1])
    flat = np.concatenate(ids)
    refuses(ValueError, "lengths[2]: is 0, but 1 to 70 is allowed", call, ids=flat, lengths=[1, 2, 0])
    refuses(ValueError, "lengths[0]: is 71, but 1 to 70 is allowed", call, ids=flat, lengths=[71])
    refuses(ValueError, "lengths: has no sequence", call, ids=flat, lengths=np.zeros(0, int))
    refuses(ValueError, "lengths: is int64 [1][7], but int32 [sequences] is expected", call, ids=flat,
            lengths=[LENGTHS])
    refuses(ValueError, "ids: is int64 [254], but int32 [5] is expected, with the rows that lengths has", call,
            ids=flat, lengths=[2, 3])
    refuses(ValueError, "ids: is not an array", call, lengths=[2, 3])
    refuses(ValueError, "ids: is int64 [1][71], but int32 [batch][seq] is expected, with batch 1 or more and seq from "
            "1 to 70", call, ids=np.zeros((1, 71), int))
    refuses(ValueError, "ids: is int64 [254], but int32 [batch][seq] is expected", call, ids=flat)
    refuses(ValueError, "out['states']: is float32 [1][32], but float32 [254][32] is expected", call,
            out={"states": np.zeros((1, 32), "float32")})

assert "ids: int32 [rows], from 0 to 89\n" in module.Model.forward.__doc__
assert "token_types: int32 [rows], from 0 to 1; may be left out\n" in module.Model.forward.__doc__
assert "means: float32 [sequences][32]\n" in module.Model.forward.__doc__
