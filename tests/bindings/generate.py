"""Calls that continue, sampling and generation by a model's Python module, against transformers' tokens.

generate.py FOLDER GOLDENS   of tests/generate/llama, and greedy.jsonl; llama.py is found by PYTHONPATH
"""

import json
import os
import sys
import tempfile

import llama
import numpy as np
from refuses import refuses

with open(sys.argv[2], encoding="utf-8") as lines:
    GOLDENS = [each for each in map(json.loads, lines) if each["folder"] == "llama"]
model = llama.Model(sys.argv[1])


def prompts_of(rows):
    return [row["prompt"] for row in rows]


# Greedy tokens and texts, several side by side.
for options in ({}, {"repetition_penalty": 1.3}):  # a penalty that the folder does not state is none
    rows = [each for each in GOLDENS if each["options"] == options]
    assert len(rows) == 6
    made = model.generate([model.encode(prompt).ids for prompt in prompts_of(rows)], 16, greedy=True, **options)
    assert [each.tolist() for each in made] == [row["ids"] for row in rows]
    assert model.generate_text(prompts_of(rows), 16, greedy=True, **options) == [row["text"] for row in rows]
    # Nobody says how many tokens: the folder's max_new_tokens is 16.
    assert model.generate_text(prompts_of(rows), greedy=True, **options) == [row["text"] for row in rows]
stopped = [each for each in GOLDENS if "stop" in each["options"]]
stops = stopped[0]["options"]["stop"]
for row, text in zip(stopped, model.generate_text(prompts_of(stopped), 16, stop=stops, greedy=True)):
    assert text == row["text"][:min([row["text"].index(stop) for stop in stops if stop in row["text"]], default=None)]

# Special tokens are parts of strings that end a text, but not of the text.
letter = int(model.encode("x").ids[-1])
mixed = {"allowed": [1, letter], "temperature": 50, "top_k": 0, "top_p": 1, "seed": 2}
(ids,) = model.generate([model.encode("a").ids], 30, **mixed)
name, shown = model.decode([1], False), model.decode([letter])
whole = "".join(name if each == 1 else shown for each in ids.tolist())
for stop in (name + shown, shown + name, shown + name + shown, name + name, shown + shown):
    assert stop in whole[6:], (stop, whole)
    made, = model.generate_text(["a"], 30, stop=["y", stop], **mixed)
    ends = [whole.index(stop)] if name in stop else [(whole.replace(name, "")).index(stop)]
    expected = whole[:ends[0]].replace(name, "") if name in stop else ""
    assert made == expected, (stop, whole, made)

# The pipeline's functions, and chats, whose turns before are in the messages.
with llama.Pipeline(sys.argv[1]) as pipeline:
    row = next(each for each in GOLDENS if not each["options"])
    assert pipeline.generate(row["prompt"], 16, greedy=True) == pipeline.generate([row["prompt"]], greedy=True) == [row["text"]]
    with open(os.path.join(os.path.dirname(sys.argv[2]), "chat.jsonl"), encoding="utf-8") as lines:
        chats = [json.loads(line) for line in lines]
    for chat in chats:
        messages = [{"role": "system", "content": chat["system"]}] * (chat["system"] is not None)
        for asked, answered in chat["turns"]:
            messages.append({"role": "user", "content": asked})
            assert pipeline.chat(messages, 4, greedy=True) == answered, (messages, answered)
            messages.append({"role": "assistant", "content": answered})
    assert pipeline.chat("the cat", 4, greedy=True) == chats[0]["turns"][0][1]
    refuses(ValueError, "messages[0]: 'x', but a dict with role and content is expected", pipeline.chat, ["x"])

# The folder states no defaults.
usual = model.generate_text(["the dog", "x"], 12)
assert usual == model.generate_text(["the dog", "x"], 12, greedy=False)
assert usual == model.generate_text(["the dog", "x"], 12, temperature=0.2, top_p=0.9, repetition_penalty=1.1, seed=0)

# A prompt's draws depend only on its own seed.
drawn = model.generate_text(["a cat", "x", "a cat", "the dog", "x y"], 8, temperature=1.3, top_k=0, seed=5)
assert drawn[0] != drawn[2]
for i, prompt in enumerate(["a cat", "x", "a cat", "the dog", "x y"]):
    assert model.generate_text([prompt], 8, temperature=1.3, top_k=0, seed=5 + i) == drawn[i:i + 1]

# Guesses change nothing.
repeating = ["the cat the cat the cat the", "x", "one two one two one two", "a dog"]
ids = [model.encode(each).ids for each in repeating]
for options in ({"greedy": True}, {"temperature": 0.8, "seed": 3}, {"greedy": True, "repetition_penalty": 1.2},
                {"temperature": 0.3, "dry_multiplier": 0.5, "dry_breakers": [[5], [6, 7]]}):
    for tokens in (1, 2, 60):
        plain = model.generate(ids, tokens, **options)
        guessed = model.generate(ids, tokens, guess="prompt", **options)
        assert [each.tolist() for each in plain] == [each.tolist() for each in guessed], (options, tokens)
plain = model.generate_text(repeating, 40, stop=["e", " c"], greedy=True)
assert plain == model.generate_text(repeating, 40, stop=["e", " c"], greedy=True, guess="prompt")
refuses(ValueError, "guess: 'x', but None or 'prompt'", lambda: model.generate([[1]], guess="x"))
refuses(ValueError, "guess: does not go with beams", lambda: model.generate([[1]], guess="prompt", beams=2))

# A state: its positions, and bits that do not depend on how calls divide a sequence.
with model.state() as state:
    whole = state.prefill([1, 5, 6, 7, 8], all=True)
    assert state.position() == 5 and whole.shape == (5, model._vocabulary) and state.sequences == 3
    assert (state.prefill([1, 5, 6], 1) == whole[2]).all()
    state.copy(1, 2)
    assert (state.decode([7, 9], [1, 2])[0] == whole[3]).all()
    state.rewind(3, 2)
    assert (state.decode([7], [2]) == whole[3]).all() and state.position(2) == 4
    state.rewind(2, 1)
    state.rewind(0, 2)
    state.rewind(0)
    rows = state.extend([[1, 5, 6], [1, 5, 6, 7, 8]], [2, 0])
    assert (rows[0] == whole[2]).all() and (rows[1] == whole[4]).all()
    of_all = state.extend([[6, 7], [7]], [1, 2], all=True)
    assert [each.shape for each in of_all] == [(2, model._vocabulary), (1, model._vocabulary)]
    assert (of_all[0] == whole[2:4]).all() and (of_all[1][0] == whole[3]).all() and state.position(1) == 4
    refuses(ValueError, "ids[1]: is float64 [1], but int32 [count] is expected", state.extend, [[1], [1.0]])
    refuses(ValueError, "ids[1][0]: is 901, but 0 to 900 is allowed", state.extend, [[1], [901]])
    refuses(ValueError, "sequences: a different sequence for each", state.extend, [[1], [2]], [1])
    refuses(ValueError, "ids: are 0 tokens, but 1 to", state.extend, [[1], []])
    with tempfile.TemporaryDirectory() as folder:
        state.save(folder + "/state")
        state.load(folder + "/state", 1)
        assert state.position(1) == 5
        refuses(OSError, "cannot be opened", state.load, folder + "/none")
    refuses(ValueError, "ids: are 0 tokens, but 1 to", state.prefill, [])
    refuses(ValueError, "ids[1]: is 901, but 0 to 900 is allowed", state.prefill, [1, 901])
    refuses(ValueError, "sequences: a different sequence for each", state.decode, [1, 2], [0, 0])
    refuses(ValueError, "sequence: is 3, but 0 to 2 is allowed", state.position, 3)
    refuses(ValueError, "position: is 6, but 0 to 5 is allowed", state.rewind, 6)
refuses(ValueError, "the state is closed", state.position)
with model.state() as state:  # of memory that another one has used
    assert [state.position(i) for i in range(3)] == [0, 0, 0]
    assert (state.prefill([1, 5, 6, 7, 8], all=True) == whole).all()

# Samplers.
sampler = model.sampler(allowed=[3, 4], bias={3: 100.0}, stop_tokens=[4])
assert sampler.sample(whole[0]) == 3 and sampler.stops(4) and not sampler.stops(2)
assert model.sampler().stops(2) and model.sampler().stops(300)  # as the folder says
sampler = model.sampler(seed=7, top_k=0)
first = [sampler.sample(whole[0]) for _ in range(8)]
sampler.reset()
assert [sampler.sample(whole[0]) for _ in range(8)] == first and len(set(first)) > 1
refuses(ValueError, "temperature: 0, but a number from", lambda: model.sampler(temperature=0))
refuses(ValueError, "greedy: does not go with top_k, seed", lambda: model.sampler(greedy=True, seed=1, top_k=3))
# Options of llama.cpp.
peaks = np.full(model._vocabulary, -20, "float32")
peaks[[3, 4, 5]] = 12, 11.5, 9
count = lambda **options: {model.sampler(seed=seed, **{"top_k": 0, "temperature": 1, "top_p": 1, **options}).sample(peaks) for seed in range(60)}  # noqa: E731
assert count(xtc_probability=1, xtc_threshold=0.2) - {4, 5} == set() and 3 not in count(xtc_probability=1)
assert count(top_n_sigma=1.0) <= {3, 4, 5} and count(typical_p=0.0) in ({3}, {4})
assert count(sampler_order="min_p;temperature", min_p=0.9) == {3} and count(mirostat=2, mirostat_tau=0.0) == {3}
sampler = model.sampler(greedy=True, dry_multiplier=1, dry_breakers=[])
sampler.feed([3, 7, 8, 3, 7, 8])
assert sampler.sample(peaks) == 4  # 1.75 is subtracted from token 3
sampler = model.sampler(greedy=True, dry_multiplier=1, dry_breakers=[[8]])
sampler.feed([3, 7, 8, 3, 7, 8])
assert sampler.sample(peaks) == 3
refuses(ValueError, "typical_p: 2, but 0 to 1 is allowed", lambda: model.sampler(typical_p=2))
refuses(ValueError, "sampler_order: 'x', but llama.cpp or names of", lambda: model.sampler(sampler_order="x"))
refuses(ValueError, "dry_breakers[0]: is 901, but 0 to 900", lambda: model.sampler(dry_breakers=[[901]]))
refuses(ValueError, "greedy: does not go with typical_p", lambda: model.sampler(greedy=True, typical_p=0.5))
refuses(TypeError, "sampler() has no option 'typical'", lambda: model.sampler(typical=0.5))
refuses(ValueError, "logits: NaN for token 0", model.sampler().sample, np.full(model._vocabulary, np.nan))
refuses(ValueError, "logits: is float64 [3], but float32 [901] is expected", model.sampler().sample, np.zeros(3))
refuses(ValueError, "prompts[0]: has 0 tokens", model.generate, [[]])
refuses(ValueError, "tokens: is 0, but 1 or more is allowed", model.generate, [[1]], 0)
refuses(ValueError, "temperature: 'hot', but a number", lambda: model.sampler(temperature="hot"))
refuses(ValueError, "seed: 'x', but an integer", lambda: model.sampler(seed="x"))
refuses(ValueError, "stop: 'x', but a list is expected", lambda: model.generate_text(["x"], stop="x"))
refuses(ValueError, "stop: an empty string", lambda: model.generate_text(["x"], stop=[""]))
model.close()
