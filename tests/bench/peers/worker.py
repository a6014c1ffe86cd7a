"""One engine in a process of its own, so that no engine meets another's threads, OpenMP or
allocator. Opens variants of it, keeps the fastest that is right, then takes samples:

    worker.py MODEL PRECISION THREADS ENGINE VARIANT,VARIANT FOLDER

answers each line of standard input with a line of JSON on standard output: first, without
being asked, the variant, its seconds a call and what was found of all; then to
`sample WARM CALLS` the milliseconds a call; to `check` the largest difference and the cosine.
"""
import importlib
import json
import os
import sys
import tempfile
import time

from entrants import MODULES, complaint, entry_of

SAMPLE_SECONDS = 2e-3   # a sample is the calls that last this long
QUIET_SECONDS = 4e-3    # the process is quiet when it takes hardly any processor time during this
QUIET_SHARE = 0.05
QUIET_WAITS = 50        # how often at most


def clock(engine, calls):
    """Seconds a call, over that many calls."""
    start = time.perf_counter_ns()
    engine.run(calls)
    return (time.perf_counter_ns() - start) / 1e9 / calls


def wait_until_quiet():
    """Sleeps until no thread of this process runs: workers spin for up to 30 ms after a call, in wait of the next,
    and would take the cores of the engine that is timed next."""
    for _ in range(QUIET_WAITS):
        before = time.process_time()
        time.sleep(QUIET_SECONDS)
        if time.process_time() - before < QUIET_SHARE * QUIET_SECONDS:
            return


def estimate(engine):
    """Seconds a call: the least of a few, after warming up."""
    wait_until_quiet()
    first = clock(engine, 1)
    first = min(first, clock(engine, 1))
    if first < 0.01:
        clock(engine, int(0.02 / first) + 1)
    return min(clock(engine, max(1, int(SAMPLE_SECONDS / first))) for _ in range(3))


def error_of(engine, expected):
    """The largest absolute difference, and the cosine with what is expected, of all numbers; infinite and 0 where the
    output is not a number or misshapen."""
    import numpy as np
    y = engine.output()
    if y.shape != expected.shape or not np.isfinite(y).all():
        return {"difference": float("inf"), "cosine": 0.0}
    y = y.astype(np.float64)
    lengths = np.linalg.norm(y) * np.linalg.norm(expected)
    return {"difference": float(np.abs(y - expected).max()),
            "cosine": float((y * expected).sum() / lengths) if lengths else 0.0}


def brief(error):
    """An exception in one line; of a framework's long one the first two, the second of which is the cause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()][:2]
    kind = "" if isinstance(error, RuntimeError) and lines else type(error).__name__ + ": "
    return (kind + " ".join(lines))[:300]


def fastest(kind, variants, model, threads, x, expected, complaint_of):
    """Builds each variant, checks it and keeps the fastest: (engine, variant, seconds, what was found of all).
    Raises if a variant is wrong, or if none can be built."""
    best, found = None, {}
    for name, make_source in variants:
        try:
            engine = kind(model, threads, make_source(), x)
            seconds = estimate(engine)
        except Exception as error:     # an engine's own failure: its other variants still race
            found[name] = {"error": brief(error)}
            continue
        error = error_of(engine, expected)
        found[name] = {"ms": seconds * 1e3, **error}
        wrong = complaint_of(error)
        if wrong:
            raise RuntimeError(f"{name}: {wrong}")
        loser = engine
        if best is None or seconds < best[2]:
            loser, best = best and best[0], (engine, name, seconds)
        if loser is not None:
            loser.close()
    if best is None:
        raise RuntimeError("; ".join(f"{name}: {entry['error']}" for name, entry in found.items()))
    return (*best, found)


def serve(engine, expected, threads, say):
    for line in sys.stdin:
        command, *numbers = line.split()
        if command == "sample":
            warm, calls = map(int, numbers)
            if warm:
                engine.run(warm)
            ms = clock(engine, calls) * 1e3
            if threads > 1:
                wait_until_quiet()
            say({"ms": ms})
        elif command == "check":
            say(error_of(engine, expected))


def speaker():
    """A function that gives an answer, a line of JSON on standard output. All else that is printed there from now on,
    as engines do, goes to standard error."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(answer):
        print(json.dumps(answer), file=answers, flush=True)
    return say


def main():
    name, precision, threads, engine_name, variants, folder = sys.argv[1:]
    threads = int(threads)
    say = speaker()
    from data import Data
    from models import read_models
    model = read_models(precision)[name]
    entry = entry_of(model, engine_name)
    data = Data(model, folder)
    tempfile.tempdir = folder     # what a killed worker leaves goes with the contest's folder
    expected = data.expected()
    try:
        module = importlib.import_module("engine_" + MODULES.get(engine_name, engine_name))
        sources = [(variant, lambda variant=variant: module.source(entry, data, engine_name, variant))
                   for variant in variants.split(",")]
        engine, variant, seconds, found = fastest(module.Engine, sources, entry, threads, data.input(), expected,
                                                  lambda error: complaint(precision, error))
    except Exception as error:
        say({"error": brief(error)})
        sys.exit(1)
    say({"variant": variant, "seconds": seconds, "tried": found})
    serve(engine, expected, threads, say)
    os._exit(0)     # thread pools need not be taken down in any order


if __name__ == "__main__":
    main()
