"""One variant of an engine in a process of its own, for batches of sentences (mixed.py):

    mixed_worker.py ENGINE VARIANT THREADS

answers each line of standard input with a line of JSON on standard output: first, without being
asked, the variant; to `order FILE` (lists of sentences' numbers, a list a batch), after it has
computed all batches untimed, how far its results are from the expected ones; to `batch I`
the milliseconds of that batch."""
import json
import os
import sys
import time
from pathlib import Path

import numpy as np

import sentences
from mixed_engines import ENGINES
from worker import brief, speaker, wait_until_quiet


def error_of(results, expected):
    """The largest difference of any number, and the least cosine of any sentence."""
    if not np.isfinite(results).all():
        return {"difference": float("inf"), "cosine": 0.0}
    lengths = np.linalg.norm(results, axis=1) * np.linalg.norm(expected, axis=1)
    return {"difference": float(np.abs(results - expected).max()),
            "cosine": float(((results * expected).sum(1) / lengths).min())}


def take(engine, order, tokens, expected):
    """The inputs of all batches, and the error of their results."""
    batches = [engine.batch([tokens[i] for i in numbers]) for numbers in order]
    results = np.full(expected.shape, np.nan)
    for numbers, batch in zip(order, batches):      # engines that prepare for a shape do so now
        results[numbers] = engine.run(batch)
    some = [i for numbers in order for i in numbers]
    return batches, error_of(results[some], expected[some])


def serve(engine, threads, say):
    _, tokens, expected = sentences.prepare()
    batches = []
    for line in sys.stdin:
        command, word = line.split(None, 1)
        if command == "order":
            batches, error = take(engine, json.loads(Path(word.strip()).read_text()), tokens, expected)
            say(error)
        elif command == "batch":
            batch = batches[int(word)]
            start = time.perf_counter_ns()
            engine.run(batch)
            ms = (time.perf_counter_ns() - start) / 1e6
            if threads > 1:
                wait_until_quiet()
            say({"ms": ms})


def main():
    name, variant, threads = sys.argv[1:]
    say = speaker()
    try:
        folder, _, _ = sentences.prepare()
        engine = ENGINES[name](folder, variant, int(threads))
        say({"variant": variant})
        serve(engine, int(threads), say)
    except Exception as error:
        say({"error": brief(error)})
    os._exit(0)     # thread pools need not be taken down in any order


if __name__ == "__main__":
    main()
