"""source_adapters.py - a module with an encoder and the adapters sql and tone: sequences of one call have the bits that
they have by themselves; a source belongs to the adapter with which it was read. Arguments: module, weights."""
import importlib
import os
import sys
import tempfile

import numpy as np
from refuses import refuses

model = importlib.import_module(sys.argv[1])
NAMES = (None, "sql", "tone")

with model.Model(sys.argv[2]) as m:
    ids = m.encode("the cat sat on the mat").ids
    made = [m.generate([ids], 9, greedy=True, adapter=name)[0].tolist() for name in NAMES]
    assert made[0] != made[1] != made[2] != made[0], made
    assert [each.tolist() for each in m.generate([ids] * 4, 9, greedy=True, adapter=[*NAMES, None])] == [*made, made[0]]
    scores = [m.beam_search([ids], 9, beams=2, adapter=name)[0][0].score for name in NAMES]
    assert len(set(scores)) == 3, scores

    with m.state() as state:
        for number, name in enumerate(NAMES):
            state.set_adapter(name, number)
        state.encode([ids] * 3)
        together = state.extend([[0]] * 3)
        for number, name in enumerate(NAMES):
            state.rewind(0, 2)
            state.set_adapter(name, 2)
            if number < 2:
                refuses(ValueError, "no source", state.prefill, [0], 2)
            state.encode([ids], [2])
            assert np.array_equal(state.prefill([0], 2), together[number])
        state.copy(1, 0)
        with tempfile.TemporaryDirectory() as folder:
            state.save(os.path.join(folder, "kept"), 1)
            state.load(os.path.join(folder, "kept"), 2)
        assert len({row.tobytes() for row in state.decode([9, 9, 9])}) == 1
        state.rewind(0, 2)
        state.set_adapter("sql", 2)  # the file's: the source stays
        assert np.array_equal(state.prefill([0], 2), together[1])
