"""One engine of the race of models that translate, in a process of its own. Asked by translate.py, a line of JSON
each; answers a line of JSON each.

    translate_worker.py attn2c NAME FOLDER THREADS
    translate_worker.py CTranslate2 FOLDER TYPE THREADS

    {"sources", "beams", "tokens"}  {"ms"} of translating all sources, each to exactly `tokens` tokens
    {"ids", "beams", "tokens"}      {"ids"} of the best answers to so few sources
"""
import json
import sys
import time

import numpy as np

SOURCE_TOKENS = 24
SMALLEST_VOCABULARY = 32000     # ids are below it in every model


def sources(count):
    generator = np.random.default_rng(1)
    return generator.integers(4, SMALLEST_VOCABULARY, (count, SOURCE_TOKENS)).astype("int32")


class Attn2c:
    def __init__(self, name, folder, threads):
        sys.path.insert(0, f"out/{name}")
        module = __import__(name)
        self.model = module.Model(folder)

    def translate(self, ids, beams, tokens):
        found = self.model.beam_search(ids, tokens, beams=beams, min_tokens=tokens, length_penalty=1.0, no_repeat_ngram=0,
                                       early_stopping=False)
        return [each[0].ids.tolist() for each in found]


class CTranslate2:
    def __init__(self, folder, kind, threads):
        import ctranslate2
        self.model = ctranslate2.Translator(folder, device="cpu", compute_type=kind, intra_threads=threads, inter_threads=1)

    def translate(self, ids, beams, tokens):
        words = [[f"t{token}" for token in row] for row in ids]
        found = self.model.translate_batch(words, beam_size=beams, min_decoding_length=tokens, max_decoding_length=tokens)
        return [[int(word[1:]) for word in each.hypotheses[0]] for each in found]


def answer(engine, asked):
    count, beams, tokens = asked.get("sources", asked.get("ids")), asked["beams"], asked["tokens"]
    ids = sources(count)
    start = time.perf_counter()
    found = engine.translate(ids, beams, tokens)
    ms = (time.perf_counter() - start) * 1e3
    if any(len(row) != tokens for row in found):
        raise RuntimeError(f"answers have {sorted({len(row) for row in found})} tokens, not {tokens}")
    return {"ids": found} if "ids" in asked else {"ms": ms}


def main():
    name, *words = sys.argv[1:]
    try:
        engine = {"attn2c": Attn2c, "CTranslate2": CTranslate2}[name](words[0], words[1], int(words[2]))
        print(json.dumps({}), flush=True)
        for line in sys.stdin:
            print(json.dumps(answer(engine, json.loads(line))), flush=True)
    except (RuntimeError, OSError, ValueError) as error:
        print(json.dumps({"error": str(error)}), flush=True)


if __name__ == "__main__":
    main()
