"""adapters.py - a module with the adapters sql and tone: sequences of one call have the bits that they have by
themselves, a sequence keeps its adapter, and other names are refused. Arguments: module, weights."""
import importlib
import os
import sys
import tempfile

import numpy as np
from refuses import refuses

model = importlib.import_module(sys.argv[1])
assert model.ADAPTERS == ("sql", "tone"), model.ADAPTERS
NAMES = (None, "sql", "tone")

with model.Model(sys.argv[2]) as m:
    ids = np.array([5, 6, 7], np.int32)
    single = [m.forward(input_ids=[ids], adapter=name)["logits"] for name in NAMES]
    together = m.forward(input_ids=[ids] * 3, adapter=NAMES)["logits"]
    assert np.array_equal(together, np.concatenate(single))
    assert np.array_equal(m.forward(input_ids=[ids])["logits"], single[0])
    assert not np.array_equal(single[1], single[2])

    texts = [m.generate_text(["hello there"], 12, greedy=True, adapter=name)[0] for name in NAMES]
    assert m.generate_text(["hello there"] * 3, 12, greedy=True, adapter=NAMES) == texts
    assert texts[0] != texts[1] != texts[2]

    with m.state() as state:
        state.set_adapter("sql", 1)
        last = state.extend([ids, ids], [0, 1])
        assert np.array_equal(last[0], single[0][-1]) and np.array_equal(last[1], single[1][-1])
        refuses(ValueError, "adapter", state.set_adapter, "tone", 1)
        state.copy(1, 2)
        with tempfile.TemporaryDirectory() as folder:
            state.save(os.path.join(folder, "kept"), 1)
            state.rewind(0, 0)
            state.load(os.path.join(folder, "kept"), 0)
        next_ = state.decode([9, 9, 9], [0, 1, 2])
        assert np.array_equal(next_[0], next_[1]) and np.array_equal(next_[1], next_[2])
        state.rewind(0, 1)
        state.set_adapter(None, 1)
        assert np.array_equal(state.prefill(ids, 1), single[0][-1])

    refuses(ValueError, "'sql'", m.forward, input_ids=[ids], adapter="nope")
    refuses(ValueError, "2 names", m.forward, input_ids=[ids], adapter=["sql", None])
