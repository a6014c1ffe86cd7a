"""The functions of models' modules by what the models are for, against what transformers' and sentence-transformers'
pipelines say of the same folders (tests/hf/texts, tests/hf/translations).

tasks.py texts BUILT GOLDENS          folders with a folder for each model
tasks.py translations BUILT GOLDENS
tasks.py pictures BUILT GOLDENS
tasks.py captions BUILT GOLDENS
tasks.py digits BUILT MODEL           the model's own folder
tasks.py speech BUILT GOLDENS MODEL   sounds of the model `digits` are of another rate
Of models that answer alike, those that BUILT has are asked; there must be one.
"""

import importlib
import json
import pathlib
import sys
import tempfile
import warnings
import wave

import numpy as np
from refuses import refuses

KIND, BUILT, GOLDENS = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])


def module_of(name):
    sys.path.insert(0, str(BUILT / name))
    return importlib.import_module(name + "_" * (BUILT / name / (name + "_.py")).exists())


def built(*names):
    """Those of models that answer alike whose libraries are built."""
    kept = [name for name in names if (BUILT / name / ("lib%s.so" % name)).exists()]
    assert kept, names
    return kept


def pipeline(name):
    """The pipeline of a folder's model, its texts or pairs, and the answers of its lines."""
    module = module_of(name)
    lines = (GOLDENS / name / "texts.txt").read_text().split("\n")[:-1]
    texts = [tuple(line.split("\t", 1)) if "\t" in line else line for line in lines]
    answers = [json.loads(line) for line in (GOLDENS / name / "answers.jsonl").read_text().splitlines()]
    return module.Pipeline(GOLDENS / name), texts, answers


def pipeline_said(name):
    """What transformers' own pipeline says."""
    return json.loads((GOLDENS / name / "pipeline.json").read_text())


def near(got, wanted, least=2e-5):
    return np.allclose(got, wanted, rtol=1e-4, atol=least)


warnings.filterwarnings("ignore", "texts that are longer")


def texts():
    """Functions of models of texts."""
    with pipeline("sequence")[0] as of, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        of.classify(["a b", ("a " * 500, "b")])
        assert [str(each.message) for each in said] == ["texts that are longer than the model takes were cut: 1"], said
        of.classify(["a b", "c", ("d", "e")])
        assert len(said) == 1

    for name in built("sequence", "entailment", "pairs", "ended"):
        of, texts, answers = pipeline(name)
        with of:
            kept = [i for i, answer in enumerate(answers) if "label" in answer]
            got = of.classify([texts[i] for i in kept], batch_size=3)
            assert [label for label, _ in got] == [answers[i]["label"] for i in kept], name
            assert near([score for _, score in got], [answers[i]["score"] for i in kept]), name
            assert isinstance(got[0], tuple) and [type(each) for each in got[0]] == [str, float]
            ordered = of.classify(texts[:2], top_k=2)
            assert [each[0] for each in ordered] == of.classify(texts[:2]) and len(ordered[1]) == 2
            assert ordered[0][0][1] >= ordered[0][1][1]
            assert of.classify([]) == [] and (not isinstance(texts[0], str) or of.classify(texts[0]) == got[:1])
            refuses(ValueError, "texts[1]: 5, but a str", of.classify, ["a", 5])
            refuses(ValueError, "top_k: is 0", of.classify, ["a"], top_k=0)
            refuses(ValueError, "batch_size: is 0", of.classify, ["a"], batch_size=0)

    of, texts, answers = pipeline("entailment")
    with of:
        for said in pipeline_said("entailment"):
            (got,) = of.zero_shot(said["text"], said["labels"], said["template"], said["multi_label"])
            assert [label for label, _ in got] == [label for label, _ in said["found"]], (said, got)
            assert near([score for _, score in got], [score for _, score in said["found"]]), (said, got)
        refuses(ValueError, "candidate_labels, hypothesis_template: ", of.zero_shot, ["a"], ["b"], "It is.")
        refuses(ValueError, "candidate_labels, hypothesis_template: ", of.zero_shot, ["a"], [])
        assert of.zero_shot([], ["b", "c"]) == [] and not hasattr(module_of("sequence"), "zero_shot")

    of, texts, answers = pipeline("many")
    with of:
        for got, answer in zip(of.classify(texts, top_k=9), answers):
            wanted = [(each["label"], each["score"]) for each in answer["labels"]]
            assert [label for label, score in got if score >= 0.5] == [label for label, _ in wanted]
            assert near([score for _, score in got[:len(wanted)]], [score for _, score in wanted])

    for name in built("sentence", "modules", "prompt", "limited", "modern"):
        of, texts, answers = pipeline(name)
        with of:
            got = of.encode(texts, batch_size=4)
            assert got.dtype == np.float32 and near(got, [answer["embedding"] for answer in answers]), name
            assert np.array_equal(of.encode(texts[1]), got[1]) and of.encode([]).shape == (0, got.shape[1])
            unit = of.encode(texts, normalize_embeddings=True)
            assert near(np.linalg.norm(unit, axis=1), 1)
            alike = -np.linalg.norm(got[:, None] - got, axis=2) if name == "prompt" else unit @ unit.T  # as its folder says
            assert near(of.similarity(got, got), alike)
            assert of.similarity(got[0], got).shape == (1, len(texts))
            refuses(ValueError, "b: is [3, 2], but embeddings [count, %d]" % got.shape[1], of.similarity, got, np.ones((3, 2)))
            refuses(ValueError, "there is no prompt 'none'", of.encode, texts, prompt_name="none")
            ranked = of.rank(texts[0], texts, top_k=3, return_documents=True)
            assert len(ranked) == 3 and ranked[0]["score"] >= ranked[1]["score"] and texts[ranked[0]["corpus_id"]] == ranked[0]["text"]
            if name == "modules":
                assert near(of.encode(texts, prompt_name="query"), np.load(GOLDENS / name / "query.npy"))
                kept = np.load(GOLDENS / name / "kept.npy")
                assert near(of.encode(texts, dimensions=kept.shape[1]), kept)
                for query, wanted in zip(texts, np.load(GOLDENS / name / "ranked.npy")):
                    got = of.rank(query, texts)
                    assert near([each["score"] for each in got], wanted[[each["corpus_id"] for each in got]])
                    assert [each["corpus_id"] for each in got] == list(np.argsort(-np.array([
                        {each["corpus_id"]: each["score"] for each in got}[i] for i in range(len(texts))]), kind="stable"))

    of, texts, answers = pipeline("reranker")
    with of:
        assert near(of.predict(texts), [answer["score"] for answer in answers])
        queries, documents = ([pair[i] for pair in texts] for i in (0, 1))
        wanted = np.load(GOLDENS / "reranker/ranked.npy")
        scores = np.array([of.predict([(query, each) for each in documents]) for query in [each for each in queries if each][:len(wanted)]])
        assert near(scores, wanted)
        got = of.rank(queries[0], documents, return_documents=True)
        assert [each["corpus_id"] for each in got] == list(np.argsort(-scores[0], kind="stable")), got
        assert [each["text"] for each in got] == [documents[each["corpus_id"]] for each in got]

    of, texts, answers = pipeline("token")
    with of:
        for text, got, answer in zip(texts, of.tag(texts), answers):
            wanted = [each for each in answer["tokens"] if each["label"] != "O"]
            assert [each["entity"] for each in got] == [each["label"] for each in wanted], text
            assert near([each["score"] for each in got], [each["score"] for each in wanted])
            assert all(each["word"] == text[each["start"]:each["end"]] for each in got)
            assert [each["word"].encode() for each in got] == [
                text.encode()[each["begin"]:each["end"]] for each in wanted], text
        refuses(ValueError, "aggregation_strategy: 'last'", of.tag, texts, "last")
        refuses(ValueError, "texts: ('a', 'b'), but one text", of.tag, [("a", "b")])
        of._facts = of._facts._replace(labels=("B-Y", *of._facts.labels[1:]))  # as the pipeline had them
        for said in pipeline_said("token"):
            (got,) = of.tag([said["text"]], said["strategy"])
            for each, wanted in zip(got, said["found"], strict=True):
                assert set(each) == set(wanted) and near(each["score"], wanted["score"]), (said["strategy"], each, wanted)
                assert all(each[key] == wanted[key] for key in each if key not in ("score", "word")), (each, wanted)

    of, texts, answers = pipeline("masked")
    with of:
        for text, answer in zip(texts, answers):
            if not answer["masks"]:
                refuses(ValueError, "texts[0]: has no mask token, '<mask>'", of.fill, [text])
                continue
            got = of.fill([text], top_k=3)[0]
            for mask, found in zip(answer["masks"], got if len(answer["masks"]) > 1 else [got]):
                assert [each["token"] for each in found] == [each["id"] for each in mask["tokens"][:3]]
                assert near([each["score"] for each in found], [each["score"] for each in mask["tokens"][:3]])
        for said in pipeline_said("masked"):
            both = of.fill([said["text"]], 3)[0], said["found"]
            assert near(*([each.pop("score") for each in np.ravel(found)] for found in both)) and both[0] == both[1], both

    for name in built("question", "windows"):
        of, texts, answers = pipeline(name)
        with of:
            for (question, context), wanted in zip(texts, answers):
                got = of.answer(question, context)
                assert near(got["score"], wanted["score"], 1e-6), (name, question, got, wanted)
                assert got["answer"] == wanted["answer"] == context[got["start"]:got["end"]]
            for (question, context), wanted in zip(texts, pipeline_said(name)):
                got = of.answer(question, context, top_k=5, handle_impossible_answer=True)[:len(wanted)]
                assert near(*([each.pop("score") for each in list_] for list_ in (got, wanted)), 1e-6) and got == wanted, got
            assert not [each for each in of.answer(*texts[0], top_k=3) if each["end"] == 0]
            refuses(ValueError, "max_answer_len: is 0", of.answer, "a", "b", max_answer_len=0)
            refuses(ValueError, "top_k: is 0", of.answer, "a", "b", top_k=0)
        if name == "windows":
            for stride in 0, 5:
                lines = (GOLDENS / name / ("answers_%d.jsonl" % stride)).read_text().splitlines()
                with type(of)(GOLDENS / name) as again:
                    for (question, context), line in zip(texts, lines):
                        assert again.answer(question, context, doc_stride=stride)["answer"] == json.loads(line)["answer"], line


def translations():
    """Functions of models that write from sources."""
    for name in built("m2m_100", "nllb", "mbart", "mbart_50", "marian", "t5"):
        module = module_of(name)
        assert hasattr(module, "translate") == (name != "t5") and not hasattr(module, "classify")
        with module.Pipeline(GOLDENS / name) as of:
            for line in (GOLDENS / name / "answers.jsonl").read_text().splitlines():
                call = json.loads(line)
                options = {"beams": call["options"]["num_beams"]} if "num_beams" in call["options"] else {}
                if set(call["options"]) - {"num_beams"}:
                    continue
                wanted = [row[0]["text"] for row in call["answers"]]
                if name == "t5":
                    got = of.generate([call.get("prefix", "") + each for each in call["sources"]], **options)
                else:
                    got = of.translate(call["sources"], call.get("source"), call.get("target"), **options)
                assert got == wanted, (name, call["options"], got, wanted)
            if name != "t5":
                refuses(ValueError, "no language is called xx; languages: ", of.translate, ["a"], target_language="xx")
                assert of.translate("x", None, None, 3) == of.translate(["x"], max_new_tokens=3)


def pictures():
    """The functions give what the methods of Model give, one by one."""
    arrays = [np.random.RandomState(i).randint(0, 256, (20 + 9 * i, 31 - 3 * i, 3), "uint8") for i in range(3)]
    for name in built("vit_wider", "clip_image", "blip"):
        module, weights = module_of(name), GOLDENS / name
        with module.Pipeline(weights) as of:
            images = of.model.images(arrays)
            if name == "blip":
                options = {"greedy": True}
                assert of.caption(arrays, 4, **options) == [
                    of.model.decode(of.model.generate(images[i:i + 1], 4, **options)[0]) for i in range(3)]
                continue
            output = of._facts.output
            rows = np.concatenate([of.model.forward(**{of._facts.inputs[0]: images[i:i + 1]})[output] for i in range(3)])
            if name == "vit_wider":
                shares = np.exp(rows.astype("float64")) / np.exp(rows.astype("float64")).sum(axis=1, keepdims=True)
                got = of.classify(arrays, batch_size=2)
                assert near([score for _, score in got], shares.max(axis=1)) and len({type(label) for label, _ in got}) == 1
            else:
                assert np.array_equal(of.encode(arrays, batch_size=2), rows)
                assert of.similarity(rows, rows).shape == (3, 3)


def digits():
    """The functions give what the methods of Model give."""
    model, sound = module_of("digits"), GOLDENS / "held1.wav"
    with model.Pipeline(GOLDENS) as of, wave.open(str(sound)) as file:
        refuses(ValueError, "pip install soxr converts them", of.transcribe, sound)
        count, rate = file.getnframes(), file.getframerate()
        data = np.frombuffer(file.readframes(count), "<i2")
        at = np.arange(0, count - 1, rate / model.RATE)
        samples = np.interp(at, np.arange(count), data / 32768).astype("float32")
        logits = of.model.forward(**{of._facts.inputs[0]: [of.model.features(samples)]})[of._facts.output]
        said = of.transcribe(samples)
        assert said == of.model.text_of(logits.reshape(-1, logits.shape[-1])) and len(said.split()) > 2
        with tempfile.TemporaryDirectory() as folder:
            for width in 1, 2, 3, 4:
                path = folder + "/%d.wav" % width
                with wave.open(path, "wb") as made:
                    made.setparams((2, width, model.RATE, 0, "NONE", ""))
                    whole = np.round(samples.astype("float64") * 2 ** (8 * width - 1)).astype("int64")
                    low = (whole + 128 if width == 1 else whole).astype("<i8").view("uint8").reshape(-1, 8)[:, :width]
                    made.writeframes(np.repeat(low, 2, axis=0).tobytes())
                assert width == 1 or of.transcribe(path) == said, width
                assert len(of.transcribe(path.encode()).split()) > 2
            whole = pathlib.Path(path).read_bytes()
            pathlib.Path(path).write_bytes(whole[:1000])
            refuses(ValueError, "4.wav was cut: 956 bytes of its %d bytes" % (len(whole) - 44), of.transcribe, path)
            pathlib.Path(path).write_bytes(whole[:40] + bytes(4) + whole[44:])
            refuses(ValueError, "4.wav has no samples, or says so", of.transcribe, path)
            (pathlib.Path(folder) / "x.mp3").write_bytes(b"ID3")
            refuses(ValueError, "x.mp3 is no WAV file of integers: pip install soundfile reads others", of.transcribe,
                    folder + "/x.mp3")
            refuses(FileNotFoundError, "none.wav", of.transcribe, folder + "/none.wav")
        refuses(ValueError, "samples: is int64 [3], but floats", of.transcribe, [1, 2, 3])


def speech():
    """The functions give what the methods of Model give."""
    with module_of("english").Pipeline(GOLDENS / "english") as of:
        for name in "short", "long":
            segments = list(of.model.transcribe(GOLDENS / "english" / (name + ".wav")))
            assert segments and of.transcribe(GOLDENS / "english" / (name + ".wav")) == " ".join(each.text for each in segments)
        refuses(ValueError, "pip install soxr converts them", of.transcribe, pathlib.Path(sys.argv[4]) / "held1.wav")


{"texts": texts, "translations": translations, "pictures": pictures, "captions": pictures, "digits": digits, "speech": speech}[KIND]()
