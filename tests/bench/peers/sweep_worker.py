"""One variant of an engine in a process of its own, for calls of every length (sweep.py):

    sweep_worker.py MODEL PRECISION THREADS ENGINE VARIANT FOLDER

answers each line of standard input with a line of JSON on standard output: first, without being
asked, the variant; to `length N` the seconds of a call of N tokens, after untimed ones, and how
far its output is from the folder's expected_N.npy; to `sample WARM CALLS` the milliseconds a call."""
import importlib
import os
import sys
import tempfile

import numpy as np

from data import Data
from entrants import MODULES, entry_of
from models import read_models
from worker import brief, clock, error_of, estimate, speaker, wait_until_quiet


def serve(engine, x, folder, threads, say):
    for line in sys.stdin:
        command, *numbers = line.split()
        if command == "length":
            tokens = int(numbers[0])
            engine.take(x[:, :tokens])
            seconds = estimate(engine)
            say({"seconds": seconds, **error_of(engine, np.load(os.path.join(folder, f"expected_{tokens}.npy")))})
        elif command == "sample":
            warm, calls = map(int, numbers)
            if warm:
                engine.run(warm)
            ms = clock(engine, calls) * 1e3
            if threads > 1:
                wait_until_quiet()
            say({"ms": ms})


def main():
    name, precision, threads, engine_name, variant, folder = sys.argv[1:]
    say = speaker()
    model = read_models(precision)[name]
    entry, data = entry_of(model, engine_name), Data(model, folder)
    tempfile.tempdir = folder     # what a killed worker leaves goes with the sweep's folder
    try:
        module = importlib.import_module("engine_" + MODULES.get(engine_name, engine_name))
        source = module.source(entry, data, engine_name, variant)
        engine = module.Engine(entry, int(threads), source, data.input())
        say({"variant": variant})
        serve(engine, data.input(), folder, int(threads), say)
    except Exception as error:
        say({"error": brief(error)})
    os._exit(0)     # thread pools need not be taken down in any order


if __name__ == "__main__":
    main()
