"""Logits of answers to sources against transformers' (tests/numbers/goldens.py): prints the largest difference.

source_logits.py MODULE FOLDER ANSWERS LOGITS   the module is found by PYTHONPATH
"""

import importlib
import json
import sys
from pathlib import Path

import numpy as np

model = importlib.import_module(sys.argv[1]).Model(sys.argv[2])
answers = json.loads(Path(sys.argv[3]).read_text(encoding="utf-8"))
apart = 0.0
with model.state() as state:
    for answer, expected in zip(answers, np.load(sys.argv[4]), strict=True):
        state.encode([answer["ids"]], [0])
        before = answer["greedy"][:min(2, len(answer["greedy"]) - 1)]
        logits = state.prefill(np.array(list(model._first_ids) + before))
        apart = max(apart, float(np.max(np.abs(logits - expected) / np.maximum(1, np.abs(expected)))))
print(apart)
