"""What the scripts beside this file share: how a case of tests/torch/goldens is written.

A script has a table CASES, {name: case}. A case is a dict:

    about         what it is for, one line
    description   the description's keys in the order in which they are written
    expect        name of the script's function(case, golden) -> {output: tensor}
    not_finite    True where infinities or NaNs are meant to come out

and what else its function wants to know. The function asks `golden` for weights and
inputs, computes the outputs from them, and main() writes one directory a case:

    description.lua       the model as attn2c is told it
    model.safetensors     every weight that the function asked for; none, no file
    NAME.npy              every input
    expected_NAME.npy     every output, float32
"""

import argparse
import io
import sys
import zlib
from pathlib import Path

import numpy as np
import safetensors.numpy
import torch

GOLDENS = Path(__file__).resolve().parent / "goldens"

# PyTorch's last bits depend on the processor; stored outputs may differ by this.
TOLERANCE = 1e-5

LONGEST_LINE = 120     # of a Lua file, for luacheck


class Table:
    """A Lua table of a description: items in order, then fields. Read like a dict."""

    def __init__(self, *items, **fields):
        self.items, self.fields = items, fields

    def __getitem__(self, key):
        return self.fields[key]

    def get(self, key, default=None):
        return self.fields.get(key, default)

    def __contains__(self, word):
        return word in self.items or word in self.fields


class Stage(Table):
    """What a constructor such as pool "mean" makes."""

    def __init__(self, constructor, items, fields):
        super().__init__(*items, **fields)
        self.constructor = constructor


def _constructor(name):
    return lambda *items, **fields: Stage(name, items, fields)


hidden, linear, tokens, qkv, image, encoder, norm, pool, normalise, vocabulary = map(
    _constructor, ("hidden", "linear", "tokens", "qkv", "image", "encoder", "norm", "pool",
                   "normalise", "vocabulary"))


def lua(value, indent="  "):
    """A value of a description as Lua source; tables that are too long for a line take several."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, (list, tuple)):
        value = Table(*value)
    if not isinstance(value, Table):
        return repr(value)
    name = value.constructor if isinstance(value, Stage) else ""
    if name and not value.fields and not value.items:
        return name + "()"
    if name and not value.fields and len(value.items) == 1 and isinstance(value.items[0], str):
        return f"{name} {lua(value.items[0])}"
    inner = indent + "  "
    parts = [lua(item, inner) for item in value.items]
    parts += [f"{key} = {lua(field, inner)}" for key, field in value.fields.items()]
    name = name and name + " "
    short = name + "{ " + ", ".join(parts) + " }"
    if len(indent) + len(short) <= 80 and "\n" not in short:
        return short
    return name + "{\n" + "".join(f"{inner}{part},\n" for part in parts) + indent + "}"


def describe(script, name, case):
    """The text of description.lua."""
    keys = {"name": name, **case["description"]}
    lines = [f"  {key} = {lua(value)}," for key, value in keys.items()]
    text = "\n".join([
        f"-- A golden made by tests/torch/{script}: {case['about']}.",
        "return {", *lines, "}", ""])
    assert max(map(len, text.split("\n"))) <= LONGEST_LINE, name
    return text


class Golden:
    """The random weights and inputs of a case: what it was asked for is what is written.

    `rng` is one stream for those who draw in a fixed order; weight, normal and integers
    draw each array from a stream of its own name.
    """

    def __init__(self, name):
        self.name = name
        self.rng = np.random.default_rng(zlib.crc32(name.encode()))
        self.draw(0)

    def draw(self, number):
        """Forgets all arrays; those that are asked for from now on are of another draw. 0: the first."""
        self.drawn = f"{self.name} {number}" if number else self.name
        self.weights, self.inputs = {}, {}

    def stream(self, path):
        return np.random.default_rng(zlib.crc32(f"{self.drawn}/{path}".encode()))

    def weight(self, path, *shape, mean=0.0, deviation=1.0):
        """The weight of this path, in double; drawn when it is first asked for."""
        if path not in self.weights:
            values = mean + deviation * self.stream(path).standard_normal(shape)
            self.weights[path] = values.astype(np.float32)
        assert self.weights[path].shape == shape, path
        return torch.from_numpy(self.weights[path]).double()

    def load(self, module):
        """Gives each weight of a module random values; the module, in double.

        Sharper queries and keys make masks show.
        """
        for name, tensor in module.state_dict().items():
            shape = tuple(tensor.shape)
            values = self.rng.standard_normal(shape)
            if len(shape) == 2:
                values /= np.sqrt(shape[1])
                if name.endswith("in_proj_weight"):
                    values[: 2 * shape[1]] *= 1.5
                elif name.endswith(("q_proj_weight", "k_proj_weight")):
                    values *= 1.5
            else:
                values *= 0.3
                if "norm" in name and name.endswith("weight"):
                    values += 1.0
            self.weights[name] = values.astype(np.float32)
        module.load_state_dict({name: torch.from_numpy(w) for name, w in self.weights.items()})
        return module.double().eval()

    def input(self, name, values):
        """Makes an array an input: floats as float32, integers as int32, booleans as they are."""
        values = np.asarray(values)
        if values.dtype.kind == "f":
            values = values.astype(np.float32)
        elif values.dtype.kind == "i":
            values = values.astype(np.int32)
        self.inputs[name] = values
        tensor = torch.from_numpy(values)
        return tensor.double() if values.dtype.kind == "f" else tensor

    def normal(self, name, *shape, deviation=1.0):
        """An input of normally distributed numbers."""
        return self.input(name, deviation * self.stream(name).standard_normal(shape))

    def integers(self, name, limit, *shape):
        """An input of integers from 0 to limit - 1."""
        return self.input(name, self.stream(name).integers(0, limit, shape)).long()

    def chosen(self, name, probability, *shape):
        """A boolean array, true with this probability; no input yet."""
        return self.stream(name).random(shape) < probability


def npy(array):
    """The bytes of an array as a .npy file."""
    file = io.BytesIO()
    np.save(file, np.ascontiguousarray(array))
    return file.getvalue()


def make(script, name, case, expect):
    """All files of a case, as {file name: bytes}."""
    golden = Golden(name)
    with torch.no_grad():
        outputs = expect(case, golden)
    files = {"description.lua": describe(script, name, case).encode()}
    if golden.weights:
        files["model.safetensors"] = safetensors.numpy.save(golden.weights)
    for input_name, values in golden.inputs.items():
        files[input_name + ".npy"] = npy(values)
    for output, values in outputs.items():
        assert case.get("not_finite") or torch.isfinite(values).all(), (name, output)
        files[f"expected_{output}.npy"] = npy(values.numpy().astype(np.float32))
    return files


def compare(path, made):
    """None if the stored file is what would be written, or what is wrong with it."""
    if not path.is_file():
        return "missing"
    stored = path.read_bytes()
    if stored == made:
        return None
    if not path.name.startswith("expected_"):
        return "differs"
    a, b = np.load(io.BytesIO(stored)), np.load(io.BytesIO(made))
    if a.shape != b.shape or a.dtype != b.dtype:
        return "differs in shape or type"
    apart = np.abs(a - b)[~((a == b) | (np.isnan(a) & np.isnan(b)))]
    error = float(apart.max()) if apart.size else 0.0
    return None if error <= TOLERANCE else f"differs by {error:.3g}"


def check(folder, files):
    """Prints what is wrong with a stored case; how many files are."""
    faults = {file: compare(folder / file, made) for file, made in files.items()}
    faults = {file: fault for file, fault in faults.items() if fault}
    stored = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    faults.update((file, "is not made any more") for file in sorted(stored - set(files)))
    for file, fault in faults.items():
        print(f"{folder / file}: {fault}", file=sys.stderr)
    print(f"{folder.name:28} {'differs' if faults else 'same'}")
    return len(faults)


def main(script, cases, functions):
    """The command of a script: writes its cases, or compares them with --check."""
    parser = argparse.ArgumentParser(description=f"the goldens of {script}")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="default: all of " + ", ".join(cases))
    parser.add_argument("--check", action="store_true", help="compare with the stored files")
    parser.add_argument("--out", type=Path, default=GOLDENS, help="default: goldens beside this file")
    options = parser.parse_args()
    unknown = [name for name in options.cases if name not in cases]
    if unknown:
        parser.error("no such case: " + ", ".join(unknown))

    # PyTorch's fast path is another program with other rounding.
    torch.backends.mha.set_fastpath_enabled(False)
    torch.set_num_threads(1)

    wrong = 0
    for name in options.cases or cases:
        files = make(script, name, cases[name], functions[cases[name]["expect"]])
        folder = options.out / name
        if options.check:
            wrong += check(folder, files)
        else:
            folder.mkdir(parents=True, exist_ok=True)
            for file, made in files.items():
                (folder / file).write_bytes(made)
            print(f"{name:28} {sum(map(len, files.values())):7} bytes")
    return 1 if wrong else 0
