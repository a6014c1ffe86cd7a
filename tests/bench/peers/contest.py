"""One model on one number of threads: every engine in one process, pinned to as many
cores, checked against a double precision result, then timed in turn, a sample of each
a round. Run by race.py as a process of its own; prints one JSON object.

    contest.py MODEL THREADS --engines A,B --rounds N --seconds S
"""
import argparse
import json
import os
import sys
import time

LIMIT = 1e-3            # largest difference allowed between an engine's output and the expected one
SAMPLE_SECONDS = 2e-3   # a sample is as many calls as last this long
WARM_SECONDS = 20e-3    # engines with shorter calls run untimed before each sample
QUIET_SECONDS = 4e-3    # the process is quiet when it takes hardly any processor time during this
QUIET_SHARE = 0.05
QUIET_WAITS = 50        # how often at most
TYPICAL_WAIT = 15e-3    # seconds until it is
FEWEST_ROUNDS, MOST_ROUNDS = 7, 150
PEERS = "openvino", "onnxruntime", "torch", "compile"


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


def difference(engine, expected):
    """The largest absolute difference; infinite where the output is not a number or misshapen."""
    import numpy as np
    y = engine.output()
    if y.shape != expected.shape:
        return float("inf")
    worst = float(np.abs(y.astype(np.float64) - expected).max())
    return worst if worst == worst else float("inf")


def fastest(kind, variants, model, threads, x, expected):
    """Builds each variant, checks it and keeps the fastest: (engine, variant, seconds, what was found of all).
    Raises if a variant is wrong, or if none can be built."""
    best, found = None, {}
    for name, source in variants:
        try:
            engine = kind(model, threads, source, x)
            seconds = estimate(engine)
        except Exception as error:     # an engine's own failure: the other variants still race
            found[name] = {"error": f"{type(error).__name__}: {error}".splitlines()[0][:300]}
            continue
        worst = difference(engine, expected)
        found[name] = {"ms": seconds * 1e3, "difference": worst}
        if not worst <= LIMIT:
            raise ValueError(f"{name}: differs by {worst:.3g}, allowed is {LIMIT:g}")
        loser = engine
        if best is None or seconds < best[2]:
            loser, best = best and best[0], (engine, name, seconds)
        if loser is not None:
            loser.close()
    if best is None:
        raise RuntimeError("; ".join(f"{name}: {entry['error']}" for name, entry in found.items()))
    return (*best, found)


def race(engines, seconds, rounds, threads):
    """Samples in turn. engines: names to objects; seconds: names to estimated seconds a call. Returns names to lists
    of milliseconds a call, one a round."""
    calls = {name: max(1, int(SAMPLE_SECONDS / seconds[name] + 0.999)) for name in engines}
    samples = {name: [] for name in engines}
    order = list(engines)
    for number in range(rounds):
        turn = number % len(order)
        for name in order[turn:] + order[:turn]:     # nobody always follows the same one
            if threads > 1:
                wait_until_quiet()
            if seconds[name] < WARM_SECONDS:
                engines[name].run(calls[name])
            samples[name].append(clock(engines[name], calls[name]) * 1e3)
    return samples


def rounds_for(budget, seconds, threads):
    """As many rounds as fit into the budget in seconds."""
    one = sum(max(t, SAMPLE_SECONDS) * (2 if t < WARM_SECONDS else 1) + (TYPICAL_WAIT if threads > 1 else 0)
              for t in seconds.values())
    return min(MOST_ROUNDS, max(FEWEST_ROUNDS, int(budget / one)))


def contest(model, threads, wanted, rounds, budget):
    """Builds, checks and times. Returns the result as plain data."""
    import tempfile

    import torch
    from safetensors.torch import save_file

    import encoder as torch_encoder
    from engine_attn2c import Attn2c
    from models import OUT

    torch.set_num_threads(threads)
    encoder = torch_encoder.make_encoder(model)
    x = torch_encoder.make_input(model).numpy()
    expected = torch_encoder.expected_output(encoder, model, torch.from_numpy(x))
    state = encoder.state_dict()
    weights = {name: value.numpy() for name, value in state.items()}

    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=OUT) as folder:
        path = os.path.join(folder, "weights.safetensors")
        save_file(state, path)
        ours = Attn2c(model, threads, path, x)
    engines, seconds = {"attn2c": ours}, {"attn2c": estimate(ours)}
    result = {"model": model.name, "threads": threads, "variant": {}, "difference": {}, "tried": {}, "failed": {}}
    result["difference"]["attn2c"] = difference(ours, expected)
    if not result["difference"]["attn2c"] <= LIMIT:
        result["failed"]["attn2c"] = f"differs by {result['difference']['attn2c']:.3g}, allowed is {LIMIT:g}"

    for name in wanted:
        try:
            kind, variants = peer(name)
            engine, variant, t, tried = fastest(kind, variants(model, encoder, weights), model, threads, x, expected)
        except Exception as error:     # reported by name; the others still race
            result["failed"][name] = f"{type(error).__name__}: {error}".splitlines()[0][:300]
            continue
        engines[name], seconds[name] = engine, t
        result["variant"][name], result["tried"][name] = variant, tried
        result["difference"][name] = tried[variant]["difference"]

    rounds = rounds or rounds_for(budget, seconds, threads)
    result["samples_ms"] = race(engines, seconds, rounds, threads)
    for name, engine in engines.items():     # still right after the race
        worst = difference(engine, expected)
        if not worst <= LIMIT:
            result["failed"][name] = f"differs by {worst:.3g} after the race, allowed is {LIMIT:g}"
    return result


def peer(name):
    """The class of an engine and the generator of its variants."""
    if name == "openvino":
        import engine_openvino
        return engine_openvino.OpenVino, engine_openvino.variants
    if name == "onnxruntime":
        import engine_onnxruntime
        return engine_onnxruntime.OnnxRuntime, engine_onnxruntime.variants
    import engine_torch
    return engine_torch.Torch, (engine_torch.eager_variants if name == "torch" else engine_torch.compiled_variants)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("threads", type=int)
    parser.add_argument("--engines", required=True)
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=8.0)
    arguments = parser.parse_args()

    # Before any engine is loaded: they count the cores that they may use. What they print must not reach the result.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:arguments.threads])
    os.environ["OMP_NUM_THREADS"] = str(arguments.threads)
    from models import OUT, read_models
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(OUT / "inductor"))
    report = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    engines = [name for name in arguments.engines.split(",") if name != "attn2c"]
    result = contest(read_models()[arguments.model], arguments.threads, engines, arguments.rounds, arguments.seconds)
    json.dump(result, report)
    report.close()
    sys.stdout.flush()
    os._exit(0)     # the engines' thread pools need not be taken down in any order


if __name__ == "__main__":
    main()
