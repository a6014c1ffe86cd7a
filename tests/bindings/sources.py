#!/usr/bin/env python3
"""Reads sources of one length by a model's Python module, in the folder of an unpacked case of tests/oracle/sources.py:
sources.py MODULE. It writes the logits of all tokens to the file `logits`."""
import sys

import numpy as np

sys.path.insert(0, sys.argv[1])
import reader

inputs = {}
for name in "source_image", "source_features", "ids":
    try:
        inputs[name] = np.load(name + ".npy")
    except FileNotFoundError:
        pass
ids, sources = inputs.pop("ids"), inputs.popitem()[1]
with reader.Model("model.safetensors") as model, model.state() as state:
    state.encode(sources)
    wanted = state.extend(list(ids), all=True)
    np.stack(wanted).astype("<f4").tofile("logits")
    state.encode(sources[::-1], [1, 0])
    assert all(np.array_equal(*each) for each in zip(wanted, state.extend(list(ids), all=True)))
    state.encode(list(sources[1:]), [0])
    assert state.position(0) == 0 and np.array_equal(state.prefill(ids[1], all=True), wanted[1])
    for wrong in sources[0], sources[..., 1:], sources[:0], np.repeat(sources, 2, 0):
        try:
            state.encode(wrong)
        except ValueError as error:
            assert "source" in str(error) or "sequences" in str(error), error
        else:
            raise AssertionError("a wrong shape is taken")
    answers = model.generate(list(sources), 5)
    found = model.beam_search(list(sources), 5, beams=2)
    assert [len(each) for each in answers] == [5, 5] and all(len(each[0].ids) == 5 for each in found), (answers, found)
    model.beam_search(list(sources), 3, beams=1)
