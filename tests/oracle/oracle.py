#!/usr/bin/env python3
"""Draws small models that combine options, with what definition.py says that they compute.

    oracle.py                      writes cases/: choices in which every pair of options occurs
    oracle.py --check              writes nothing; exit 1 if the stored cases differ
    oracle.py --draw N SEED OUT    N random choices into the folder OUT
    oracle.py --pairs              prints the pairs of options that no case may have

A case is a packed file (given.py). Needs Python 3.11 and numpy.
"""

import argparse
import sys
import random
from pathlib import Path

import numpy as np

from anchor import difference
from cover import any_of, covering
from definition import evaluate
from given import Drawn, Moved, pack, unpack
from options import FIXED, OPTIONS, description, fixed

CASES = Path(__file__).resolve().parent / "cases"
SEED = 7
MOST_ATTEMPTS = 80
MOST_MOVED = 2e-6   # of an output, where weights and inputs move by a float's last bit
TOLERANCE = 1e-6    # a stored output may differ so much from one made with another numpy


def lua(value):
    """A value of a description as Lua."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list):
        return "{ " + ", ".join(map(lua, value)) + " }"
    if not isinstance(value, dict):
        return repr(value)
    fields = {key: field for key, field in value.items() if key != "stage"}
    text = "{ " + ", ".join(f"{key} = {lua(field)}" for key, field in fields.items()) + " }" if fields else ""
    return value["stage"] + (" " + text if text else "()") if "stage" in value else text


def describe(d, chosen):
    """The text of a description; its first line says what was chosen."""
    words = [f"{option} {level}" for option, level in chosen.items() if level != next(iter(OPTIONS[option]))]
    lines = [f"  {key} = {lua(value)}," for key, value in d.items()]
    return "\n".join(["-- " + ", ".join(words), "return {", *lines, "}", ""])


def draw(name, chosen, seed):
    """(description, given, outputs), none of which hangs on the last bits of a weight: floats would not show it."""
    for attempt in range(MOST_ATTEMPTS):
        stream = f"{seed}/{name}/{attempt}"
        d = description(name, chosen, random.Random(stream))
        given = Drawn(stream, chosen["empty_rows"] == "yes", chosen["poison"] == "yes", d.get("layout") == "seq_first")
        with np.errstate(all="ignore"):
            outputs, moved = evaluate(d, given), evaluate(d, Moved(given))
        apart = {key: difference(value, moved[key].astype(float)) for key, value in outputs.items()}
        if max(apart.values()) < MOST_MOVED:
            return d, given, outputs
    sys.exit(f"{name}: hangs on the last bits of weights: {apart}\n{describe(d, chosen)}")


def make(name, chosen, seed):
    """The arrays and the metadata of a case."""
    d, given, outputs = draw(name, chosen, seed)
    arrays = dict(given.weights)
    arrays.update(("input/" + key, value) for key, value in given.inputs.items())
    for key, value in outputs.items():
        arrays["expected/" + key] = value.astype(np.int32 if value.dtype.kind == "i" else np.float32)
    return arrays, {"description": describe(d, chosen)}


def same(stored, made):
    """Whether a stored case is what would be made, but for the last bits of outputs."""
    (a, about_a), (b, about_b) = stored, made
    return about_a == about_b and list(a) == list(b) and all(
        difference(a[key], b[key].astype(float)) <= TOLERANCE if key.startswith("expected/")
        else a[key].dtype == b[key].dtype and a[key].tobytes() == b[key].tobytes() for key in b)


def check(cases):
    """Prints the stored cases that differ, or are not made any more; how many."""
    wrong = [name for name, made in cases.items()
             if not (CASES / name).is_file() or not same(unpack((CASES / name).read_bytes()), made)]
    wrong += [path.name for path in CASES.iterdir() if path.name not in cases]
    for name in wrong:
        print(f"{CASES / name}: differs", file=sys.stderr)
    return len(wrong)


def main():
    parser = argparse.ArgumentParser(description="models that combine options, with their outputs")
    parser.add_argument("--check", action="store_true", help="compare with the stored cases")
    parser.add_argument("--pairs", action="store_true", help="print the pairs that no case may have")
    parser.add_argument("--draw", nargs=3, metavar=("N", "SEED", "OUT"), help="random choices into a folder")
    options = parser.parse_args()
    folder, seed, prefix = CASES, SEED, "pairs"
    if options.draw:
        number, seed, folder, prefix = int(options.draw[0]), int(options.draw[1]), Path(options.draw[2]), "drawn"
        choices = any_of(seed, number)
    else:
        choices, impossible = covering(seed)
        if options.pairs:
            for pair in sorted(impossible):
                print(" with ".join(" ".join(each) for each in pair))
            return 0
    cases = {f"{prefix}{number:03}.safetensors": make(f"{prefix}{number:03}", chosen, seed)
             for number, chosen in enumerate(choices, 1)}
    if not options.draw:
        cases.update((f"{name}.safetensors", make(name, fixed(name), seed)) for name in FIXED)
    if options.check:
        return 1 if check(cases) else 0
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.safetensors"):
        old.unlink()
    for name, case in cases.items():
        (folder / name).write_bytes(pack(*case))
    print(f"{len(cases)} cases, {sum(path.stat().st_size for path in folder.iterdir())} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
