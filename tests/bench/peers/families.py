"""The race of families: attn2c, OpenVINO and ONNX Runtime on whole models of transformers with random weights, in the
shapes of ModernBERT-base, nomic-embed-text, DeBERTa-v3-small, ESM-2 (35M), EuroBERT-210M, BGE-M3, CLIP ViT-B/32,
DINOv2-small and wav2vec 2.0 base.

    families.py [--models A,B] [--sizes 128,224] [--threads 1,2] [--rounds N] [--make | --table]

The peers' graphs are exported by PyTorch (torch.export); attn2c builds the checkpoint folder. --make only makes the
folders, graphs and builds, which takes minutes, in out/peers/families. Each row is kept there: --table measures
nothing and prints the chosen rows that were measured, so that a race may be run a row at a time. Exit codes: 0 done; 1
an output differs; 2 wrong usage.
"""
import argparse
import json
import os
import statistics
import sys
from dataclasses import dataclass, field

import numpy as np

from engine_attn2c import build_words
from models import OUT, ROOT
from process import Process

FOLDER = OUT / "families"
ENGINES = ["attn2c", "openvino", "onnxruntime"]
LARGEST_DIFFERENCE = 1e-3
TOKENS = 30000      # of the input; each vocabulary has more
HEAD = ("| model | input | threads | attn2c, ms | OpenVINO | ONNX Runtime | best peer / attn2c |\n"
        "|---|---|---|---|---|---|---|")


@dataclass(frozen=True)
class Model:
    title: str
    class_name: str         # of transformers
    settings: dict = field(default_factory=dict)    # of its configuration; what is not named is the family's default
    sizes: tuple = (128, 512)
    unit: str = "tokens"    # or px: an image of this height and width; or seconds of sound
    output: str = "last_hidden_state"
    last: int = 0           # the last token of a text, if the model looks for it


DEBERTA = {"vocab_size": 30522, "hidden_size": 768, "num_hidden_layers": 6, "num_attention_heads": 12,
           "intermediate_size": 3072, "max_position_embeddings": 512, "relative_attention": True,
           "max_relative_positions": -1, "position_buckets": 256, "norm_rel_ebd": "layer_norm",
           "share_att_key": True, "pos_att_type": "p2c|c2p", "position_biased_input": False, "type_vocab_size": 0}
ESM2 = {"vocab_size": 33, "hidden_size": 480, "num_hidden_layers": 12, "num_attention_heads": 20, "intermediate_size": 1920,
        "max_position_embeddings": 1026, "position_embedding_type": "rotary", "token_dropout": True, "mask_token_id": 32,
        "pad_token_id": 1}
BGE_M3 = {"vocab_size": 250002, "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16,
          "intermediate_size": 4096, "max_position_embeddings": 8194, "type_vocab_size": 1, "pad_token_id": 1}
DINOV2 = {"hidden_size": 384, "num_attention_heads": 6, "patch_size": 14}
RATE, FRAMES = 16000, 50        # samples and frames of a second of sound
MODELS = {
    "modernbert": Model("ModernBERT-base, 22 x 768", "ModernBertModel"),
    "nomic": Model("nomic-embed-text, 12 x 768", "NomicBertModel"),
    "deberta": Model("DeBERTa-v3-small, 6 x 768", "DebertaV2Model", DEBERTA),
    "esm2": Model("ESM-2 35M, 12 x 480", "EsmModel", ESM2),
    "eurobert": Model("EuroBERT-210M, 12 x 768", "EuroBertModel"),
    "bgem3": Model("BGE-M3, 24 x 1,024", "XLMRobertaModel", BGE_M3),
    "clip": Model("CLIP ViT-B/32, images, 12 x 768", "CLIPVisionModelWithProjection", sizes=(224,), unit="px",
                  output="image_embeds"),
    "cliptext": Model("CLIP ViT-B/32, texts, 12 x 512", "CLIPTextModelWithProjection", sizes=(77,),
                      output="text_embeds", last=49407),
    "dinov2": Model("DINOv2-small, 12 x 384", "Dinov2Model", DINOV2, sizes=(224, 518), unit="px"),
    "wav2vec2": Model("wav2vec 2.0 base, CTC, 12 x 768", "Wav2Vec2ForCTC", sizes=(2, 10), unit="seconds", output="logits"),
}
SOUND = {"feature_extractor_type": "Wav2Vec2FeatureExtractor", "feature_size": 1, "sampling_rate": RATE,
         "do_normalize": False, "return_attention_mask": False, "padding_value": 0.0, "padding_side": "right"}
ARGUMENTS = {"tokens": "input_ids", "px": "pixel_values", "seconds": "input_values"}     # of transformers' models


def built_name(name, size, threads):
    return f"race_{name}_{size}_{threads}"


def checkpoint(name, size):
    """The folder of the model with random weights. Models of images have positions for the image's size."""
    import torch
    import transformers
    model, settings = MODELS[name], dict(MODELS[name].settings)
    folder = FOLDER / name
    if model.unit == "px":
        folder, settings["image_size"] = FOLDER / f"{name}{size}", size
    if not (folder / "model.safetensors").exists():
        model_class = getattr(transformers, model.class_name)
        torch.manual_seed(0)
        model_class(model_class.config_class(**settings)).save_pretrained(folder)
        if model.unit == "seconds":
            (folder / "preprocessor_config.json").write_text(json.dumps(SOUND))
    return folder


def input_of(model, size):
    """Seeded ids, an image or sound, as a tensor."""
    import torch
    seeded = torch.Generator().manual_seed(0)
    if model.unit == "px":
        return torch.randn((1, 3, size, size), generator=seeded)
    if model.unit == "seconds":
        return torch.randn((1, RATE * size), generator=seeded)
    ids = torch.randint(4, min(TOKENS, model.settings.get("vocab_size", TOKENS) - 1), (1, size), generator=seeded)
    if model.last:
        ids[0, -1] = model.last
    return ids


def export(name, size, folder):
    """The input, the expected output, and the peers' graphs of a size."""
    import openvino
    import torch
    import transformers
    model, argument = MODELS[name], ARGUMENTS[MODELS[name].unit]

    class Output(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = getattr(transformers, model.class_name).from_pretrained(checkpoint(name, size)).eval()

        def forward(self, x):
            return getattr(self.model(**{argument: x}), model.output)

    module, x = Output().eval(), input_of(model, size)
    folder.mkdir(parents=True, exist_ok=True)
    with torch.no_grad():
        np.save(folder / "expected.npy", module(x).numpy())
        openvino.save_model(openvino.convert_model(torch.export.export(module, (x,), strict=False)),
                            folder / "openvino.xml", compress_to_fp16=False)
        torch.onnx.export(module, (x,), folder / "graph.onnx", dynamo=True)
    np.save(folder / "input.npy", x.numpy())


def make(name, size, threads):
    """Makes what the engines read, unless it is there."""
    folder = FOLDER / f"{name}_{size}"
    if not (folder / "input.npy").exists():
        export(name, size, folder)
    built = built_name(name, size, threads)
    if not (ROOT / "out" / built / f"lib{built}.so").exists():
        sizes = {"tokens": [f"seq={size}"], "px": [f"input.height={size}", f"input.width={size}"],
                 "seconds": [f"seq={FRAMES * size - 1}"]}[MODELS[name].unit]
        build_words([str(checkpoint(name, size)), f"name={built}", f"threads={threads}", *sizes])
    return folder


def race(name, size, threads, rounds):
    """The milliseconds of each engine in each round, and how far its output is from transformers'."""
    folder = make(name, size, threads)
    os.sched_setaffinity(0, CORES[:threads])
    workers = {engine: Process("families_worker.py", engine, folder, threads, checkpoint(name, size),
                               built_name(name, size, threads), MODELS[name].output) for engine in ENGINES}
    samples = {engine: [] for engine in ENGINES}
    for number in range(rounds):
        turn = number % len(ENGINES)
        for engine in ENGINES[turn:] + ENGINES[:turn]:
            samples[engine].append(workers[engine].ask("sample")["ms"])
    differences = {engine: worker.opened["difference"] for engine, worker in workers.items()}
    for worker in workers.values():
        worker.close()
    os.sched_setaffinity(0, CORES)
    return {"samples": samples, "differences": differences}


def row_of(samples):
    """The cells of a row, and the ratio of the best peer's time to attn2c's: the median over rounds, with quartiles."""
    middle = {engine: statistics.median(samples[engine]) for engine in ENGINES}
    best = min(ENGINES[1:], key=middle.get)
    ratios = [peer / own for peer, own in zip(samples[best], samples["attn2c"])]
    low, ratio, high = np.quantile(ratios, [0.25, 0.5, 0.75])
    return [f"{middle[engine]:.4g}" for engine in ENGINES] + [f"{ratio:.3f} ({low:.3f} to {high:.3f})"], ratio


def words(text):
    return text.split(",")


def numbers(text):
    return [int(word) for word in words(text)]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--models", type=words, default=list(MODELS))
    parser.add_argument("--sizes", type=numbers, help="tokens of texts, pixels of images (default: all of each model)")
    parser.add_argument("--threads", type=numbers, default=[1, 2])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--make", action="store_true", help="make graphs and builds; measure nothing")
    parser.add_argument("--table", action="store_true", help="print the rows that were measured; measure nothing")
    chosen = parser.parse_args()
    unknown = [name for name in chosen.models if name not in MODELS]
    if unknown:
        parser.error(f"--models: {unknown[0]!r} is not one of {', '.join(MODELS)}")
    rows = [(name, size, threads) for name in chosen.models for size in MODELS[name].sizes
            if not chosen.sizes or size in chosen.sizes for threads in chosen.threads]
    if not rows:
        parser.error("--sizes: no model that was chosen has one of these")
    return chosen, rows


def main():
    chosen, rows = arguments()
    ratios, failed = [], False
    for name, size, threads in rows:
        kept = FOLDER / "rows" / f"{name}_{size}_{threads}.json"
        if chosen.make:
            make(name, size, threads)
            continue
        if not chosen.table:
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps(race(name, size, threads, chosen.rounds)))
        elif not kept.exists():
            continue
        row = json.loads(kept.read_text())
        cells, ratio = row_of(row["samples"])
        if not ratios:
            print(HEAD)
        ratios.append(ratio)
        model = MODELS[name]
        print(f"| {model.title} | {size} {model.unit} | {threads} | {' | '.join(cells)} |", flush=True)
        for engine, difference in row["differences"].items():
            if not difference <= LARGEST_DIFFERENCE:
                print(f"{name}: {engine}: differs by {difference:.3g}", file=sys.stderr)
                failed = True
    if ratios:
        print(f"\nleast {min(ratios):.3f}, geometric mean {statistics.geometric_mean(ratios):.3f}")
    return 1 if failed else 0


CORES = sorted(os.sched_getaffinity(0))

if __name__ == "__main__":
    sys.exit(main())
