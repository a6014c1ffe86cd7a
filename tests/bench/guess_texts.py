#!/usr/bin/env python3
"""Writes texts that guess_texts.c times: guess_texts.py TOKENIZER.json > TEXTS.

20 answers repeat their prompt: ten files of this repository with a word renamed, and ten tales of which some sentences
are told again. 20 answers do not: they are prose of this repository's READMEs, after other prose. A line has the kind, the number of
the prompt's tokens, and all tokens. Needs tokenizers==0.23.3.
"""

import random
import re
import sys
from pathlib import Path

from tokenizers import Tokenizer

ROOT = Path(__file__).resolve().parent.parent.parent
FILES = {"runtime/generate/dry.c": "dry", "runtime/generate/guess.h": "guess", "gen/pipeline.lua": "spec", "LICENSE": "Software",
         "runtime/base/utf8.c": "utf8", "runtime/generate/stop.h": "stop", "runtime/model/sequences.h": "model",
         "tests/c/faults.h": "nth", "runtime/text/text.h": "text", "models/tales/words.py": "words"}
LINES, PROSE = 24, 60


def edits():
    for name, word in FILES.items():
        text = "\n".join((ROOT / name).read_text(encoding="utf-8").splitlines()[:LINES])
        yield f"Rename {word} to {word}_one in this file:\n\n{text}\n\n", re.sub(rf"\b{word}\b", f"{word}_one", text)


def summaries():
    sys.path.insert(0, str(ROOT / "models" / "tales"))
    from plots import tell
    for number in range(10):
        text = tell(100000 + number)[0]
        told = re.split(r"(?<=[.!?]) ", text)
        some = sorted(random.Random(number).sample(range(len(told)), min(len(told), 6)))
        yield f"{text}\n\nTell the most important of it again:\n\n", " And then: ".join(told[i] for i in some)


def prose():
    words = []
    for path in sorted(ROOT.glob("**/README.md")):
        text = re.sub(r"```.*?```|^\|.*$", "", path.read_text(encoding="utf-8"), flags=re.S | re.M)
        words += text.split()
    for number in range(20):
        at = number * (len(words) // 20)
        yield " ".join(words[at:at + PROSE]) + " ", " ".join(words[at + PROSE:at + 2 * PROSE])


def main():
    tokenizer = Tokenizer.from_file(sys.argv[1])
    for kind, texts in (("edit", edits()), ("summary", summaries()), ("other", prose())):
        for prompt, answer in texts:
            first, then = (tokenizer.encode(text, add_special_tokens=False).ids for text in (prompt, answer))
            print(kind, len(first), *first, *then)


if __name__ == "__main__":
    main()
