"""Beams of models whose state is more than keys of all tokens: each score is that of the answer read anew in one call, and
the same as in a search by itself.

beam_scores.py MODULE FOLDER   of the builds `window`, whose state forgets keys, and `reader`, whose state has a source's,
                               of tests/spec/whole/beams_spec.lua; the module is found by PYTHONPATH
"""

import importlib
import sys

import numpy as np

model = importlib.import_module(sys.argv[1]).Model(sys.argv[2])


def score_of(prompt, ids, penalty):
    """The score of ids that follow a prompt or answer a source, from the logits of all tokens."""
    with model.state() as state:
        if model._source is not None:
            state.encode([prompt], [0])
            prompt = np.array(model._first_ids)
        logits = state.prefill(np.concatenate([prompt, ids])[:-1], all=True).astype("float64")[len(prompt) - 1:]
    largest = logits.max(1)
    sums = np.log(np.exp(logits - largest[:, None]).sum(1)) + largest
    return (logits[np.arange(len(ids)), ids] - sums).sum() / len(ids) ** penalty


random = np.random.default_rng(1)
longest, words = (33, model._vocabulary) if model._source is None else (16, 12)
prompts = [random.integers(0, words, count) for count in (1, 7, longest - 5, longest, 2, 9)]
for beams in (2, 3, 6):
    for penalty in (0.0, 1.0):
        options = {"beams": beams, "n_best": beams, "length_penalty": penalty, "no_repeat_ngram": 4}
        found = model.beam_search(prompts, 14, **options)
        for prompt, answers in zip(prompts, found):
            assert len({tuple(each.ids) for each in answers}) == len(answers) == beams
            assert all(one.score >= next.score for one, next in zip(answers, answers[1:]))
            alone = model.beam_search([prompt], 14, **options)[0]
            assert [(each.ids.tolist(), each.score) for each in alone] == \
                [(each.ids.tolist(), each.score) for each in answers]
            for each in answers:
                expected = score_of(prompt, each.ids, penalty)
                assert abs(each.score - expected) <= 4e-6 * (1 + abs(expected)), (options, each, expected)
