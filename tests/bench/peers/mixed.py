"""The race of sentences on one number of threads: sentences in batches of 32, in the order of their
text and sorted by length. Every variant of every engine is a process of its own (mixed_worker.py),
all pinned to the same cores. All results are compared with double precision, then the engines
compute each batch in turn. Run by race.py --mixed.

    mixed.py THREADS RESULT --engines A,B [--rounds N] [--sentences N]

After each round the file RESULT has all that was measured so far, as one JSON object.
"""
import argparse
import json
import os
import sys
import tempfile
import time

import sentences
from contest import take_cores
from engine_attn2c import build_words
from entrants import MIXED_PEERS, complaint
from mixed_engines import library_name
from models import ISA, OUT
from neighbours import Watch
from process import Process

BATCH = 32


def orders(tokens, numbers):
    """The batches of each order of the race, as lists of sentences' numbers. numbers: those that race."""
    batches = lambda numbers: [numbers[i:i + BATCH] for i in range(0, len(numbers), BATCH)]
    return {"unsorted": batches(numbers), "sorted": batches(sorted(numbers, key=lambda i: len(tokens[i])))}


def race(workers, batches, rounds):
    """Yields after each round {engine: milliseconds of each batch, a list for each round}. Engines take turns at each
    batch."""
    samples, names = {name: [] for name in workers}, list(workers)
    for number in range(rounds):
        for name in names:
            samples[name].append([])
        for batch in range(batches):
            turn = (number + batch) % len(names)
            for name in names[turn:] + names[:turn]:     # nobody always follows the same one
                samples[name][-1].append(workers[name].ask(f"batch {batch}")["ms"])
        yield samples


def open_all(threads, engines, failed):
    workers = {}
    variants = {"attn2c": ["any"], **{name: MIXED_PEERS["f32"][name] for name in engines}}
    for name, some in variants.items():
        for variant in some:
            try:
                workers[name if len(some) == 1 else f"{name} {variant}"] = Process("mixed_worker.py", name, variant,
                                                                                   threads)
            except RuntimeError as error:     # reported by name; the others still race
                failed[f"{name} {variant}"] = str(error)
    return workers


def checked(order, batches, workers, failed):
    """{engine: error} of those whose results are right; the others are in `failed`."""
    errors = {}
    with tempfile.NamedTemporaryFile("w", dir=OUT, suffix=".json") as file:
        file.write(json.dumps(batches))
        file.flush()
        for name, worker in workers.items():
            try:
                errors[name] = worker.ask(f"order {file.name}")
                wrong = complaint("f32", errors[name])
            except RuntimeError as error:
                wrong = str(error)
            if wrong:
                failed[f"{name}, {order}"] = wrong
    return {name: error for name, error in errors.items() if f"{name}, {order}" not in failed}


def rows_of(order, batches, workers, rounds, failed):
    """Yields after each round the row of one order; none where attn2c's results are wrong. A wrong peer leaves the
    race."""
    errors = checked(order, batches, workers, failed)
    if "attn2c" not in errors or len(errors) < 2:
        return
    right = {name: workers[name] for name in errors}
    watch = Watch([worker.process.pid for worker in right.values()])
    for samples in race(right, len(batches), rounds):
        # Other processes disturb each batch in some rounds only.
        least = {name: sum(map(min, zip(*each_round))) for name, each_round in samples.items()}
        yield {"order": order, "samples_ms": {name: list(map(sum, each)) for name, each in samples.items()},
               "per_second": {name: sum(map(len, batches)) / ms * 1e3 for name, ms in least.items()},
               "neighbours": watch.share(),
               "difference": {name: errors[name]["difference"] for name in right},
               "cosine": {name: errors[name]["cosine"] for name in right}}


def write(path, result):
    with open(path + ".new", "w") as file:
        file.write(json.dumps(result))
    os.replace(path + ".new", path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("threads", type=int)
    parser.add_argument("result")
    parser.add_argument("--engines", required=True)
    parser.add_argument("--precision", choices=["f32"], default="f32")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sentences", type=int, default=sentences.COUNT)
    arguments = parser.parse_args()
    folder, tokens, _ = sentences.prepare()
    build_words([str(folder), f"name={library_name(arguments.threads)}", "seq=any(512)",
                 f"threads={arguments.threads}", *([f"target={ISA}"] if ISA else [])])
    take_cores(arguments.threads)
    failed, done, began = {}, {}, time.time()
    workers = open_all(arguments.threads, [name for name in arguments.engines.split(",") if name != "attn2c"], failed)
    some = [i * len(tokens) // arguments.sentences for i in range(arguments.sentences)]
    write(arguments.result, {"rows": [], "failed": failed})
    for order, batches in orders(tokens, some).items():
        for row in rows_of(order, batches, workers, arguments.rounds, failed):
            done[order] = row
            write(arguments.result, {"rows": list(done.values()), "failed": failed})
            speeds = ", ".join(f"{name} {speed:.0f}" for name, speed in row["per_second"].items())
            print(f"{order}, round {len(row['samples_ms']['attn2c'])} of {arguments.rounds}, "
                  f"{time.time() - began:.0f} s: sentences/s: {speeds}", file=sys.stderr, flush=True)
    for worker in workers.values():
        worker.close()
    write(arguments.result, {"rows": list(done.values()), "failed": failed})


if __name__ == "__main__":
    main()
