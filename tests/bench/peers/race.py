"""The race: builds every model with attn2c, runs a contest (contest.py) a model and number
of threads, or a sweep of lengths (sweep.py), or the race of sentences (mixed.py), and writes the
results to out/peers/. `make bench-peers` runs it.

Exit codes: 0 done; 1 an engine failed or its output differs; 2 wrong usage.
"""
import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import contest
import engine_attn2c
import report
import worst
from entrants import LENGTH_PEERS, MIXED_PEERS, PEERS, entry_of, own
from models import HELD, ISA, OUT, ROOT, read_models

HERE = Path(__file__).resolve().parent
SWEEP_ROUNDS, MIXED_ROUNDS = 9, 5   # samples of each engine


def words(allowed):
    """Returns an argument type: words separated by commas, each one of `allowed`."""
    def parse(text):
        for word in text.split(","):
            if word not in allowed:
                raise argparse.ArgumentTypeError(f"{word!r} is not one of {', '.join(allowed)}")
        return list(dict.fromkeys(text.split(",")))
    return parse


def number(least, most):
    def parse(text):
        if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} to {most}")
        return int(text)
    return parse


def numbers(least, most):
    """Parses whole numbers separated by commas."""
    return lambda text: list(dict.fromkeys(map(number(least, most), text.split(","))))


def arguments(models, cores):
    parser = argparse.ArgumentParser(prog="run.sh", description="Times attn2c against its peers, in turn, on the same "
                                     "models, weights and cores. Results go to out/peers/. ISA=avx2 in the environment "
                                     "holds attn2c and OpenVINO to AVX2.")
    if ISA and ISA not in HELD:
        parser.error(f"ISA: {ISA!r} is not one of {', '.join(HELD)}")
    everyone = list(dict.fromkeys(name for table in (PEERS, MIXED_PEERS)
                                  for peers in table.values() for name in peers))
    parser.add_argument("--precision", choices=list(PEERS), default="f32", help="the number type of products (default "
                        "f32); the narrower ones are judged by their cosine with f32, and race attn2c's own f32 too")
    parser.add_argument("--models", type=words(list(models)), metavar="A,B", help="of " + ", ".join(models))
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--lengths", action="store_true", help="one library, calls of every length from 4 to 256; the "
                       "worst row first")
    which.add_argument("--mixed", action="store_true", help="1,000 real sentences in batches of 32, sorted by length "
                       "and not; the worst row first")
    parser.add_argument("--step", type=number(1, 256), default=1, help="of --lengths: every STEP-th length alone, for "
                        "a quick look (default 1)")
    parser.add_argument("--at", type=numbers(4, 256), metavar="9,33", help="of --lengths: these lengths alone; rows of "
                        "other lengths and threads stay in out/peers/lengths.*, so that a sweep may be done in parts")
    parser.add_argument("--sentences", type=number(32, 1000), default=1000, help="of --mixed: so many of the "
                        "sentences, evenly, for a quick look (default 1000)")
    parser.add_argument("--threads", type=numbers(1, cores), default=[t for t in (1, 2) if t <= cores],
                        metavar="1,2", help="default: 1,2")
    parser.add_argument("--engines", type=words(["attn2c", *everyone]), metavar="A,B", help="peers, of " +
                        "; ".join(f"{precision}: {', '.join(peers)}" for precision, peers in PEERS.items()) +
                        f"; of --mixed: {', '.join(MIXED_PEERS['f32'])} (default: all of them; of --lengths: those "
                        "whose graphs take any length); attn2c always runs")
    parser.add_argument("--rounds", type=number(1, 100000), default=0,
                        help="samples of each engine (default: as many as fit into --seconds, "
                        f"{contest.FEWEST_ROUNDS} to {contest.MOST_ROUNDS}; of --lengths: {SWEEP_ROUNDS}; of --mixed: "
                        f"{MIXED_ROUNDS})")
    parser.add_argument("--seconds", type=number(1, 3600), default=6, help="of timing a contest (default 6)")
    parser.add_argument("--no-roof", action="store_true", help="leave out the program's own bench")
    chosen = parser.parse_args()
    held = HELD[ISA]["engines"] if ISA else everyone
    racing = LENGTH_PEERS if chosen.lengths else MIXED_PEERS if chosen.mixed else None
    allowed = [name for name in (racing or PEERS)[chosen.precision] if racing and not ISA or name in held]
    if not allowed:
        parser.error(f"--mixed is a race in {', '.join(name for name in PEERS if MIXED_PEERS[name])} alone")
    if chosen.engines is None:
        chosen.engines = allowed
    for name in chosen.engines:
        if name not in ["attn2c", *allowed]:
            parser.error(f"--engines: {name} does not race in {chosen.precision}" + (f" held to {ISA}" if ISA else ""))
    if chosen.at and (not chosen.lengths or chosen.step > 1):
        parser.error("--at goes with --lengths, without --step")
    if chosen.models and (chosen.lengths or chosen.mixed):
        parser.error("--models, --lengths and --mixed: one of them")
    if chosen.models is None:
        chosen.models = [name for name, model in models.items() if model.any_length == chosen.lengths]
    return chosen


def run_contest(name, threads, chosen):
    """Returns the result of one contest, or {"failed": ...}."""
    return run_program("contest.py", report.named(chosen.precision, f"{name}_{threads}"), name, threads, "--engines",
                       ",".join(chosen.engines), "--rounds", chosen.rounds, "--seconds", chosen.seconds, "--precision",
                       chosen.precision)


def run_program(program, log_name, *more):
    """Returns the result of a program of this folder, or {"failed": ...}. Its stderr goes to out/peers/logs."""
    log = OUT / "logs" / f"{log_name}.txt"
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "w") as errors:
        status, result = run_until_end(program, more, errors)
    if status:
        last = (log.read_text().strip().splitlines() or ["nothing said"])[-1]
        return {"failed": {program.removesuffix(".py"): f"exit {status}: {last[:300]}"}, "rows": []}
    return json.loads(result)


def run_until_end(program, more, errors):
    """Returns the exit status and standard output of a program of this folder. Its stderr goes to `errors`."""
    process = subprocess.Popen([sys.executable, str(HERE / program), *map(str, more)], cwd=ROOT,
                               stdout=subprocess.PIPE, stderr=errors, text=True)
    try:
        result, _ = process.communicate()
    except BaseException:   # interrupted: the program takes its workers and files with it
        process.terminate()
        process.wait()
        raise
    return process.returncode, result


def run_sweeps(models, chosen):
    """Races the models of any length at every length. Returns the rows and the failures."""
    rows, failures = [], []
    OUT.mkdir(parents=True, exist_ok=True)
    for name in chosen.models:
        with tempfile.TemporaryDirectory(dir=OUT) as folder:
            for threads in chosen.threads:
                began = time.time()
                try:
                    for engine in own(chosen.precision):
                        engine_attn2c.build(entry_of(models[name], engine), threads)
                    result = run_program("sweep.py", report.named(chosen.precision, f"{name}_{threads}"), name, threads,
                                         folder, "--engines", ",".join(chosen.engines), "--precision", chosen.precision,
                                         "--rounds", chosen.rounds or SWEEP_ROUNDS,
                                         *(["--at", ",".join(map(str, chosen.at))] if chosen.at else
                                           ["--step", chosen.step]))
                except (RuntimeError, OSError) as error:
                    result = {"failed": {"attn2c": str(error)}, "rows": []}
                failures += [f"{name}, {threads} threads: {what}: {text}" for what, text in result["failed"].items()]
                rows += [worst.summarise(row["tokens"], threads, row) for row in result["rows"]]
                print(f"{name}, {threads} threads: {len(result['rows'])} lengths ({time.time() - began:.0f} s)",
                      file=sys.stderr, flush=True)
    return rows, failures


def run_mixed(chosen):
    """Races sentences in batches, with its progress on standard error. Returns the rows and the failures; those of the
    rounds that ended, if the race is stopped."""
    rows, failures = [], []
    OUT.mkdir(parents=True, exist_ok=True)
    for threads in chosen.threads:
        with tempfile.TemporaryDirectory(dir=OUT) as folder:
            path = Path(folder) / "result.json"
            try:
                status, _ = run_until_end("mixed.py", map(str, [threads, path, "--engines", ",".join(chosen.engines),
                                          "--precision", chosen.precision, "--rounds", chosen.rounds or MIXED_ROUNDS,
                                          "--sentences", chosen.sentences]), None)
                stopped = {"race": f"mixed.py: exit {status}"} if status else {}
            except SystemExit:
                stopped = {"race": "stopped before its end"}
            result = json.loads(path.read_text()) if path.exists() else {"rows": [], "failed": {}}
        result["failed"].update(stopped)
        failures += [f"sentences, {threads} threads: {what}: {text}" for what, text in result["failed"].items()]
        rows += [worst.summarise(row["order"], threads, row) for row in result["rows"]]
        if stopped:
            break
    return rows, failures


def report_worst(chosen, rows, failures, seconds):
    """Prints and writes what a sweep or the race of sentences found."""
    if rows and chosen.at:
        rows = worst.joined("lengths", chosen.precision, rows)
    if rows and chosen.lengths:
        print(worst.write("lengths", chosen.precision, rows, failures, contest.LEAST_RATIO, "tokens",
                          f"every length, {chosen.precision}", seconds))
    elif rows:
        print(worst.write("mixed", chosen.precision, rows, failures, contest.LEAST_RATIO, "order",
                          f"{chosen.sentences:,} sentences in batches of 32, {chosen.precision}", seconds))


def run_contests(models, chosen, cores):
    """Races the models of one length. Returns the rows and the failures."""
    rows, failures = [], []
    for threads in chosen.threads:
        for name in chosen.models:
            began = time.time()
            try:
                for engine in own(chosen.precision):
                    engine_attn2c.build(entry_of(models[name], engine), threads)
                result = run_contest(name, threads, chosen)
                if "samples_ms" in result:
                    # The program's bench counts the operations of an entry, padding included.
                    result["bench"] = (None if chosen.no_roof or models[name].any_length else
                                       engine_attn2c.own_bench(models[name], threads, cores[:threads]))
                    result["flops"] = report.flops_of(models[name])
                    if result["bench"] and result["bench"]["flops"] != result["flops"]:
                        raise RuntimeError(f"built with {result['bench']['flops']} flops, not {result['flops']}: "
                                           "another model than the peers'")
            except (RuntimeError, OSError) as error:
                result = {"failed": {"attn2c": str(error)}}
            failures += [f"{name}, {threads} threads: {engine}: {text}" for engine, text in result["failed"].items()]
            if "samples_ms" in result:
                rows.append(report.summarise(models[name], threads, result))
                print(report.progress(rows[-1], time.time() - began), file=sys.stderr, flush=True)
    return rows, failures


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    cores = sorted(os.sched_getaffinity(0))
    chosen = arguments(read_models(), len(cores))
    models = read_models(chosen.precision)
    os.environ.update(HELD[ISA]["environment"] if ISA else {})
    start = time.time()
    if chosen.lengths or chosen.mixed:
        rows, failures = run_sweeps(models, chosen) if chosen.lengths else run_mixed(chosen)
        report_worst(chosen, rows, failures, time.time() - start)
    else:
        rows, failures = run_contests(models, chosen, cores)
        OUT.mkdir(parents=True, exist_ok=True)
        if rows:
            import plots
            print(report.write(chosen.precision, rows, failures, time.time() - start))
            plots.draw(chosen.precision, rows)
    for failure in failures:
        print("failed: " + failure, file=sys.stderr)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
