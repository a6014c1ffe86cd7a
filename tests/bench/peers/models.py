"""The models of the race: reads tests/bench/models.txt and lengths.txt and gives each model's
sizes as a Model, from which every engine is built; and the instruction set that all are held to."""
import os
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
OUT = ROOT / "out" / "peers"
LIST = ROOT / "tests" / "bench" / "models.txt"
LENGTHS = ROOT / "tests" / "bench" / "lengths.txt"

# Variables of the environment that hold engines to an instruction set. Only `engines` obey them.
HELD = {"avx2": {"environment": {"ONEDNN_MAX_CPU_ISA": "AVX2"}, "engines": ("openvino",)}}
ISA = os.environ.get("ISA", "")     # one of them; empty: each engine uses what the machine has

# The sizes that models/speaker.lua states itself, with the widths of what stands before and after its encoder.
SPEAKER = {"seq": 128, "d_model": 80, "heads": 2, "layers": 1, "d_ff": 256, "activation": "relu", "norm": "post",
           "features": 40, "hidden": 80, "speakers": 600}


@dataclass(frozen=True)
class Model:
    name: str
    title: str
    description: str        # the attn2c description, relative to the repository
    keys: tuple             # its overrides, KEY=VALUE
    batch: int
    seq: int
    d_model: int
    heads: int
    layers: int
    d_ff: int
    activation: str         # gelu or relu
    norm: str               # post or pre
    final_norm: bool
    causal: bool
    features: int           # width of a linear layer before the encoder; 0: none
    hidden: int             # linear, sigmoid, linear after the mean over tokens: the width between; 0: no head
    speakers: int           # ... and of the result
    least: int = 0          # of a model that takes any length: its shortest sequence in a sweep; its longest is seq
    precision: str = "f32"  # what its products multiply: f32, bf16 or int8

    @property
    def input_shape(self):
        return self.batch, self.seq, self.features or self.d_model

    @property
    def output_shape(self):
        return (self.batch, self.speakers) if self.speakers else (self.batch, self.seq, self.d_model)

    @property
    def head_dim(self):
        return self.d_model // self.heads

    @property
    def any_length(self):
        """Whether the engines are made for calls of any length."""
        return self.least > 0

    def built_name(self, threads):
        """Name of the model, and folder in out/, as attn2c builds it for this many threads, instruction set and number
        type."""
        return "_".join(["race", self.name, str(threads), *([ISA] if ISA else []),
                         *([self.precision] if self.precision != "f32" else [])])


def read_line(line, file=LIST, **more):
    name, title, description, keys = line
    sizes = {"batch": 1, "activation": "gelu", "norm": "post", "final_norm": "false", "mask": "none", "features": 0,
             "hidden": 0, "speakers": 0}
    if description.endswith("/speaker.lua"):
        sizes.update(SPEAKER)
    sizes.update(key.split("=", 1) for key in keys.split())
    sizes["seq"] = more.pop("length", sizes["seq"])
    whole = {key: int(sizes[key]) for key in ("batch", "seq", "d_model", "heads", "layers", "d_ff", "features",
                                              "hidden", "speakers")}
    if sizes["mask"] not in ("none", "causal"):
        raise ValueError(f"{file.name}: {name}: mask: the race knows none and causal")
    if more and sizes["mask"] != "none":
        raise ValueError(f"{file.name}: {name}: mask: at any length the race knows none")
    return Model(name, title, description, tuple(keys.split()), activation=sizes["activation"], norm=sizes["norm"],
                 final_norm=sizes["final_norm"] == "true", causal=sizes["mask"] == "causal", **whole, **more)


def fields(file):
    """The lines of a list, each as its fields."""
    for line in file.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            yield [part.strip() for part in line.split(";")]


def models_of_lengths():
    """A model for each line of lengths.txt."""
    for name, title, description, keys, lengths in fields(LENGTHS):
        least, most = map(int, lengths.split())
        yield read_line((name, title, description, keys), LENGTHS, least=least, length=most)


def read_models(precision="f32"):
    """All models by name, in the order of the lists, with products of that number type."""
    models = [*map(read_line, fields(LIST)), *models_of_lengths()]
    by_name = {model.name: replace(model, precision=precision) for model in models}
    if len(by_name) < len(models):
        raise ValueError(f"{LIST.name}, {LENGTHS.name}: a name stands twice")
    return by_name
