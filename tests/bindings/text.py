# text.py - a model that takes text through its Python module: texts as the program answers them, tokens and back.
# Usage: text.py FOLDER WEIGHTS
import copy
import os
import pathlib
import pickle
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import sequence
from refuses import refuses

folder, weights = sys.argv[1:3]
texts = ["the dog", "", "a cat was here, and nobody saw it go away", "Größe \U0001F600 \u202E", "the dog"]

words = [folder + "/sequence", "run", "--weights", weights, "--output", "logits=%s/logits.npy" % folder]
for text in texts:
    words += ["--text-string", text]
subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
expected = np.load(folder + "/logits.npy")

with sequence.Model(weights) as model:
    outputs, lengths = model.forward_text(texts)
    assert outputs["logits"].shape == (5, 3) and lengths.dtype == np.int32
    assert np.array_equal(outputs["logits"], expected)
    assert np.array_equal(outputs["logits"][0], outputs["logits"][4])
    assert not np.array_equal(outputs["logits"][0], outputs["logits"][2])
    for i, text in enumerate(texts):
        tokens = model.encode(text)
        assert len(tokens.ids) == lengths[i] == len(tokens.places) == len(tokens.sources) == len(tokens.types)
        alone = model.forward(input_ids=tokens.ids[None], token_type_ids=tokens.types[None], lengths=lengths[i:i + 1])
        assert np.array_equal(alone["logits"][0], expected[i])
    tokens = model.encode("the dog")
    assert model.decode(tokens.ids) == "the dog" and tokens.removed == 0
    assert model.decode(tokens.ids, skip_special=False) != "the dog"
    assert model.decode(tokens.ids.astype("uint64")) == "the dog" and model.decode([]) == ""
    assert [tokens.sources[0], tokens.sources[1]] == [2, 0] and list(tokens.places[1]) == [0, 3, 0, 3]
    assert np.array_equal(model.encode(b"the dog").ids, tokens.ids)
    assert np.array_equal(model.encode("a\0b \uffff").ids, model.encode("a\0b \uffff".encode()).ids)
    pair = model.encode(("the dog", "a cat"))
    assert 1 in pair.sources and len(pair.ids) > len(tokens.ids)
    cut = model.encode(texts[2], most=4)
    assert len(cut.ids) == 4 and cut.removed > 0
    given = np.zeros((1, 3), "float32")
    model.forward_text(["the dog"], out={"logits": given})
    assert np.array_equal(given[0], expected[0])
    none, lengths = model.forward_text([])
    assert none["logits"].shape == (0, 3) and lengths.shape == (0,)

    refuses(ValueError, "texts: 'the dog', but a list is expected", model.forward_text, "the dog")
    refuses(ValueError, "texts[0]: 1, but a str, bytes or a tuple of two is expected", model.forward_text, [1])
    refuses(ValueError, "ids: is float64 [1], but int32 [count] is expected", model.decode, [1.0])
    for number in 2**31, -1, -(2**31):
        refuses(ValueError, "ids[1]: is %d, but 0 to 2147483647 is allowed" % number, model.decode, [0, number])
    for most in -1, 2**31, 2**64 + 5, -2**64:
        refuses(ValueError, "most: is %d, but 0 to 2147483647 is allowed" % most, model.encode, "a", most=most)
    refuses(ValueError, "most: 1.5, but an integer is expected", model.encode, "a", most=1.5)
    assert np.array_equal(model.encode(texts[2], most=np.int64(4)).ids, cut.ids)
    assert len(model.encode(texts[2], most=2**31 - 1).ids) > 4

    ids, types = (np.zeros((2, 9), "int64") for _ in range(2))
    n = len(tokens.ids)
    ids[0, :n], types[0, :n], ids[1], types[1] = tokens.ids, tokens.types, tokens.ids[0], 0
    by_lengths = model.forward(input_ids=ids, token_type_ids=types, lengths=[n, 9])["logits"]
    assert np.array_equal(by_lengths[0], expected[0])
    mask = (np.arange(9) < [[n], [9]]).astype("int64")

    def masked(value, **more):
        return model.forward(input_ids=ids, token_type_ids=types, attention_mask=value, **more)["logits"]

    for value in mask, mask.astype(bool), mask.tolist(), np.asfortranarray(mask), mask.astype("uint8"):
        assert np.array_equal(masked(value), by_lengths)
    refuses(ValueError, "attention_mask[1, 1]: is 1 after a 0, but this model takes ones and then zeros: padding on the right",
            masked, [[1] * 9, [0] + [1] * 8])
    refuses(ValueError, "attention_mask[0, 4]: is 1 after a 0", masked, np.array([[1, 1, 1, 0, 1, 0, 0, 0, 0]] * 2, "uint8"))
    refuses(ValueError, "attention_mask[0]: has no 1, but", masked, np.zeros((2, 9), "int32"))
    refuses(ValueError, "attention_mask[0, 2]: is 2, but 0 to 1 is allowed", masked, np.where(np.arange(9) == 2, 2, mask))
    refuses(ValueError, "attention_mask: is float64 [2][9], but int32 [batch][seq] is expected", masked, mask * 1.0)
    refuses(ValueError, "attention_mask: is int64 [2][8], but int32 [2][9] is expected", masked, mask[:, :8])
    refuses(ValueError, "attention_mask: is int64 [1][9], but int32 [2][9] is expected", masked, mask[:1])
    refuses(TypeError, "lengths, attention_mask: one of the two is expected", masked, mask, lengths=[n, 9])
    if hasattr(sequence, "BATCH"):  # a model of any length takes sequences without padding, too
        refuses(TypeError, "lengths, attention_mask: one of the two is expected", masked, None)
    refuses(ValueError, "out: 'label' is not an output; outputs are logits", model.forward_text, ["a"], out={"label": None})

# Only the tokenizer, without weights.
with sequence.Tokenizer() as tokenizer:
    for text in texts + [("the dog", "a cat")]:
        found = tokenizer.encode(text)
        assert isinstance(found, sequence.Tokens)
    for name in "ids", "types", "places", "sources":
        assert np.array_equal(getattr(tokenizer.encode("the dog"), name), getattr(tokens, name))
    assert tokenizer.decode(tokens.ids) == "the dog"
    refuses(ValueError, "most: is 18446744073709551621,", tokenizer.encode, "a", most=2**64 + 5)
    for copied in copy.copy, copy.deepcopy, pickle.dumps:
        refuses(TypeError, "a Tokenizer cannot be copied or pickled", copied, tokenizer)
refuses(ValueError, "the tokenizer is closed", tokenizer.encode, "a")

# Tables that do not open: the library's own reason is the error's text.
with tempfile.TemporaryDirectory() as broken:
    shutil.copy(os.path.join(folder, "sequence.py"), broken)
    library = pathlib.Path(folder, "libsequence.so").read_bytes()
    other, count = re.subn(rb"attn2cTX[\1-\x1f]", b"attn2cTX\x63", library)
    assert count > 0
    pathlib.Path(broken, "libsequence.so").write_bytes(other)
    script = "import sequence\nsequence.Tokenizer().encode('a')"
    path = os.pathsep.join([broken, os.environ.get("PYTHONPATH", "")])
    said = subprocess.run([sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": path},
                          stderr=subprocess.PIPE, text=True)
    assert said.returncode == 1, said
    assert said.stderr.endswith("ValueError: tokenizer tables: made by another version of attn2c\n"), said.stderr
