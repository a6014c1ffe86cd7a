"""Beams of a model with windows, whose state forgets keys: each score is that of the answer read anew in one call.

beam_scores.py FOLDER   of the build `window` of tests/spec/whole/beams_spec.lua; window.py is found by PYTHONPATH
"""

import sys

import numpy as np
import window

model = window.Model(sys.argv[1])


def score_of(prompt, ids, penalty):
    """The score of ids that follow a prompt, from the logits of all tokens."""
    with model.state() as state:
        logits = state.prefill(np.concatenate([prompt, ids])[:-1], all=True).astype("float64")[len(prompt) - 1:]
    largest = logits.max(1)
    sums = np.log(np.exp(logits - largest[:, None]).sum(1)) + largest
    return (logits[np.arange(len(ids)), ids] - sums).sum() / len(ids) ** penalty


random = np.random.default_rng(1)
prompts = [random.integers(0, model._vocabulary, count) for count in (1, 7, 20, 33, 2, 15)]
for beams in (2, 3, 6):
    for penalty in (0.0, 1.0):
        found = model.beam_search(prompts, 25, beams=beams, n_best=beams, length_penalty=penalty, early_stopping="never")
        for prompt, answers in zip(prompts, found):
            assert len({tuple(each.ids) for each in answers}) == len(answers) == beams
            assert all(one.score >= next.score for one, next in zip(answers, answers[1:]))
            for each in answers:
                expected = score_of(prompt, each.ids, penalty)
                assert abs(each.score - expected) <= 2e-6 * (1 + abs(expected)), (beams, penalty, each, expected)
