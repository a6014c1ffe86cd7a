"""One engine of the race of models that translate or write down speech, in a process of its own. Asked by
translate.py, a line of JSON each; answers a line of JSON each. KIND: ids, or features for Whisper.

    translate_worker.py attn2c NAME FOLDER THREADS KIND
    translate_worker.py CTranslate2 FOLDER TYPE THREADS KIND
    translate_worker.py whisper.cpp FILE TYPE THREADS features

    {"sources", "beams", "tokens"}  {"ms"} of translating all sources, each to exactly `tokens` tokens
    {"ids", "beams", "tokens"}      {"ids"} of the best answers to so few sources
"""
import ctypes
import json
import sys
import sysconfig
import time

import numpy as np

SOURCE_TOKENS = 24
SMALLEST_VOCABULARY = 32000     # ids are below it in every model


START, END = 50258, 50257       # Whisper's tokens


def sources(count, kind):
    generator = np.random.default_rng(1)
    if kind == "features":
        return generator.standard_normal((count, 3000, 80)).astype("float32")
    return generator.integers(4, SMALLEST_VOCABULARY, (count, SOURCE_TOKENS)).astype("int32")


class Attn2c:
    def __init__(self, name, folder, threads, kind):
        sys.path.insert(0, f"out/{name}")
        module = __import__(name)
        self.model = module.Model(folder)

    def translate(self, ids, beams, tokens):
        found = self.model.beam_search(ids, tokens, beams=beams, min_tokens=tokens, length_penalty=1.0, no_repeat_ngram=0,
                                       early_stopping=False)
        return [each[0].ids.tolist() for each in found]


class CTranslate2:
    def __init__(self, folder, kind, threads, source):
        import ctranslate2
        self.whisper = None
        if source == "features":
            self.storage = ctranslate2.StorageView
            self.whisper = ctranslate2.models.Whisper(folder, device="cpu", compute_type=kind, intra_threads=threads,
                                                      inter_threads=1)
            return
        self.model = ctranslate2.Translator(folder, device="cpu", compute_type=kind, intra_threads=threads, inter_threads=1)

    def translate(self, ids, beams, tokens):
        if self.whisper:
            views = self.storage.from_array(np.ascontiguousarray(ids.transpose(0, 2, 1)))
            found = self.whisper.generate(views, [[START]] * len(ids), beam_size=beams, max_length=2 * tokens,
                                          suppress_blank=False, suppress_tokens=[END])
            return [each.sequences_ids[0] for each in found]
        words = [[f"t{token}" for token in row] for row in ids]
        found = self.model.translate_batch(words, beam_size=beams, min_decoding_length=tokens, max_decoding_length=tokens)
        return [[int(word[1:]) for word in each.hypotheses[0]] for each in found]


class WhisperCpp:
    """One source, without beams. The binding shows one logit, so the tokens are given: choosing one takes it no time."""

    def __init__(self, path, _, threads, __):
        for name in ("ggml-base", "ggml-cpu", "ggml", "whisper"):      # the package has no path to its own libraries
            ctypes.CDLL(f"{sysconfig.get_path('platlib')}/lib{name}.so", ctypes.RTLD_GLOBAL)
        import _pywhispercpp
        self.library, self.threads = _pywhispercpp, threads
        self.model = _pywhispercpp.whisper_init_from_file_with_params(path, _pywhispercpp.whisper_context_default_params())

    def translate(self, features, beams, tokens):
        if beams > 1:
            raise RuntimeError("beams of whisper.cpp are not raced")
        mel = np.ascontiguousarray(features[0].T)
        calls = [self.library.whisper_set_mel(self.model, mel.ravel(), mel.shape[1], mel.shape[0]),
                 self.library.whisper_encode(self.model, 0, self.threads)]
        calls += [self.library.whisper_decode(self.model, START, 1, i, self.threads) for i in range(tokens)]
        if any(calls):
            raise RuntimeError("a call of whisper.cpp failed")
        return [[START] * tokens]


def answer(engine, asked, kind):
    count, beams, tokens = asked.get("sources", asked.get("ids")), asked["beams"], asked["tokens"]
    ids = sources(count, kind)
    start = time.perf_counter()
    found = engine.translate(ids, beams, tokens)
    ms = (time.perf_counter() - start) * 1e3
    if any(len(row) != tokens for row in found):
        raise RuntimeError(f"answers have {sorted({len(row) for row in found})} tokens, not {tokens}")
    return {"ids": found} if "ids" in asked else {"ms": ms}


def main():
    name, *words = sys.argv[1:]
    try:
        engine = {"attn2c": Attn2c, "CTranslate2": CTranslate2, "whisper.cpp": WhisperCpp}[name](words[0], words[1], int(words[2]), words[3])
        print(json.dumps({}), flush=True)
        for line in sys.stdin:
            print(json.dumps(answer(engine, json.loads(line), words[3])), flush=True)
    except (RuntimeError, OSError, ValueError) as error:
        print(json.dumps({"error": str(error)}), flush=True)


if __name__ == "__main__":
    main()
