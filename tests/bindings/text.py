# text.py - a model that takes text through its Python module: texts as the program answers them, tokens and back.
# Usage: text.py FOLDER WEIGHTS
import subprocess
import sys

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
    assert np.array_equal(model.encode("a\0b \udcff").ids, model.encode("a\0b \udcff".encode("utf-8", "surrogatepass")).ids)
    pair = model.encode(("the dog", "a cat"))
    assert 1 in pair.sources and len(pair.ids) > len(tokens.ids)
    cut = model.encode(texts[2], most=4)
    assert len(cut.ids) == 4 and cut.removed > 0
    given = np.zeros((1, 3), "float32")
    model.forward_text(["the dog"], out={"logits": given})
    assert np.array_equal(given[0], expected[0])
    none, lengths = model.forward_text([])
    assert none["logits"].shape == (0, 3) and lengths.shape == (0,)

    refuses(ValueError, "texts: a list of texts is expected", model.forward_text, "the dog")
    refuses(ValueError, "a text is a str, bytes or a tuple of two, not int", model.forward_text, [1])
    refuses(ValueError, "ids: is float64 [1], but int32 [count] is expected", model.decode, [1.0])
    refuses(ValueError, "ids[1]: is 2147483648,", model.decode, [0, 2**31])
    refuses(ValueError, "most: is -1", model.encode, "a", most=-1)
    refuses(ValueError, "out: 'label' is no output; outputs are logits", model.forward_text, ["a"], out={"label": None})
