#!/usr/bin/env python3
"""Holds definition.py against PyTorch's outputs in tests/torch/goldens: every case of f32 with attn2c's names.

    anchor.py              exit 1 if an output differs by more than 2e-6 of the largest value
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from definition import evaluate
from given import Stored, unpack

HERE = Path(__file__).resolve().parent
GOLDENS = HERE.parent / "torch" / "goldens"
TOLERANCE = 2e-6


def difference(expected, got):
    """The largest difference, of the largest finite value or 1; infinite where what is not finite differs."""
    expected = expected.astype(float)
    if expected.shape != got.shape:
        return np.inf
    same = (expected == got) | (np.isnan(expected) & np.isnan(got))
    if same.all():
        return 0.0
    largest = np.abs(expected[np.isfinite(expected)]).max(initial=1.0)
    with np.errstate(invalid="ignore"):
        apart = np.abs(expected - got)[~same].max()
    return np.inf if np.isnan(apart) else apart / largest


def main():
    folders = sorted(path for path in GOLDENS.iterdir() if (path / "description.lua").is_file())
    texts = subprocess.run(["lua5.4", HERE / "json.lua", *(folder / "description.lua" for folder in folders)],
                           check=True, capture_output=True, text=True).stdout.splitlines()
    wrong = held = 0
    for folder, text in zip(folders, texts):
        d = json.loads(text)
        if d.get("names") == "torch" or "precision" in d:
            continue
        file = folder / "model.safetensors"
        weights = unpack(file.read_bytes())[0] if file.is_file() else {}
        arrays = {path.stem: np.load(path) for path in folder.glob("*.npy")}
        inputs = {name: array for name, array in arrays.items() if not name.startswith("expected_")}
        got = evaluate(d, Stored(weights, inputs))
        for name, array in arrays.items():
            if name.startswith("expected_"):
                held += 1
                apart = difference(array, got[name[len("expected_"):]])
                if not apart <= TOLERANCE:
                    wrong += 1
                    print(f"{folder.name}: {name[9:]} differs by {apart:.3g}", file=sys.stderr)
    print(f"{held} of PyTorch's outputs held, {wrong} differ")
    return 1 if wrong or not held else 0


if __name__ == "__main__":
    sys.exit(main())
