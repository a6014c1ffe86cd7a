"""One model on one number of threads: every engine in a process of its own (worker.py), all
pinned to the same cores, checked against a double precision result, then timed in turn, a
sample of each a round. Run by race.py; prints one JSON object.

    contest.py MODEL THREADS --engines A,B [--precision f32] [--rounds N] [--seconds S]
"""
import argparse
import json
import os
import signal
import sys
import tempfile

from entrants import PEERS, complaint, own, variants
from models import OUT, read_models
from neighbours import Watch
from process import Process
from worker import SAMPLE_SECONDS

WARM_SECONDS = 20e-3    # engines with shorter calls run untimed before each sample
TYPICAL_WAIT = 15e-3    # seconds until an engine with several threads is quiet
FEWEST_ROUNDS, MOST_ROUNDS = 7, 150
LEAST_RATIO = 1.15      # what a sweep of lengths asks of every row


class Worker(Process):
    """A process of worker.py. Raises RuntimeError with its own words when it fails."""

    def __init__(self, model, threads, engine, group, folder):
        super().__init__("worker.py", model.name, model.precision, threads, engine, group, folder)
        self.variant, self.seconds, self.tried = (self.opened[key] for key in ("variant", "seconds", "tried"))
        self.calls, self.warm = calls_of(self.seconds)

    def sample(self):
        """Milliseconds a call."""
        return self.ask(f"sample {self.warm} {self.calls}")["ms"]

    def error(self):
        """{"difference", "cosine"} of its last output."""
        return self.ask("check")


def calls_of(seconds):
    """The calls of a sample of an engine whose call lasts that long, and the untimed ones before it."""
    calls = max(1, int(SAMPLE_SECONDS / seconds + 0.999))
    return calls, calls if seconds < WARM_SECONDS else 0


def open_fastest(model, threads, engine, folder):
    """The Worker of the engine's fastest variant, and what was found of all."""
    best, tried, errors = None, {}, []
    for group in variants(model.precision, engine):
        try:
            worker = Worker(model, threads, engine, group, folder)
        except RuntimeError as error:
            tried.update({variant: {"error": str(error)} for variant in group.split(",")})
            if "differs" in str(error):
                if best is not None:
                    best.close()
                raise
            errors.append(str(error))
            continue
        tried.update(worker.tried)
        loser = worker
        if best is None or worker.seconds < best.seconds:
            loser, best = best, worker
        if loser is not None:
            loser.close()
    if best is None:
        raise RuntimeError("; ".join(errors))
    return best, tried


def race(workers, rounds):
    """Samples in turn. Returns names to lists of milliseconds a call, one a round."""
    samples = {name: [] for name in workers}
    order = list(workers)
    for number in range(rounds):
        turn = number % len(order)
        for name in order[turn:] + order[:turn]:     # nobody always follows the same one
            samples[name].append(workers[name].sample())
    return samples


def rounds_for(budget, workers, threads):
    """As many rounds as fit into the budget in seconds."""
    one = sum(max(w.seconds, SAMPLE_SECONDS) * (2 if w.warm else 1) + (TYPICAL_WAIT if threads > 1 else 0)
              for w in workers.values())
    return min(MOST_ROUNDS, max(FEWEST_ROUNDS, int(budget / one)))


def contest(model, threads, wanted, rounds, budget, folder):
    """Opens, checks and times. Returns the result as plain data."""
    from data import Data
    Data(model, folder).prepare()
    result = {"variant": {}, "difference": {}, "cosine": {}, "tried": {}, "failed": {}}
    workers = {}
    for name in [*own(model.precision), *wanted]:
        try:
            workers[name], result["tried"][name] = open_fastest(model, threads, name, folder)
            result["variant"][name] = workers[name].variant
        except RuntimeError as error:     # reported by name; the others still race
            result["failed"][name] = str(error)
    if "attn2c" not in workers:
        return result
    watch = Watch([worker.process.pid for worker in workers.values()])
    result["samples_ms"] = race(workers, rounds or rounds_for(budget, workers, threads))
    result["neighbours"] = watch.share()
    for name, worker in workers.items():
        error = worker.error()
        result["difference"][name], result["cosine"][name] = error["difference"], error["cosine"]
        wrong = complaint(model.precision, error)
        if wrong:
            result["failed"][name] = f"after the race: {wrong}"
        worker.close()
    return result


def take_cores(threads):
    """Pins this process to as many cores as threads. The workers inherit it, before any engine is loaded: engines count
    the cores that they may use."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    os.environ["OMP_NUM_THREADS"] = str(threads)
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(OUT / "inductor"))
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    OUT.mkdir(parents=True, exist_ok=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("threads", type=int)
    parser.add_argument("--engines", required=True)
    parser.add_argument("--precision", choices=list(PEERS), default="f32")
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=6.0)
    arguments = parser.parse_args()

    take_cores(arguments.threads)
    engines = [name for name in arguments.engines.split(",") if name != "attn2c"]
    with tempfile.TemporaryDirectory(dir=OUT) as folder:
        model = read_models(arguments.precision)[arguments.model]
        result = contest(model, arguments.threads, engines, arguments.rounds, arguments.seconds, folder)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
