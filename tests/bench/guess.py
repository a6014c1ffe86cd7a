#!/usr/bin/env python3
"""Times texts with and without guesses, in pairs: the program of a model that writes.

    tests/bench/guess.py PROGRAM WEIGHTS [--option "--guess prompt"] [--tokens N] [--pairs P] [--prompts FILE]

Without --prompts it takes prompts that repeat themselves, made of this repository's own files and of tales, and prompts
that do not. A text's time is that of N tokens less that of one token, so that opening and reading do not count. It prints,
for each kind, the geometric mean of the ratios of tokens a second, the smallest one, and whether texts were the same.
"""

import argparse
import json
import math
import random
import shlex
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FILES = ["models/small.lua", "runtime/generate/dry.c", "runtime/generate/guess.h", "gen/pipeline.lua", "runtime/base/utf8.c",
         "runtime/generate/stop.h", "runtime/model/sequences.h", "tests/c/faults.h", "runtime/text/text.h", "LICENSE"]


def tales(count):
    """The beginnings of tales, as models/tales knows them."""
    sys.path.insert(0, str(ROOT / "models" / "tales"))
    from plots import tell
    return [tell(100000 + number)[0] for number in range(count)]


def repeating():
    """20 prompts: a piece of a file or a tale, and its beginning again."""
    prompts = []
    for name in FILES:
        text = " ".join((ROOT / name).read_text(encoding="utf-8").split()[:60])
        prompts.append(f"{text} Again: {text[:len(text) // 4]}")
    for text in tales(10):
        words = text.split()[:90]
        prompts.append(" ".join(words) + " Once more: " + " ".join(words[:12]))
    return prompts


def others():
    """20 prompts without repetitions: the first words of tales, and words in a random order."""
    source, words = random.Random(5), sorted({word for text in tales(40) for word in text.split()})
    return [" ".join(text.split()[:8]) for text in tales(10)] + [" ".join(source.sample(words, 40)) for _ in range(10)]


def seconds(command, prompt, tokens):
    begun = time.perf_counter()
    said = subprocess.run([*command, "--tokens", str(tokens), "--prompt", prompt], check=True, capture_output=True, text=True)
    return time.perf_counter() - begun, json.loads(said.stdout)["ids"]


def compare(arguments, prompts):
    """The ratio of tokens a second of each prompt, and the number of texts that differ."""
    plain = [arguments.program, "generate", "--weights", arguments.weights, "--greedy", "--format", "jsonl"]
    ways = [plain, plain + shlex.split(arguments.option)]
    ratios, different = [], 0
    for prompt in prompts:
        times = [[], []]
        texts = [None, None]
        for pair in range(arguments.pairs):
            for way in (0, 1) if pair % 2 else (1, 0):
                long, texts[way] = seconds(ways[way], prompt, arguments.tokens)
                times[way].append(long - seconds(ways[way], prompt, 1)[0])
        different += texts[0] != texts[1]
        if len(texts[0]) >= arguments.tokens // 4 and min(times[0] + times[1]) > 0:  # others say nothing
            ratios.append(min(times[0]) / min(times[1]))
    return ratios, different


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("weights")
    parser.add_argument("--option", default="--guess prompt", help="what is compared with nothing")
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--prompts", help="a file of prompts, one a line, in place of both kinds")
    arguments = parser.parse_args()
    kinds = {"repeating": repeating, "other": others}
    if arguments.prompts:
        lines = Path(arguments.prompts).read_text(encoding="utf-8").splitlines()
        kinds = {"given": lambda: lines}
    for kind, prompts in kinds.items():
        ratios, different = compare(arguments, prompts())
        if not ratios:
            sys.exit(f"{kind}: all texts end before {arguments.tokens // 4} tokens, or come too fast")
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"{kind}: {len(ratios)} texts, {mean:.2f} times the tokens a second, least {min(ratios):.2f}; "
              f"{different} texts differ")


if __name__ == "__main__":
    main()
