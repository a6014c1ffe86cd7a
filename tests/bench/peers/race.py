"""The race: builds every model with attn2c, runs a contest (contest.py) a model and number
of threads, and writes the results to out/peers/. `make bench-peers` runs it.

Exit codes: 0 done; 1 an engine failed or its output differs; 2 wrong usage.
"""
import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import contest
import engine_attn2c
import plots
import report
from entrants import PEERS, entry_of, own
from models import HELD, ISA, OUT, ROOT, read_models

HERE = Path(__file__).resolve().parent


def words(allowed):
    """An argument type: words separated by commas, each one of `allowed`."""
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
    """Whole numbers separated by commas."""
    return lambda text: list(dict.fromkeys(map(number(least, most), text.split(","))))


def arguments(models, cores):
    parser = argparse.ArgumentParser(prog="run.sh", description="Times attn2c against its peers, in turn, on the same "
                                     "models, weights and cores. Results go to out/peers/. ISA=avx2 in the environment "
                                     "holds attn2c and OpenVINO to AVX2.")
    if ISA and ISA not in HELD:
        parser.error(f"ISA: {ISA!r} is not one of {', '.join(HELD)}")
    everyone = list(dict.fromkeys(name for peers in PEERS.values() for name in peers))
    parser.add_argument("--precision", choices=list(PEERS), default="f32", help="the number type of products (default "
                        "f32); the narrower ones are judged by their cosine with f32, and race attn2c's own f32 too")
    parser.add_argument("--models", type=words(list(models)), metavar="A,B", help="of " + ", ".join(models))
    parser.add_argument("--lengths", action="store_true", help="those that take any length, a contest a length "
                        "(without --models or --lengths: those of one length)")
    parser.add_argument("--threads", type=numbers(1, cores), default=[t for t in (1, 2) if t <= cores],
                        metavar="1,2", help="default: 1,2")
    parser.add_argument("--engines", type=words(["attn2c", *everyone]), metavar="A,B", help="peers, of " +
                        "; ".join(f"{precision}: {', '.join(peers)}" for precision, peers in PEERS.items()) +
                        " (default: all of them); attn2c always runs")
    parser.add_argument("--rounds", type=number(1, 100000), default=0,
                        help="samples of each engine (default: as many as fit into --seconds, "
                        f"{contest.FEWEST_ROUNDS} to {contest.MOST_ROUNDS})")
    parser.add_argument("--seconds", type=number(1, 3600), default=6, help="of timing a contest (default 6)")
    parser.add_argument("--no-roof", action="store_true", help="leave out the program's own bench")
    chosen = parser.parse_args()
    held = HELD[ISA]["engines"] if ISA else everyone
    allowed = [name for name in PEERS[chosen.precision] if name in held]
    if chosen.engines is None:
        chosen.engines = allowed
    for name in chosen.engines:
        if name not in ["attn2c", *allowed]:
            parser.error(f"--engines: {name} does not race in {chosen.precision}" + (f" held to {ISA}" if ISA else ""))
    if chosen.models is None:
        chosen.models = [name for name, model in models.items() if model.any_length == chosen.lengths]
    elif chosen.lengths:
        parser.error("--models and --lengths: one of them")
    return chosen


def run_contest(name, threads, chosen):
    """The result of one contest, or {"failed": ...}."""
    command = [sys.executable, str(HERE / "contest.py"), name, str(threads), "--engines", ",".join(chosen.engines),
               "--rounds", str(chosen.rounds), "--seconds", str(chosen.seconds), "--precision", chosen.precision]
    log = OUT / "logs" / f"{report.named(chosen.precision, name)}_{threads}.txt"
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "w") as errors:
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, text=True)
        try:
            result, _ = process.communicate()
        except BaseException:   # interrupted: the contest takes its workers and files with it
            process.terminate()
            process.wait()
            raise
    if process.returncode:
        last = (log.read_text().strip().splitlines() or ["nothing said"])[-1]
        return {"failed": {"contest": f"exit {process.returncode}: {last[:300]}"}}
    return json.loads(result)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    cores = sorted(os.sched_getaffinity(0))
    chosen = arguments(read_models(), len(cores))
    models = read_models(chosen.precision)
    os.environ.update(HELD[ISA]["environment"] if ISA else {})
    start, rows, failures = time.time(), [], []
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
    OUT.mkdir(parents=True, exist_ok=True)
    if rows:
        print(report.write(chosen.precision, rows, failures, time.time() - start))
        plots.draw(chosen.precision, rows)
    for failure in failures:
        print("failed: " + failure, file=sys.stderr)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
