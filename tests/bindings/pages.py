"""Models of words on a page through their Python modules, against what transformers says of tests/hf/pages, and against
arrays that their programs wrote.

pages.py BUILT GOLDENS PICTURES NAME...   folders with a folder for each model; BUILT/NAME.npy: logits of the program
"""
import importlib
import json
import pathlib
import sys
import warnings

import numpy as np
from refuses import refuses

warnings.filterwarnings("ignore", "texts that are longer")  # some pages are
BUILT, GOLDENS, PICTURES = map(pathlib.Path, sys.argv[1:4])


def pixels_of(name):
    """A picture as Pillow has it."""
    data = (PICTURES / (name + ".ppm")).read_bytes()
    kind, width, height, most = data.split(maxsplit=4)[:4]
    assert (kind, most) == (b"P6", b"255")
    return np.frombuffer(data[-int(width) * int(height) * 3:], "uint8").reshape(int(height), int(width), 3)


def lines_of(path):
    return path.read_text().split("\n")[:-1] if path.exists() else []


def pages_of(module, name):
    folder, pages = GOLDENS / name, []
    for i, line in enumerate(lines_of(folder / "texts.txt")):
        boxes = np.array(lines_of(folder / "boxes.txt")[i].split(), int).reshape(-1, 4)
        files = lines_of(folder / "pictures.txt")
        pages.append(module.Page(tuple(line.split("\t")) if "\t" in line else line, boxes, pixels_of(files[i]) if files else None))
    return pages, [json.loads(line) for line in lines_of(folder / "answers.jsonl")]


def part(text, place):
    return text.encode()[place["begin"]:place["end"]].decode()


for name in sys.argv[4:]:
    sys.path.insert(0, str(BUILT / name))
    module = importlib.import_module(name)
    pages, answers = pages_of(module, name)
    page = pages[0]
    with module.Pipeline(GOLDENS / name) as of:
        model = of.model
        if name in ("page", "form"):
            for page, got, wanted in zip(pages, of.tag(pages, batch_size=4), answers):
                wanted = [each for each in wanted["tokens"] if each["label"] != "O"]
                assert [each["entity"] for each in got] == [each["label"] for each in wanted], (page.text, got, wanted)
                assert [each["word"] for each in got] == [part(page.text, each) for each in wanted]
                assert all(each["word"] == page.text[each["start"]:each["end"]] for each in got)
                assert np.allclose([each["score"] for each in got], [each["score"] for each in wanted], atol=2e-5)
            assert of.tag(page) == of.tag([page]) and of.tag(page, "simple")
            made, lengths = model.forward_text(pages)
            by_program = np.load(BUILT / (name + ".npy"))
            assert np.array_equal(made["logits"][:, :by_program.shape[1]], by_program)
            page = pages[0]
            assert lengths[0] == len(model.encode(page).ids) and np.array_equal(model.forward_text([page])[0]["logits"][0], made["logits"][0])
            assert not np.array_equal(model.forward_text([page._replace(boxes=page.boxes // 2)])[0]["logits"], made["logits"][:1])
        else:
            for page, wanted in zip(pages, answers):
                question, words = page.text
                got = of.answer(question, page._replace(text=words), doc_stride=5)
                assert got["answer"] == (wanted["answer"] or "") == words[got["start"]:got["end"]], (got, wanted)
                assert abs(got["score"] - wanted.get("score", 0)) < 1e-6
            page = pages[0]
        with module.Tokenizer() as tokenizer:
            tokens = tokenizer.encode(page)
            assert isinstance(tokens, module.PageTokens) and np.array_equal(tokens.boxes, model.encode(page).boxes)
            found = [tuple(box) for box, source in zip(tokens.boxes, tokens.sources) if source == isinstance(page.text, tuple)]
            assert found and set(found) <= {tuple(box) for box in page.boxes}
            assert not tokenizer.encode("a b").boxes.any()
            if name in ("page", "question"):  # as transformers' LayoutLMv3Tokenizer: special tokens in words, white space
                words = module.Page("<unk>. a\xa0 <mask>-", [[i] * 4 for i in (1, 2, 3)])
                for text, ids, sides in (words, [], []), (
                        words._replace(text=("b  c\u3000<s>.", words.text)), [224, 69, 224, 70, 0, 667, 2, 2], [0] * 8):
                    got = tokenizer.encode(text)
                    assert got.ids.tolist() == [0] + ids + [3, 667, 224, 68, 130, 258, 800, 224, 16, 2]
                    assert got.boxes[:, 2].tolist() == [0] + sides + [1, 1, 2, 2, 2, 2, 3, 3, 3, 0]
                    assert got.places[0 if not ids else 4].tolist() == ([3, 4, 3, 4] if ids else [0] * 4)
            odd = module.Page("a\0b \xe9\u3000c\n\x1fd", [[i] * 4 for i in (1, 2, 3)])  # NUL and other white space are in words
            assert sorted(set(tokenizer.encode(odd).boxes[:, 1]) - {0, 1000}) == [1, 2, 3]

        def forward(page):
            return model.forward_text([pages[0], page])

        refuses(ValueError, "text 2: has %d words and 4 numbers of boxes, but four numbers for each word" % len(page.boxes),
                forward, page._replace(boxes=[[1, 2, 3, 4]]))
        for side in 1001, -1, 2**40:
            refuses(ValueError, "texts[1].boxes[0, 3]: is %d, but 0 to 1000 is allowed" % side, forward,
                    page._replace(boxes=[[1, 2, 3, side]] * len(page.boxes)))
        refuses(ValueError, "texts[1].boxes: is int64 [1][3], but int32 [words][4] is expected", forward, page._replace(boxes=[[1, 2, 3]]))
        refuses(ValueError, "texts[1].boxes: is float64 [1][4], but int32", forward, page._replace(boxes=[[1, 2, 3, 4.5]]))
        refuses(ValueError, "texts[1].boxes: is not an array", forward, page._replace(boxes=[[1, 2], [3]]))
        refuses(ValueError, "texts[1]: 5, but a str", forward, page._replace(text=5))
        refuses(ValueError, "texts: Page(text=", model.forward_text, page)
        if page.picture is None:
            refuses(ValueError, "texts[1]: has a picture, but the model reads none", forward,
                    page._replace(picture=np.zeros((2, 2, 3), "uint8")))
            assert model.forward_text(["a b"])[1][0] == model.forward_text([module.Page("a b", [[0] * 4] * 2)])[1][0]
        else:
            for each in "a b", page._replace(picture=None):
                refuses(ValueError, "texts[1]: has no picture of its page, which the model reads, too", forward, each)
            refuses(ValueError, "texts[1].picture: is float64 [2, 2], but uint8 [height, width, 3] is expected", forward,
                    page._replace(picture=np.zeros((2, 2))))
