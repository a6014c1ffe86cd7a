"""The race as two pictures in out/peers/: ratios.png, each peer's time with attn2c's as 1,
and roof.png, how much of the machine's rate attn2c reaches."""
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.patches import Patch

from entrants import TITLES
from models import OUT
from report import named

COLOURS = {"attn2c": "#222222", "attn2c_f32": "#888888", "openvino": "#0072b2", "weights": "#56b4e9",
           "onnxruntime": "#e69f00", "torch": "#cc79a7", "compile": "#009e73"}  # distinguishable with colour blindness
WIDTH = 0.8         # of a model's group of bars; the distance between models is 1
TALLEST = 4.0       # taller bars are cut, and say their height


def grouped(rows):
    """Rows by number of threads, in order."""
    return [(t, [row for row in rows if row["threads"] == t]) for t in sorted({row["threads"] for row in rows})]


def panels(groups, height):
    figure, axes = plt.subplots(len(groups), 1, figsize=(12, height * len(groups)), squeeze=False,
                                layout="constrained")
    for (threads, some), axis in zip(groups, axes[:, 0]):
        axis.set_title(f"{threads} thread{'s' if threads > 1 else ''}", loc="left")
        axis.set_xticks(range(len(some)), [row["title"].replace(", ", "\n") for row in some], fontsize=8)
        axis.spines[["top", "right"]].set_visible(False)
        axis.set_axisbelow(True)
        axis.grid(axis="y", alpha=0.3)
    return figure, axes[:, 0]


def draw_ratios(path, rows):
    groups = grouped(rows)
    figure, axes = panels(groups, 3.6)
    for (_, some), axis in zip(groups, axes):
        names = ["attn2c"] + [name for name in COLOURS if any(name in row["ratio"] for row in some)]
        bar = WIDTH / len(names)
        for i, name in enumerate(names):
            for j, row in enumerate(some):
                value = 1.0 if name == "attn2c" else row["ratio"].get(name)
                if value is None:
                    continue
                place = j - WIDTH / 2 + (i + 0.5) * bar
                axis.bar(place, min(value, TALLEST), bar * 0.92, color=COLOURS[name])
                if name != "attn2c":
                    axis.text(place, min(value, TALLEST) + 0.03, f"{value:.2f}", ha="center", va="bottom",
                              fontsize=6, rotation=90)
        axis.axhline(1.0, color=COLOURS["attn2c"], linewidth=0.8)
        axis.set_ylim(0, TALLEST * 1.15)
        axis.set_ylabel("time / attn2c's time")
    shown = [name for name in COLOURS if any(name in row["ms"] for row in rows)]
    figure.legend([Patch(color=COLOURS[name]) for name in shown], [TITLES[name] for name in shown],
                  loc="outside upper right", ncols=len(shown), frameon=False)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def draw_roof(path, rows):
    groups = grouped([row for row in rows if row["roof_fraction"]])
    if not groups:
        return
    figure, axes = panels(groups, 2.8)
    for (_, some), axis in zip(groups, axes):
        for j, row in enumerate(some):
            axis.bar(j, 100 * row["roof_fraction"], 0.6, color=COLOURS["openvino"])
            axis.text(j, 100 * row["roof_fraction"] + 1, f"{row['roof_fraction']:.0%}", ha="center", fontsize=8)
        axis.set_ylim(0, 108)
        axis.set_ylabel("% of the kernels' best rate")
    figure.savefig(path, dpi=130)
    plt.close(figure)


def draw(precision, rows):
    draw_ratios(OUT / (named(precision, "ratios") + ".png"), rows)
    draw_roof(OUT / (named(precision, "roof") + ".png"), rows)
