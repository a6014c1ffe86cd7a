"""The race of families: attn2c, OpenVINO and ONNX Runtime on whole models of transformers with random weights, in the
shapes of ModernBERT-base, nomic-embed-text and DeBERTa-v3-small.

    families.py [--models A,B] [--tokens 128,512] [--threads 1,2] [--rounds N] [--make]

The peers' graphs are exported by PyTorch (torch.export); attn2c builds the checkpoint folder. --make only makes the
folders, graphs and builds, which takes minutes, in out/peers/families. Exit codes: 0 done; 1 an output differs.
"""
import argparse
import os
import statistics
import sys

import numpy as np

from engine_attn2c import build_words
from models import OUT, ROOT
from process import Process

FOLDER = OUT / "families"
ENGINES = ["attn2c", "openvino", "onnxruntime"]
LARGEST_DIFFERENCE = 1e-3
TOKENS = 30000      # of the input; each vocabulary has more

# The classes and configurations of transformers; what is not named is the family's default.
DEBERTA = {"vocab_size": 30522, "hidden_size": 768, "num_hidden_layers": 6, "num_attention_heads": 12,
           "intermediate_size": 3072, "max_position_embeddings": 512, "relative_attention": True,
           "max_relative_positions": -1, "position_buckets": 256, "norm_rel_ebd": "layer_norm",
           "share_att_key": True, "pos_att_type": "p2c|c2p", "position_biased_input": False, "type_vocab_size": 0}
MODELS = {
    "modernbert": ("ModernBERT-base, 22 x 768", "ModernBertModel", {}),
    "nomic": ("nomic-embed-text, 12 x 768", "NomicBertModel", {}),
    "deberta": ("DeBERTa-v3-small, 6 x 768", "DebertaV2Model", DEBERTA),
}


def built_name(name, tokens, threads):
    return f"race_{name}_{tokens}_{threads}"


def checkpoint(name):
    """The folder of the model with random weights."""
    import torch
    import transformers
    folder = FOLDER / name
    if not (folder / "model.safetensors").exists():
        _, class_name, settings = MODELS[name]
        model_class = getattr(transformers, class_name)
        torch.manual_seed(0)
        model_class(model_class.config_class(**settings)).save_pretrained(folder)
    return folder


def export(name, tokens, folder):
    """The input, the expected output, and the peers' graphs of a length."""
    import openvino
    import torch
    import transformers

    class States(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = getattr(transformers, MODELS[name][1]).from_pretrained(checkpoint(name)).eval()

        def forward(self, ids):
            return self.model(input_ids=ids).last_hidden_state

    model = States()
    ids = torch.randint(4, TOKENS, (1, tokens), generator=torch.Generator().manual_seed(0))
    folder.mkdir(parents=True, exist_ok=True)
    with torch.no_grad():
        np.save(folder / "expected.npy", model(ids).numpy())
        openvino.save_model(openvino.convert_model(torch.export.export(model, (ids,), strict=False)),
                            folder / "openvino.xml", compress_to_fp16=False)
        torch.onnx.export(model, (ids,), folder / "graph.onnx", dynamo=True)
    np.save(folder / "ids.npy", ids.numpy())


def make(name, tokens, threads):
    """Makes what the engines read, unless it is there."""
    folder = FOLDER / f"{name}_{tokens}"
    if not (folder / "ids.npy").exists():
        export(name, tokens, folder)
    built = built_name(name, tokens, threads)
    if not (ROOT / "out" / built / f"lib{built}.so").exists():
        build_words([str(checkpoint(name)), f"name={built}", f"seq={tokens}", f"threads={threads}"])
    return folder


def race(name, tokens, threads, rounds):
    """The milliseconds of each engine in each round, and how far its output is from transformers'."""
    folder = make(name, tokens, threads)
    os.sched_setaffinity(0, CORES[:threads])
    workers = {engine: Process("families_worker.py", engine, folder, threads, checkpoint(name),
                               built_name(name, tokens, threads)) for engine in ENGINES}
    samples = {engine: [] for engine in ENGINES}
    for number in range(rounds):
        turn = number % len(ENGINES)
        for engine in ENGINES[turn:] + ENGINES[:turn]:
            samples[engine].append(workers[engine].ask("sample")["ms"])
    differences = {engine: worker.opened["difference"] for engine, worker in workers.items()}
    for worker in workers.values():
        worker.close()
    os.sched_setaffinity(0, CORES)
    return samples, differences


def row_of(samples):
    """The cells of a row, and the ratio of the best peer's time to attn2c's: the median over rounds, with quartiles."""
    middle = {engine: statistics.median(samples[engine]) for engine in ENGINES}
    best = min(ENGINES[1:], key=middle.get)
    ratios = [peer / own for peer, own in zip(samples[best], samples["attn2c"])]
    low, ratio, high = np.quantile(ratios, [0.25, 0.5, 0.75])
    return [f"{middle[engine]:.4g}" for engine in ENGINES] + [f"{ratio:.3f} ({low:.3f} to {high:.3f})"], ratio


def words(text):
    return text.split(",")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--models", type=words, default=list(MODELS))
    parser.add_argument("--tokens", type=words, default=["128", "512"])
    parser.add_argument("--threads", type=words, default=["1", "2"])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--make", action="store_true")
    chosen = parser.parse_args()
    unknown = [name for name in chosen.models if name not in MODELS]
    if unknown:
        parser.error(f"--models: {unknown[0]!r} is not one of {', '.join(MODELS)}")
    rows = [(name, int(tokens), int(threads)) for name in chosen.models for tokens in chosen.tokens
            for threads in chosen.threads]
    ratios, failed = [], False
    for name, tokens, threads in rows:
        if chosen.make:
            make(name, tokens, threads)
            continue
        samples, differences = race(name, tokens, threads, chosen.rounds)
        cells, ratio = row_of(samples)
        if not ratios:
            print("| model | tokens | threads | attn2c, ms | OpenVINO | ONNX Runtime | best peer / attn2c |\n"
                  "|---|---|---|---|---|---|---|")
        ratios.append(ratio)
        print(f"| {MODELS[name][0]} | {tokens} | {threads} | {' | '.join(cells)} |", flush=True)
        for engine, difference in differences.items():
            if not difference <= LARGEST_DIFFERENCE:
                print(f"{name}: {engine}: differs by {difference:.3g}", file=sys.stderr)
                failed = True
    if ratios:
        print(f"\ngeometric mean {statistics.geometric_mean(ratios):.3f}")
    return 1 if failed else 0


CORES = sorted(os.sched_getaffinity(0))

if __name__ == "__main__":
    sys.exit(main())
