"""The race of a GGUF file of a model that writes: attn2c's build of it against OpenVINO GenAI, which reads the same
file, each in a process of its own on the same cores, measured in turn. Prints a table: tokens/s of both, and the median
of the rounds' ratios with their quartiles. Run by run.sh --genai.

    genai.py FILE.gguf [--precision f32,bf16] [--threads 1,2] [--rounds N]

The file has its tokenizer, as those of people have; weights in blocks stay so in attn2c. GenAI takes it for a prompt of
512 tokens, and for 32 tokens after a prompt of 4; attn2c decodes at the position in their middle.
"""
import argparse
import os
import statistics
import sys
import time
from pathlib import Path

import numpy as np

from contest import take_cores
from engine_attn2c import build_words
from generate import QUIET_SECONDS, SEQUENCES
from models import OUT
from process import Process

BEGIN, TOKENS, CALLS = 4, 32, 8
ROWS = {"prompt of 512": (f"prefill {512}", 512), "token": (f"decode 1 {BEGIN + TOKENS // 2} {CALLS}", 1)}


def vocabulary_of(path):
    """The number of rows of the embedding."""
    import gguf
    for tensor in gguf.GGUFReader(path).tensors:
        if tensor.name == "token_embd.weight":
            return int(tensor.shape[1])
    raise RuntimeError(f"{path} has no token_embd.weight")


def open_engines(path, precision, threads, cores):
    """Builds the file, and starts both engines."""
    os.sched_setaffinity(0, cores)     # the last race may have left one
    name = f"genai_{precision}_{threads}"
    OUT.mkdir(parents=True, exist_ok=True)
    np.save(OUT / f"{name}.npy", vocabulary_of(path))
    build_words([str(path), f"name={name}", f"threads={threads}", f"precision={precision}", "context=1280",
                 f"sequences={SEQUENCES}"])
    take_cores(threads)
    return {"attn2c": Process("generate_worker.py", "attn2c", name, path, threads, SEQUENCES),
            "GenAI": Process("genai_worker.py", path, precision, threads, BEGIN, TOKENS)}


def race(workers, rounds):
    """Yields a row: its title, tokens/s of each engine, quartiles of the ratio."""
    for title, (question, tokens) in ROWS.items():
        samples = {name: [] for name in workers}
        for number in range(rounds + 1):
            for name in list(workers)[::1 if number % 2 else -1]:
                time.sleep(QUIET_SECONDS)
                ms = workers[name].ask(question)["ms"]
                if number > 0:      # the first round warms up
                    samples[name].append(ms)
        ratios = [b / a for a, b in zip(samples["attn2c"], samples["GenAI"])]
        yield title, [1e3 * tokens / statistics.median(each) for each in samples.values()], statistics.quantiles(ratios)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--precision", default="f32,bf16")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    if not arguments.file.is_file():
        sys.exit(f"{arguments.file}: no such file")
    cores = os.sched_getaffinity(0)
    print("| type | threads | | attn2c, tokens/s | OpenVINO GenAI | attn2c against it | quartiles |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for precision in arguments.precision.split(","):
        for threads in map(int, arguments.threads.split(",")):
            workers = open_engines(arguments.file.resolve(), precision, threads, cores)
            for title, (own, other), (low, middle, high) in race(workers, arguments.rounds):
                print(f"| {precision} | {threads} | {title} | {own:.1f} | {other:.1f} | {middle:.2f} | "
                      f"{low:.2f} to {high:.2f} |", flush=True)
            for worker in workers.values():
                worker.close()


if __name__ == "__main__":
    main()
