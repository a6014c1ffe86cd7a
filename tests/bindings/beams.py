"""Beam search by a model's Python module, against transformers' answers.

beams.py FOLDER GOLDENS   of the build `some` of tests/spec/whole/beams_spec.lua, and beams.jsonl; some.py is found by
                          PYTHONPATH
"""

import json
import sys

import some
from refuses import refuses

with open(sys.argv[2], encoding="utf-8") as lines:
    GOLDENS = [each for each in map(json.loads, lines) if each["folder"] == "llama" and "num_beams" in each["options"]]
NAMES = {"num_beams": "beams", "no_repeat_ngram_size": "no_repeat_ngram", "min_new_tokens": "min_tokens",
         "forced_bos_token_id": "forced_bos", "num_return_sequences": "n_best", "max_new_tokens": "tokens"}
model = some.Model(sys.argv[1])

# Answers and scores. Folders say the most tokens and the stop tokens.
assert len(GOLDENS) == 15
for golden in GOLDENS:
    options = {NAMES.get(name, name): value for name, value in golden["options"].items()}
    made = model.beam_search(golden["prompts"], **options)
    assert [[each.ids.tolist() for each in answers] for answers in made] == \
        [[each["ids"] for each in answers] for answers in golden["answers"]], options
    for answers, expected in zip(made, golden["answers"]):
        for answer, each in zip(answers, expected):
            count = len(each["ids"])
            assert abs(answer.score - each.get("score", 0)) <= 4e-5 * count / count ** options.get("length_penalty", 1)
    options.pop("n_best", None)
    best = model.generate(golden["prompts"], **options)
    assert [each.tolist() for each in best] == [answers[0]["ids"] for answers in golden["answers"]]

# Texts.
texts = model.generate_text(["the cat", "a"], 4, beams=3)
ids = model.generate([model.encode(each).ids for each in ("the cat", "a")], 4, beams=3)
assert len(texts) == 2 and all(text and model.decode(each).endswith(text) for text, each in zip(texts, ids))
assert model.beam_search([], 4, beams=2) == []

# Stop tokens of a call take the place of the folder's.
for answer in model.beam_search([[9, 8, 7]], 8, beams=4, n_best=4, stop_tokens=[735, 380])[0]:
    assert len(answer.ids) == 8 or answer.ids[-1] in (735, 380)

for options, said in (
    ({"beams": 0}, "beams: is 0, but 1 to 6 is allowed"),
    ({"beams": 7}, "beams: is 7, but 1 to 6 is allowed"),
    ({"beams": 2, "n_best": 3}, "n_best: is 3, but 1 to 2 is allowed"),
    ({"beams": "x"}, "beams: 'x', but an integer is expected"),
    ({"beams": 2, "length_penalty": 9}, "length_penalty: 9, but -8 to 8 is allowed"),
    ({"beams": 2, "length_penalty": float("nan")}, "length_penalty: nan, but -8 to 8 is allowed"),
    ({"beams": 2, "early_stopping": "x"}, "early_stopping: 'x', but True, False or 'never' is expected"),
    ({"beams": 2, "early_stopping": 2}, "early_stopping: 2, but True, False or 'never' is expected"),
    ({"beams": 2, "forced_bos": 901}, "forced_bos: is 901, but 0 to 900 is allowed"),
    ({"beams": 2, "tokens": 0}, "tokens: is 0, but 1 to 2147483647 is allowed"),
    ({"beams": 2, "stop_tokens": [901]}, "stop_tokens[0]: is 901, but 0 to 900 is allowed"),
):
    refuses(ValueError, said, model.beam_search, [[1]], **options)
refuses(ValueError, "prompts[1]: the prompt has 0 tokens, but 1 to 64 are allowed, the model's context",
        model.beam_search, [[1], []], 4, beams=2)
refuses(ValueError, "stop: does not go with beams; beam_search gives ids, and decode their texts",
        model.generate_text, ["a"], 4, beams=2, stop=["x"])
model.close()
