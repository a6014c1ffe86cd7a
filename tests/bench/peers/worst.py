"""What a sweep of lengths or a race of sentences found, the worst row first: written to out/peers/ as
NAME.md, NAME.csv and NAME.json. The ratio of a peer is the median over rounds of its time divided
by attn2c's in the same round: above 1, attn2c is faster."""
import csv
import datetime
import json
import statistics

from entrants import TITLES
from models import ISA, OUT
from report import BUSY, geometric_mean, machine, named, number, spread, versions

PRINTED = 12    # worst rows of each number of threads that are printed; all are in the files


def engine_of(entrant):
    """The engine of an entrant's name, `openvino` or `openvino sdpa`."""
    return entrant.split()[0]


def summarise(what, threads, result):
    """A row of plain data: what: the row's own name or length; result: samples_ms, neighbours, difference, cosine."""
    samples = result["samples_ms"]
    ratios = {name: [b / a for a, b in zip(samples["attn2c"], values)] for name, values in samples.items()
              if not name.startswith("attn2c")}
    medians = {name: statistics.median(values) for name, values in ratios.items()}
    best = min(medians, key=medians.get)
    return {"what": what, "threads": threads, "ms": {name: statistics.median(v) for name, v in samples.items()},
            "ratios": medians, "best": best, "ratio": medians[best], "spread": spread(ratios[best]),
            "rounds": len(samples["attn2c"]), "neighbours": result["neighbours"],
            "difference": max(result["difference"].values()), "cosine": min(result["cosine"].values()),
            **rates(result)}


def rates(result):
    """Of sentences: how many a second, by the least time of each batch, and the best peer's ratio by these."""
    if "per_second" not in result:
        return {}
    rate = result["per_second"]
    return {"per_second": rate,
            "least_ratio": rate["attn2c"] / max(value for name, value in rate.items() if name != "attn2c")}


def title(name):
    engine, _, variant = name.partition(" ")
    return TITLES[engine] + (f" ({variant})" if variant else "")


def summary(rows, target):
    """A line a number of threads: the worst row, the geometric mean, and how many rows are below the target."""
    for threads in sorted({row["threads"] for row in rows}):
        some = sorted((row for row in rows if row["threads"] == threads), key=lambda row: row["ratio"])
        below = sum(row["ratio"] < target for row in some)
        yield (f"- {threads} thread{'s' if threads > 1 else ''}: worst {some[0]['ratio']:.3f} ({some[0]['what']}), "
               f"geometric mean {geometric_mean([row['ratio'] for row in some]):.3f}, "
               f"{below} of {len(some)} rows below {target:g}")


def table(rows, heading, most=None):
    """The rows of each number of threads, the worst first."""
    names = list(dict.fromkeys(name for row in rows for name in row["ms"]))
    rate = "per_second" in rows[0]
    heads = [heading, "threads", "best peer / attn2c", "± sd", "best peer"] + (["by least times"] if rate else [])
    heads += [title(name) + (" sentences/s" if rate else " ms") for name in names] + ["neighbours"]
    yield "| " + " | ".join(heads) + " |"
    yield "|:--|" + "--:|" * (len(heads) - 1)
    for threads in sorted({row["threads"] for row in rows}):
        some = sorted((row for row in rows if row["threads"] == threads), key=lambda row: row["ratio"])
        for row in some[:most]:
            cells = [str(row["what"]), str(threads), f"{row['ratio']:.3f}", f"{row['spread']:.3f}", title(row["best"])]
            cells += [f"{row['least_ratio']:.3f}"] if rate else []
            cells += [number(row["per_second" if rate else "ms"].get(name)) for name in names]
            yield "| " + " | ".join(cells + [f"{row['neighbours']:.0%}"]) + " |"


def joined(name, precision, rows):
    """The rows and those of earlier parts of the sweep on this machine, except where both have the same length."""
    path = (OUT / named(precision, name)).with_suffix(".json")
    earlier = json.loads(path.read_text()) if path.exists() else {}
    if earlier.get("machine") != machine() or earlier.get("versions") != versions(precision):
        return rows
    new = {(row["what"], row["threads"]) for row in rows}
    return rows + [row for row in earlier["rows"] if (row["what"], row["threads"]) not in new]


def write(name, precision, rows, failures, target, heading, about, seconds):
    """Writes the files; returns the text to print. about: how the race was run, in a sentence."""
    today = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    busy = sum(row["neighbours"] > BUSY for row in rows)
    head = [f"# attn2c and its peers, {about}{', held to ' + ISA.upper() if ISA else ''}\n",
            f"{today}; {machine()}; {versions(precision)}; {seconds:.0f} s\n", *summary(rows, target), ""]
    tail = [f"\nRatio: median of {min(row['rounds'] for row in rows)} to {max(row['rounds'] for row in rows)} rounds' "
            f"ratios; sd: from the median absolute deviation. Largest difference of any engine from a double precision "
            f"result {max(row['difference'] for row in rows):.1e}, least cosine "
            f"{min(row['cosine'] for row in rows):.6f}."]
    if busy:
        tail.append(f"Not a quiet machine: in {busy} of {len(rows)} rows other processes took more than {BUSY:.0%} of "
                    "the cores.")
    tail += [f"failed: {failure}" for failure in failures]
    OUT.mkdir(parents=True, exist_ok=True)
    path = OUT / named(precision, name)
    path.with_suffix(".md").write_text("\n".join([*head, *table(rows, heading), *tail]) + "\n")
    path.with_suffix(".json").write_text(json.dumps({"machine": machine(), "versions": versions(precision),
                                                     "rows": rows}))
    write_csv(rows, heading, path.with_suffix(".csv"))
    return "\n".join([*head, *table(rows, heading, PRINTED), *tail])


def write_csv(rows, heading, path):
    names = list(dict.fromkeys(name for row in rows for name in row["ms"]))
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([heading, "threads", "ratio", "sd", "best", "rounds", "neighbours",
                         *(f"{name} ms" for name in names)])
        for row in rows:
            cells = [row["what"], row["threads"], row["ratio"], row["spread"], row["best"], row["rounds"],
                     row["neighbours"], *(row["ms"].get(name) for name in names)]
            writer.writerow(f"{cell:.6g}" if isinstance(cell, float) else cell for cell in cells)
