"""One model of any length on one number of threads, at every length: every variant of every engine in
a process of its own (sweep_worker.py), all pinned to the same cores. At each length all outputs
are compared with a double precision result, then the engines are timed in turn, a sample of each
a round. Run by race.py --lengths; prints one JSON object.

    sweep.py MODEL THREADS FOLDER --engines A,B [--precision f32] [--rounds N] [--step N | --at N,N]

FOLDER keeps weights and expected outputs from one number of threads to the next.
"""
import argparse
import json
import math
import os
import statistics
import sys

import numpy as np

from contest import LEAST_RATIO, calls_of, race, take_cores
from data import Data
from entrants import PEERS, complaint, own, variants
from models import read_models
from neighbours import Watch
from process import Process
from report import spread

AGAIN = 3               # rows whose ratio is not clearly above or below LEAST_RATIO: that number of times the rounds more
PROBE_ROUNDS = 5        # of the choice among an engine's variants,
PROBES = 0.0, 0.06, 0.25, 1.0   # at these places of the range of lengths
KEPT = 2                # variants of an engine that race
REPORT_EVERY = 16       # lengths


class Entrant(Process):
    """A process of sweep_worker.py."""

    def __init__(self, model, threads, engine, variant, folder):
        super().__init__("sweep_worker.py", model.name, model.precision, threads, engine, variant, folder)
        self.precision = model.precision

    def take(self, tokens):
        """Sets the length. Returns {"difference", "cosine"}; raises RuntimeError where they are not allowed."""
        answer = self.ask(f"length {tokens}")
        self.calls, self.warm = calls_of(answer["seconds"])
        wrong = complaint(self.precision, answer)
        if wrong:
            raise RuntimeError(f"{tokens} tokens: {wrong}")
        return answer

    def sample(self):
        """Milliseconds a call."""
        return self.ask(f"sample {self.warm} {self.calls}")["ms"]


class Expected:
    """The results in double precision, as files of a folder."""

    def __init__(self, model, folder):
        self.model, self.folder, self.data, self.module = model, folder, Data(model, folder), None
        if not os.path.exists(self.data.weights_path):
            self.data.prepare()

    def make(self, tokens):
        path = os.path.join(self.folder, f"expected_{tokens}.npy")
        if os.path.exists(path):
            return
        import torch

        import encoder
        self.module = self.module or encoder.PlainEncoder(self.data.module().double(), self.model)
        with torch.inference_mode():
            np.save(path, self.module(torch.from_numpy(self.data.input()[:, :tokens]).double()).numpy())


def open_all(model, threads, engines, folder, failed):
    """{engine: {variant: Entrant}}; what cannot be opened is in `failed`."""
    entrants = {}
    for engine in [*own(model.precision), *engines]:
        for variant in ",".join(variants(model.precision, engine)).split(","):
            try:
                entrants.setdefault(engine, {})[variant] = Entrant(model, threads, engine, variant, folder)
            except RuntimeError as error:     # reported by name; the others still race
                failed[f"{engine} {variant}"] = str(error)
    return entrants


def keep_fastest(entrants, lengths, expected):
    """Closes all variants of an engine but those that are the fastest at some of a few lengths."""
    for engine, some in entrants.items():
        losses = dict.fromkeys(some, math.inf)
        for place in PROBES if len(some) > 1 else []:
            tokens = lengths[round(place * (len(lengths) - 1))]
            expected.make(tokens)
            for entrant in some.values():
                entrant.take(tokens)
            medians = {name: statistics.median(ms) for name, ms in race(some, PROBE_ROUNDS).items()}
            for name, ms in medians.items():     # its least loss to the fastest
                losses[name] = min(losses[name], ms / min(medians.values()))
        for name in sorted(losses, key=losses.get)[KEPT:]:
            some.pop(name).close()
    return {engine if len(some) == 1 else f"{engine} {name}": entrant
            for engine, some in entrants.items() for name, entrant in some.items()}


def is_undecided(samples):
    """True if the best peer's ratio may be on either side of the target."""
    pairs = [[b / a for a, b in zip(samples["attn2c"], values)] for name, values in samples.items()
             if not name.startswith("attn2c")]
    worst = min(pairs, key=statistics.median, default=None)
    if worst is None:
        return False
    error = 1.25 * spread(worst) / math.sqrt(len(worst))    # of a median
    return abs(statistics.median(worst) - LEAST_RATIO) < 2 * error


def row_of(tokens, entrants, rounds, expected):
    """The samples of all engines at one length."""
    expected.make(tokens)
    errors = {name: entrant.take(tokens) for name, entrant in entrants.items()}
    watch = Watch([entrant.process.pid for entrant in entrants.values()])
    samples = race(entrants, rounds)
    if is_undecided(samples):
        more = race(entrants, AGAIN * rounds)
        samples = {name: values + more[name] for name, values in samples.items()}
    return {"tokens": tokens, "samples_ms": samples, "neighbours": watch.share(),
            "difference": {name: error["difference"] for name, error in errors.items()},
            "cosine": {name: error["cosine"] for name, error in errors.items()}}


def sweep(model, threads, engines, rounds, lengths, folder):
    """Opens, checks and times. Returns {"rows", "failed"} as plain data."""
    failed, rows = {}, []
    expected = Expected(model, folder)
    entrants = open_all(model, threads, engines, folder, failed)
    if "attn2c" not in entrants or len(entrants) == 1:
        return {"rows": rows, "failed": failed or {"engines": "attn2c has no peer in this race"}}
    entrants = keep_fastest(entrants, lengths, expected)
    for number, tokens in enumerate(lengths):
        try:
            rows.append(row_of(tokens, entrants, rounds, expected))
        except RuntimeError as error:
            failed[f"{tokens} tokens"] = str(error)
            break
        if number % REPORT_EVERY == 0:
            print(f"{model.name}, {threads} threads: {tokens} tokens", file=sys.stderr, flush=True)
    for entrant in entrants.values():
        entrant.close()
    return {"rows": rows, "failed": failed}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("threads", type=int)
    parser.add_argument("folder")
    parser.add_argument("--engines", required=True)
    parser.add_argument("--precision", choices=list(PEERS), default="f32")
    parser.add_argument("--rounds", type=int, default=9)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--step", type=int, default=1)
    which.add_argument("--at", type=lambda text: sorted(map(int, text.split(","))))
    arguments = parser.parse_args()
    take_cores(arguments.threads)
    engines = [name for name in arguments.engines.split(",") if name != "attn2c"]
    model = read_models(arguments.precision)[arguments.model]
    lengths = arguments.at or list(range(model.least, model.seq + 1, arguments.step))
    print(json.dumps(sweep(model, arguments.threads, engines, arguments.rounds, lengths, arguments.folder)))


if __name__ == "__main__":
    main()
