"""The race of models that write: attn2c against llama.cpp on the same random weights, each in a
process of its own on the same cores, measured in turn. Prints a table: tokens/s of both, and the
median of the rounds' ratios with their quartiles. Run by run.sh --generate.

    generate.py [--models smol,gpt2,qwen,llama,experts,olmoe] [--precision f32,bf16,q8_0,q4_0,q4_1] [--threads 1,2]
                [--rounds N] [--make | --made] [--rows prompt,token,late,eight]

--make only builds the models and writes their files; --made races what was made before.
The shapes are those of SmolLM2-135M, GPT-2, Qwen2.5-0.5B and Llama-3.2-1B, all in the form of Llama. `experts` has 6
layers of Qwen3-30B-A3B's shape, `olmoe` is OLMoE-1B-7B's; both are built from the GGUF file itself. llama.cpp
keeps keys and values in f16, its default; attn2c in the type of its products, or in bf16 with a type of GGUF's
blocks. Then both read the same file. LLAMA_PLAIN=1 in the environment keeps llama.cpp from repacking weights, for AMX among others:
llama-cpp-python 0.3.36 ends with a fault in its tiles on some machines. PROCESSOR_TIME=1 counts seconds of the processor, which with one
thread compares engines next to other work.
"""
import argparse
import os
import statistics
import sys
import time

import numpy as np

from contest import take_cores
from engine_attn2c import build_words
from models import OUT
from process import Process

SHAPES = {
    "smol": dict(d_model=576, heads=9, kv_heads=3, layers=30, d_ff=1536, vocab=49152),
    "gpt2": dict(d_model=768, heads=12, kv_heads=12, layers=12, d_ff=3072, vocab=50257),
    "qwen": dict(d_model=896, heads=14, kv_heads=2, layers=24, d_ff=4864, vocab=151936),
    "llama": dict(d_model=2048, heads=32, kv_heads=8, layers=16, d_ff=8192, vocab=128256),
    "experts": dict(arch="qwen3moe", d_model=2048, heads=32, kv_heads=4, head_dim=128, layers=6, d_ff=768, vocab=151936,
                    count=128, used=8, theta=1e6, normed=128),
    "olmoe": dict(arch="olmoe", d_model=2048, heads=16, kv_heads=16, head_dim=128, layers=16, d_ff=1024, vocab=50304,
                  count=64, used=8, theta=1e4, normed=2048),
}
BLOCKS = {"q8_0": "int8", "q4_0": "int4", "q4_1": "int4m"}     # GGUF's types, and the words of the key `weights`
CONTEXT, SEQUENCES = 1280, 8
ROWS = {"prompt of 512": ("prefill 512", 512), "token at 0": ("decode 1 0 8", 1),
        "token at 1,000": ("decode 1 1000 8", 1), "8 sequences at 0": ("decode 8 0 4", 8)}
ROW_WORDS = dict(zip(("prompt", "token", "late", "eight"), ROWS))
# The largest difference, as a part of the logits' norm. llama.cpp's keys and values are f16. With blocks both round inputs to int8, in different ways.
LARGEST_DIFFERENCE = {"f32": 5e-3, "bf16": 5e-2, **dict.fromkeys(BLOCKS, 0.3)}
EPSILON = 1e-5
QUIET_SECONDS = 0.03     # threads of OpenMP wait by spinning for some 10 ms after a call

DESCRIPTION = """return {{ name = "{name}", d_model = {d_model}, heads = {heads}, kv_heads = {kv_heads}, layers = {layers},
  d_ff = {d_ff}, context = {context}, sequences = {sequences}, mask = "causal", norm = "pre", final_norm = true,
  norm_kind = "rms", eps = {epsilon}, gated = true, activation = "silu", positions = "rope", bias = false,
  {numbers}, threads = {threads}, input = tokens {{ vocab = {vocab} }},
  output = {{ vocabulary {{ tied = true }} }} }}
"""


def tensors(shape):
    """(attn2c's name, GGUF's name, shape) of each."""
    d, ff = shape["d_model"], shape["d_ff"]
    q, kv = (shape.get("head_dim", d // shape["heads"]) * shape[heads] for heads in ("heads", "kv_heads"))
    yield "input.tokens.weight", "token_embd.weight", (shape["vocab"], d)
    yield "final_norm.weight", "output_norm.weight", (d,)
    parts = [("norm1", "attn_norm", (d,)), ("norm2", "ffn_norm", (d,)), ("attn.q", "attn_q", (q, d)),
             ("attn.k", "attn_k", (kv, d)), ("attn.v", "attn_v", (kv, d)), ("attn.out", "attn_output", (d, q))]
    if "count" in shape:
        count, normed = shape["count"], shape["normed"]
        yield "output.1.vocabulary.weight", "output.weight", (shape["vocab"], d)
        parts += [("attn.q_norm", "attn_q_norm", (normed,)), ("attn.k_norm", "attn_k_norm", (normed,)),
                  ("ff.router", "ffn_gate_inp", (count, d)), ("ff.experts.gate", "ffn_gate_exps", (count, ff, d)),
                  ("ff.experts.up", "ffn_up_exps", (count, ff, d)), ("ff.experts.down", "ffn_down_exps", (count, d, ff))]
    else:
        parts += [("ff.gate", "ffn_gate", (ff, d)), ("ff.up", "ffn_up", (ff, d)), ("ff.down", "ffn_down", (d, ff))]
    for i in range(shape["layers"]):
        for own, other, size in parts:
            yield f"l{i}.{own}.weight", f"blk.{i}.{other}.weight", size


def values(shape):
    generator = np.random.default_rng(0)
    for own, other, size in tensors(shape):
        if len(size) == 1:
            yield own, other, np.ones(size, np.float32)
        else:
            yield own, other, generator.standard_normal(size, dtype=np.float32) * np.float32(0.7 / size[-1] ** 0.5)


def interleaved(weight, heads):
    """Rows in the order in which llama.cpp rotates those of Llama: pairs side by side, not half a head apart."""
    rows, columns = weight.shape
    return weight.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)


def write_weights(name, shape):
    from safetensors.numpy import save_file
    path = OUT / f"{name}.safetensors"
    if not path.exists():
        save_file({own: value for own, _, value in values(shape)}, path)
    return path


def blocks_of(shape, kind):
    """Yields (GGUF's name, value) of a mixture of experts: matrices of blocks that are drawn from 65,536 of a type."""
    import gguf
    generator = np.random.default_rng(0)
    drawn = generator.standard_normal((65536, 32), dtype=np.float32) * np.float32(0.7)
    for _, other, size in tensors(shape):
        if len(size) == 1:
            yield other, np.ones(size, np.float32)
        elif "gate_inp" in other:
            yield other, generator.standard_normal(size, dtype=np.float32) * np.float32(0.7 / size[-1] ** 0.5)
        else:
            blocks = gguf.quants.quantize(drawn / np.float32(size[-1] ** 0.5), kind)
            numbers = generator.integers(0, len(blocks), np.prod(size) // 32, dtype=np.uint16)
            yield other, blocks[numbers].reshape(*size[:-1], -1)


def write_gguf(name, shape, precision):
    import gguf
    path = OUT / f"{name}-{precision}.gguf"
    if path.exists():
        return path
    arch = shape.get("arch", "llama")
    writer = gguf.GGUFWriter(path, arch)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(shape["d_model"])
    writer.add_block_count(shape["layers"])
    writer.add_feed_forward_length(shape["d_ff"])
    writer.add_head_count(shape["heads"])
    writer.add_head_count_kv(shape["kv_heads"])
    writer.add_layer_norm_rms_eps(EPSILON)
    if "count" in shape:
        writer.add_key_length(shape["head_dim"])
        writer.add_value_length(shape["head_dim"])
        writer.add_rope_freq_base(shape["theta"])
        writer.add_expert_count(shape["count"])
        writer.add_expert_used_count(shape["used"])
        writer.add_expert_feed_forward_length(shape["d_ff"])
    else:
        writer.add_rope_dimension_count(shape["d_model"] // shape["heads"])
    writer.add_vocab_size(shape["vocab"])
    writer.add_tokenizer_model("no_vocab")
    kind = gguf.GGMLQuantizationType[precision.upper()]
    for other, value in blocks_of(shape, kind) if "count" in shape else ():
        writer.add_tensor(other, value, raw_dtype=kind if value.dtype == np.uint8 else None)
    for _, other, value in values(shape) if "count" not in shape else ():
        if "attn_q" in other or "attn_k" in other:
            value = interleaved(value, shape["heads"] if "attn_q" in other else shape["kv_heads"])
        if precision != "f32" and value.ndim > 1:
            writer.add_tensor(other, gguf.quants.quantize(value, kind), raw_dtype=kind)
        else:
            writer.add_tensor(other, value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def sequences_of(shape):
    """OLMoE's keys and values take 168 MB a sequence, so there is one."""
    return 1 if shape.get("arch") == "olmoe" else SEQUENCES


def name_of(model, precision, threads):
    return f"generate_{model}_{precision}_{threads}"


def make(model, precision, threads, cores):
    """Builds a model, and writes the weights of both engines."""
    os.sched_setaffinity(0, cores)     # the last race may have left one
    shape, name = SHAPES[model], name_of(model, precision, threads)
    OUT.mkdir(parents=True, exist_ok=True)
    np.save(OUT / f"{name}.npy", shape["vocab"])
    path = write_gguf(model, shape, precision)
    if "count" in shape:
        build_words([str(path), f"name={name}", f"context={CONTEXT}", f"sequences={sequences_of(shape)}", "precision=bf16",
                     f"threads={threads}"])
        return
    description = OUT / f"{name}.lua"
    numbers = f'weights = "{BLOCKS[precision]}", precision = "bf16", names = "gguf-llama"' if precision in BLOCKS \
        else f'precision = "{precision}"'
    description.write_text(DESCRIPTION.format(name=name, context=CONTEXT, sequences=SEQUENCES, epsilon=EPSILON,
                                              numbers=numbers, threads=threads, **shape))
    build_words([str(description)])
    if precision not in BLOCKS:
        write_weights(model, shape)


def open_engines(model, precision, threads, cores):
    os.sched_setaffinity(0, cores)
    take_cores(threads)
    name, other = name_of(model, precision, threads), OUT / f"{model}-{precision}.gguf"
    weights = other if precision in BLOCKS else OUT / f"{model}.safetensors"
    sequences = sequences_of(SHAPES[model])
    return {"attn2c": Process("generate_worker.py", "attn2c", name, weights, threads, sequences),
            "llama.cpp": Process("generate_worker.py", "llama.cpp", name, other, threads, sequences)}


def difference(workers):
    """Of the logits after 40 tokens, relative to their norm."""
    logits = []
    for i, worker in enumerate(workers.values()):
        worker.ask(f"logits {OUT / f'logits{i}.npy'} 40")
        logits.append(np.load(OUT / f"logits{i}.npy").astype(np.float64))
    return np.linalg.norm(logits[0] - logits[1]) / np.linalg.norm(logits[0])


def race(workers, rows, rounds):
    """Yields a row: its title, tokens/s of each engine, quartiles of the ratio."""
    for title in rows:
        question, tokens = ROWS[title]
        samples = {name: [] for name in workers}
        for number in range(rounds + 1):
            names = list(workers)[::1 if number % 2 else -1]
            for name in names:
                time.sleep(QUIET_SECONDS)
                ms = workers[name].ask(question)["ms"]
                if number > 0:      # the first round warms up
                    samples[name].append(ms)
        own, other = samples["attn2c"], samples["llama.cpp"]
        ratios = [b / a for a, b in zip(own, other)]
        yield title, [1e3 * tokens / statistics.median(each) for each in (own, other)], statistics.quantiles(ratios)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="smol,gpt2,qwen")
    parser.add_argument("--precision", default="f32,bf16")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--make", action="store_true")
    parser.add_argument("--made", action="store_true")
    parser.add_argument("--rows", default=",".join(ROW_WORDS))
    arguments = parser.parse_args()
    cores = os.sched_getaffinity(0)
    rows = [ROW_WORDS[word] for word in arguments.rows.split(",")]
    if not arguments.make:
        print("| model | type | threads | | attn2c, tokens/s | llama.cpp | attn2c against it | quartiles |")
        print("|---|---|---|---|---|---|---|---|", flush=True)
    for model in arguments.models.split(","):
        for precision in arguments.precision.split(","):
            for threads in map(int, arguments.threads.split(",")):
                if not arguments.made:
                    make(model, precision, threads, cores)
                if arguments.make:
                    continue
                workers = open_engines(model, precision, threads, cores)
                found = difference(workers)
                if not found < LARGEST_DIFFERENCE[precision]:
                    sys.exit(f"{model}, {precision}: the engines' logits differ by {found:.2g}; not timed")
                for title, (own, other), (low, middle, high) in race(workers, rows, arguments.rounds):
                    print(f"| {model} | {precision} | {threads} | {title} | {own:.1f} | {other:.1f} | {middle:.2f} | "
                          f"{low:.2f} to {high:.2f} |", flush=True)
                for worker in workers.values():
                    worker.close()


if __name__ == "__main__":
    main()
