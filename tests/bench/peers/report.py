"""What a race found, as plain rows, and written to out/peers/ as peers.md, peers.csv and
samples.json; of bf16 and int8 as bf16_peers.md and so on, with each engine's cosine with
f32. The ratio of a peer is the median over rounds of its time divided by attn2c's in the
same round: above 1, attn2c is faster."""
import csv
import datetime
import json
import math
import os
import statistics
from importlib import metadata

from entrants import LARGEST_DIFFERENCE, LEAST_COSINE, PEERS, TITLES
from models import ISA, OUT

BUSY = 0.03             # share of the cores' time that neighbours may take before a row is in doubt
MAD_TO_SD = 1.4826      # the median absolute deviation of normal noise, as a standard deviation


def named(precision, name):
    """What a result is called that may be there for several number types."""
    return name if precision == "f32" else f"{precision}_{name}"


def flops_of(model):
    """Multiplications and additions of the products of a call, without what a mask removes and without padding."""
    tokens, d = model.batch * model.seq, model.d_model
    pairs = model.seq * (model.seq + 1) // 2 if model.causal else model.seq * model.seq
    layer = tokens * (4 * d * d + 2 * d * model.d_ff) + 2 * model.batch * pairs * d
    ends = tokens * model.features * d + model.batch * model.hidden * (d + model.speakers)
    return 2 * (model.layers * layer + ends)


def spread(values):
    """A standard deviation that a few disturbed samples do not change."""
    middle = statistics.median(values)
    return MAD_TO_SD * statistics.median(abs(value - middle) for value in values)


def summarise(model, threads, result):
    """A row: medians, spreads and ratios of one contest."""
    samples = result["samples_ms"]
    ours = samples["attn2c"]
    row = {"model": model.name, "title": model.title, "precision": model.precision, "threads": threads,
           "rounds": len(ours),
           "ms": {name: statistics.median(values) for name, values in samples.items()},
           "sd": {name: spread(values) for name, values in samples.items()},
           "ratio": {name: statistics.median(b / a for a, b in zip(ours, values))
                     for name, values in samples.items() if name != "attn2c"},
           "variant": result["variant"], "tried": result["tried"], "difference": result["difference"],
           "cosine": result["cosine"],
           "neighbours": result["neighbours"],
           "samples_ms": samples}
    peers = {name: ratio for name, ratio in row["ratio"].items() if name in PEERS[model.precision]}
    row["best"] = min(peers, key=peers.get, default=None)
    # The best of those whose output is no further from f32 than attn2c's.
    as_close = [name for name in peers if result["cosine"][name] >= result["cosine"]["attn2c"]]
    row["best_as_close"] = min(as_close, key=peers.get, default=None)
    row["gflops"] = result["flops"] / row["ms"]["attn2c"] / 1e6
    row["worst"] = max(result["difference"].values())
    bench = result["bench"]
    row["roof_fraction"] = bench and bench["roof_fraction"]
    row["roof_gflops"] = bench and bench["roof_gflops"]
    row["target"] = bench and bench["target"]
    return row


def progress(row, seconds):
    peers = ", ".join(f"{name} {ratio:.2f}x" for name, ratio in row["ratio"].items())
    busy = f", neighbours took {row['neighbours']:.0%} of the cores" if row["neighbours"] > BUSY else ""
    return (f"{row['model']}, {row['threads']} threads: attn2c {row['ms']['attn2c']:.4g} ms; {peers} "
            f"({seconds:.0f} s{busy})")


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def machine():
    """The processor, its vector instructions and the cores that may be used."""
    fields = {}
    with open("/proc/cpuinfo") as lines:
        for line in lines:
            key, _, value = line.partition(":")
            fields.setdefault(key.strip(), value.strip())
    flags = fields.get("flags", "").split()
    vectors = "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else "no AVX2"
    extra = [flag for flag in ("avx512_bf16", "avx512_vnni", "amx_tile") if flag in flags]
    return (f"{fields.get('model name', 'unknown')} (family {fields.get('cpu family', '?')}, model "
            f"{fields.get('model', '?')}), {vectors}{' with ' + ', '.join(extra) if extra else ''}, "
            f"{len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f} at the end")


def versions(precision):
    names = ["numpy", "onnx", "onnxruntime", "openvino", "torch", *(["nncf"] if precision == "int8" else [])]
    return ", ".join(f"{name} {metadata.version(name)}" for name in names)


def number(value, digits=4):
    """At least so many significant digits, without an exponent."""
    if value is None:
        return "–"
    places = max(0, digits - 1 - math.floor(math.log10(value))) if value > 0 else 0
    return f"{value:.{places}f}"


def ratio_of(row, name):
    return [TITLES[name], number(row["ratio"][name], 3)] if name else ["–", "–"]


def table_of_cosines(rows):
    """The table of a number type that is judged by its cosine with f32."""
    others = [name for name in ("attn2c_f32", *PEERS[rows[0]["precision"]]) if any(name in row["ms"] for row in rows)]
    heads = ["model", "threads", "attn2c ms", "± sd", "cosine", "attn2c f32 / attn2c"]
    for name in others:
        heads += [f"{TITLES[name]} ms"] + (["cosine"] if name != "attn2c_f32" else [])
    heads += ["best peer", "best peer / attn2c", "best peer of no lower cosine", "/ attn2c", "GFLOP/s", "of roof"]
    yield "| " + " | ".join(heads) + " |"
    yield "|:--|" + "--:|" * (len(heads) - 1)
    cosine = lambda row, name: f"{row['cosine'][name]:.6f}" if name in row["cosine"] else "–"
    for row in rows:
        cells = [row["title"], str(row["threads"]), number(row["ms"]["attn2c"]), number(row["sd"]["attn2c"], 2),
                 cosine(row, "attn2c"), number(row["ratio"].get("attn2c_f32"), 3)]
        for name in others:
            cells += [number(row["ms"].get(name))] + ([cosine(row, name)] if name != "attn2c_f32" else [])
        cells += ratio_of(row, row["best"]) + ratio_of(row, row["best_as_close"])
        cells += [number(row["gflops"]), f"{row['roof_fraction']:.0%}" if row["roof_fraction"] else "–"]
        yield "| " + " | ".join(cells) + " |"


def table(rows):
    peers = [name for name in PEERS["f32"] if any(name in row["ms"] for row in rows)]
    heads = ["model", "threads", "attn2c ms", "± sd"] + [TITLES[name] + " ms" for name in peers]
    heads += ["best peer", "best peer / attn2c", "GFLOP/s", "of roof", "largest difference"]
    yield "| " + " | ".join(heads) + " |"
    yield "|:--|" + "--:|" * (len(heads) - 1)
    for row in rows:
        cells = [row["title"], str(row["threads"]), number(row["ms"]["attn2c"]), number(row["sd"]["attn2c"], 2)]
        cells += [number(row["ms"].get(name)) for name in peers]
        cells += ratio_of(row, row["best"])
        cells += [number(row["gflops"]), f"{row['roof_fraction']:.0%}" if row["roof_fraction"] else "–"]
        yield "| " + " | ".join(cells + [f"{row['worst']:.1e}"]) + " |"


def means(rows):
    """Geometric means of the ratios, a line a number of threads."""
    for threads in sorted({row["threads"] for row in rows}):
        some = [row for row in rows if row["threads"] == threads and row["best"]]
        if not some:
            continue
        parts = [f"best peer {geometric_mean([row['ratio'][row['best']] for row in some]):.3f}"]
        for name in [*PEERS[rows[0]["precision"]], "attn2c_f32"]:
            ratios = [row["ratio"][name] for row in some if name in row["ratio"]]
            if ratios:
                parts.append(f"{TITLES[name]} {geometric_mean(ratios):.3f} ({len(ratios)} models)")
        yield f"- {threads} thread{'s' if threads > 1 else ''}: " + "; ".join(parts)


def markdown(precision, rows, failures, seconds):
    today = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    yield f"# attn2c and its peers, {precision}{', held to ' + ISA.upper() if ISA else ''}\n"
    yield f"{today}; {machine()}; {versions(precision)}; {seconds:.0f} s\n"
    yield from table(rows) if precision == "f32" else table_of_cosines(rows)
    yield "\nGeometric mean of peer / attn2c (above 1: attn2c is faster):\n"
    yield from means(rows)
    yield (f"\nms: median of {min(row['rounds'] for row in rows)} to {max(row['rounds'] for row in rows)} rounds, one "
           "sample of each engine a round; sd: from the median absolute deviation; ratio: median of the rounds' "
           "ratios; " + (f"difference: the largest of any engine from a double precision result (allowed: "
                         f"{LARGEST_DIFFERENCE:g})." if precision == "f32" else
                         f"cosine: with a double precision result, of all numbers of the output (at least "
                         f"{LEAST_COSINE[precision]:g})."))
    doubtful = [f"- {row['title']}, {row['threads']}: {row['neighbours']:.0%}" for row in rows
                if row["neighbours"] > BUSY]
    if doubtful:
        yield "\nNot a quiet machine: the share of the cores' time that other processes took, where above " \
              f"{BUSY:.0%}. These rows say little, least of all those with several threads:\n"
        yield from doubtful
    yield "\nThe variant of each peer that was fastest, and so raced:\n"
    for row in rows:
        kept = "; ".join(f"{TITLES[name]} {row['variant'][name]}" for name in PEERS[precision]
                         if name in row["variant"])
        yield f"- {row['title']}, {row['threads']}: {kept}"
    lost = [f"- {row['title']}, {row['threads']}: {TITLES[name]} {variant}: {found['error']}"
            for row in rows for name in row["tried"] for variant, found in row["tried"][name].items()
            if "error" in found]
    if lost:
        yield "\nVariants that could not be built:\n"
        yield from lost
    if failures:
        yield "\nFailed:\n"
        yield from (f"- {failure}" for failure in failures)


def write_csv(precision, rows, path):
    peers = list(PEERS[precision])
    of_each = ["ms", "sd", "ratio", "variant", "difference"] + ([] if precision == "f32" else ["cosine"])
    heads = ["model", "threads", "rounds", "target", "attn2c_ms", "attn2c_sd"]
    for name in peers:
        heads += [f"{name}_{what}" for what in of_each]
    heads += ["best_peer", "best_ratio", "gflops", "roof_gflops", "roof_fraction", "attn2c_difference",
              "largest_difference", "neighbours"]
    if precision != "f32":
        heads += ["attn2c_cosine", "attn2c_f32_ms", "attn2c_f32_ratio", "best_as_close", "best_as_close_ratio"]
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(heads)
        for row in rows:
            cells = [row["model"], row["threads"], row["rounds"], row["target"], row["ms"]["attn2c"],
                     row["sd"]["attn2c"]]
            for name in peers:
                cells += [row[what].get(name) for what in of_each]
            cells += [row["best"], row["best"] and row["ratio"][row["best"]], row["gflops"], row["roof_gflops"],
                      row["roof_fraction"], row["difference"]["attn2c"], row["worst"], row["neighbours"]]
            if precision != "f32":
                close = row["best_as_close"]
                cells += [row["cosine"]["attn2c"], row["ms"].get("attn2c_f32"), row["ratio"].get("attn2c_f32"), close,
                          close and row["ratio"][close]]
            writer.writerow(f"{cell:.6g}" if isinstance(cell, float) else cell for cell in cells)


def write(precision, rows, failures, seconds):
    """Writes the three files; rows come from summarise, failures are lines. Returns the table's text."""
    text = "\n".join(markdown(precision, rows, failures, seconds)) + "\n"
    (OUT / (named(precision, "peers") + ".md")).write_text(text)
    write_csv(precision, rows, OUT / (named(precision, "peers") + ".csv"))
    (OUT / (named(precision, "samples") + ".json")).write_text(
        json.dumps({"machine": machine(), "versions": versions(precision), "rows": rows}))
    return text
