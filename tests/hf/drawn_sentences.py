#!/usr/bin/env python3
"""Draws folders of sentence-transformers: models of several families, modules after them, prompts and limits, and
compares what built programs make of texts with `encode()`, and of pairs of texts with `predict()`.

    drawn_sentences.py COUNT SEED [KIND ...]     COUNT folders of each kind, or of these: embedding, cross, splade, free

A build must refuse a folder by a key in one line, or give the same numbers as drawn_encoders.py allows. Run as search.py.
"""

import collections
import json
import random
import re
import shutil
import subprocess
import sys

import numpy as np
import sentence_transformers as st
import torch
import transformers as hf
from safetensors.torch import save_file

import drawn_encoders
from drawn_configs import FAMILIES, USUAL
from drawn_encoders import BROKEN, HIDDEN, NOISE, ROOT, ROUNDING, SPREAD
from goldens import fill
from search import TEXTS, WORDS

OUT = ROOT / "out/drawn_sentences"
BASES = ["bert", "distilbert", "xlm-roberta", "modernbert", "nomic_bert", "electra", "gte"]
MODES = ["cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"]
OLD = ["cls_token", "max_tokens", "mean_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken"]
FUNCTIONS = ["Tanh", "ReLU", "GELU", "SiLU", "Sigmoid"]
PROMPTS = {"query": "the query - ", "document": "", "passage": "a mat, "}


def write(path, values):
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(values, indent=1))


def base(r, folder, generator, head, number):
    """A model with a tokenizer of WORDS. Returns its width."""
    family = r.choice(BASES)
    model_type, begin, draw, _ = FAMILIES[family]
    settings = draw(r)
    while settings.get("rope_parameters", {}).get("rope_type") == "dynamic" and (
            settings["hidden_size"] == 2 * settings["num_attention_heads"]):  # divides by zero
        settings = draw(r)
    settings |= {"vocab_size": len(WORDS), "pad_token_id": 0, "problem_type": None,
                          "max_position_embeddings": r.choice([16, 24, 40])}
    for key in ("hidden_act", "hidden_activation", "activation", "classifier_activation"):
        if key in settings and settings[key] not in USUAL:
            settings[key] = "gelu"
    model_class = getattr(hf, begin + head)
    if head == "ForSequenceClassification":
        settings["num_labels"] = r.choice([1, 1, 1, 1, 2])
    model = model_class(model_class.config_class(**settings))
    fill(model, generator)
    model.save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    tokenizer = hf.BertTokenizer(str(folder / "vocab.txt"), do_lower_case=r.random() < 0.7)
    if r.random() < 0.5:
        tokenizer.model_max_length = r.choice([8, 12, 16])
    tokenizer.model_input_names = ["input_ids", "attention_mask"] + ["token_type_ids"] * (
        getattr(model.config, "type_vocab_size", 0) > 1 and r.random() < 0.7)
    tokenizer.save_pretrained(folder)
    (folder / "vocab.txt").unlink()
    if r.random() < 0.6:
        write(folder / "sentence_bert_config.json", {"max_seq_length": r.choice([8, 13, 16, None]), "do_lower_case": False})
    return model.config.hidden_size, family


def embedding(r, folder, generator, number):
    width, family = base(r, folder, generator, "Model", number)
    modules = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}]

    def add(word):
        place = f"{len(modules)}_{word}"
        modules.append({"idx": len(modules), "name": str(len(modules)), "path": place,
                        "type": f"sentence_transformers.models.{word}"})
        return folder / place
    chosen = r.sample(range(len(MODES)), r.choice([1, 1, 1, 2, 3]))
    place, settings = add("Pooling"), {"word_embedding_dimension": width}
    form = r.choice(["old", "word", "list", "default"])
    if form == "old":
        settings |= {f"pooling_mode_{mode}": i in chosen for i, mode in enumerate(OLD)}
        chosen.sort()
    elif form == "word":
        chosen = chosen[:1]
        settings["pooling_mode"] = MODES[chosen[0]]
    elif form == "list":
        settings["pooling_mode"] = [MODES[i] for i in chosen]
    else:
        chosen = [2]
    if r.random() < 0.3:
        settings["include_prompt"] = r.choice([True, False])
    if r.random() < 0.3:
        settings["embedding_dimension"] = settings.pop("word_embedding_dimension")
    write(place / "config.json", settings)
    width *= len(chosen)
    for word in r.choices(["Dense", "Normalize", "LayerNorm", "Dropout"], k=r.randint(0, 3)):
        place = add(word)
        if word == "Dense":
            out = r.choice([5, 8, 17])
            settings = {"in_features": width, "out_features": out}
            if r.random() < 0.7:
                settings["bias"] = r.random() < 0.6
            if r.random() < 0.8:
                settings["activation_function"] = r.choice([f"torch.nn.modules.activation.{f}" for f in FUNCTIONS] + [
                    "torch.nn.modules.linear.Identity", "torch.nn.modules.activation.Mish", None])
            if r.random() < 0.1:
                settings["use_residual"] = r.choice([False, True])
            tensors = {"linear.weight": 0.5 * torch.randn(out, width, generator=generator)}
            if settings.get("bias", True):
                tensors["linear.bias"] = 0.5 * torch.randn(out, generator=generator)
            if settings.get("use_residual") and out != width:
                tensors["residual.weight"] = 0.5 * torch.randn(out, width, generator=generator)
            write(place / "config.json", settings)
            save_file(tensors, place / "model.safetensors")
            width = out
        elif word == "LayerNorm":
            write(place / "config.json", {"dimension": width})
            save_file({"norm.weight": 1 + 0.3 * torch.randn(width, generator=generator),
                       "norm.bias": 0.3 * torch.randn(width, generator=generator)}, place / "model.safetensors")
        elif word == "Dropout":
            write(place / "config.json", {"dropout": 0.2})
    write(folder / "modules.json", modules)
    settings, asked = {}, []
    if r.random() < 0.6:
        settings["prompts"] = dict(r.sample(sorted(PROMPTS.items()), r.randint(1, 3)))
        settings["default_prompt_name"] = r.choice([None, *settings["prompts"]])
        asked = [None, *settings["prompts"]]
    if r.random() < 0.2:
        settings["truncate_dim"] = r.choice([None, 3, 100])
    if r.random() < 0.5:
        settings["similarity_fn_name"] = r.choice(["cosine", "dot"])
    if settings or r.random() < 0.5:
        write(folder / "config_sentence_transformers.json", settings)
    return family, asked or [None]


def cross(r, folder, generator, number):
    family = base(r, folder, generator, "ForSequenceClassification", number)[1]
    settings = json.loads((folder / "config.json").read_text())
    place = r.choice(["config", "old", "settings", "none"])
    function = "torch.nn.modules." + r.choice(["activation.Sigmoid", "linear.Identity", "activation.Sigmoid", "activation.Tanh"])
    if place == "config":
        settings["sentence_transformers"] = {"activation_fn": function, "version": "6.2.0"}
    elif place == "old":
        settings["sbert_ce_default_activation_function"] = function
    elif place == "settings":
        prompts = {"prompts": PROMPTS, "default_prompt_name": r.choice([None, "query", "passage"])}
        write(folder / "config_sentence_transformers.json", {"model_type": "CrossEncoder", "activation_fn": function,
                                                             **(prompts if r.random() < 0.6 else {})})
        write(folder / "modules.json", [{"idx": 0, "name": "0", "path": "", "type":
                                         "sentence_transformers.base.modules.transformer.Transformer"}])
        write(folder / "sentence_bert_config.json", {"transformer_task": "sequence-classification"})
    write(folder / "config.json", settings)
    return family, [None]


def free(r, folder, generator, number):
    """Documents of SPLADE through a model, and queries through a table."""
    inner = folder / r.choice(["document_0_Transformer", "document_0_MLMTransformer", "."])
    inner.mkdir(parents=True, exist_ok=True)
    family, _ = splade(r, inner, generator, number)
    settings = {"model_type": "SparseEncoder", "prompts": dict(r.sample(sorted(PROMPTS.items()), r.randint(0, 2)))}
    document, query = "" if inner == folder else inner.name, "query_0_SparseStaticEmbedding"
    (inner / "1_SpladePooling").rename(folder / "document_1_SpladePooling")
    (inner / "modules.json").unlink()
    (inner / "config_sentence_transformers.json").unlink()
    write(folder / "modules.json", [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Router"}])
    write(folder / "config_sentence_transformers.json", settings)
    kind = "sentence_transformers.sparse_encoder.models."
    write(folder / "router_config.json", {
        "types": {document: kind + "MLMTransformer", "document_1_SpladePooling": kind + "SpladePooling",
                  query: kind + "SparseStaticEmbedding"},
        "structure": {"query": [query], "document": [document, "document_1_SpladePooling"]},
        "parameters": {"default_route": r.choice(["query", "document"]), "allow_empty_key": True}})
    write(folder / query / "config.json", {"frozen": r.random() < 0.5})
    for path in inner.glob("tokenizer*"):
        shutil.copy(path, folder / query)
    save_file({"weight": torch.randn(len(WORDS), generator=generator)}, folder / query / "model.safetensors")
    limits, path = inner / "sentence_bert_config.json", folder / query / "tokenizer_config.json"
    most = json.loads(limits.read_text()).get("max_seq_length") if limits.exists() else None
    if most:  # queries are cut as documents are
        write(path, json.loads(path.read_text()) | {"model_max_length": most})
    return family, ["query", "document"]


def splade(r, folder, generator, number):
    family = base(r, folder, generator, "ForMaskedLM", number)[1]
    write(folder / "modules.json", [
        {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.sparse_encoder.models.{word}"}
        for i, (path, word) in enumerate([("", "MLMTransformer"), ("1_SpladePooling", "SpladePooling")])])
    write(folder / "config_sentence_transformers.json", {"model_type": "SparseEncoder"})
    write(folder / "1_SpladePooling/config.json", {
        "pooling_strategy": r.choice(["max", "max", "max", "sum"]), "activation_function": r.choice(["relu", "relu", "log1p_relu"]),
        "word_embedding_dimension": r.choice([None, len(WORDS)])})
    return family, [None]


def opened(kind, folder):
    if kind == "cross":
        return st.CrossEncoder(str(folder), device="cpu")
    return (st.SentenceTransformer if kind == "embedding" else st.SparseEncoder)(str(folder), device="cpu").eval()


def results(kind, model, asked):
    """What a model makes of the texts, for each prompt that is asked for."""
    with torch.no_grad():
        if kind == "cross":
            return [model.predict(list(zip(TEXTS, TEXTS[1:] + TEXTS[:1])), convert_to_numpy=True)]
        if kind == "free":
            found = [getattr(model, f"encode_{name}")(TEXTS, convert_to_tensor=True, batch_size=1) for name in asked]
        else:
            found = [model.encode(TEXTS, convert_to_tensor=True, batch_size=1, **({"prompt_name": name} if name else {}))
                     for name in asked]
        return [(each.to_dense() if each.is_sparse else each).numpy() for each in found]


def case_of(kind, number, seed):
    r, folder = random.Random(f"{kind} {number} {seed}"), OUT / "folders" / f"{kind}_{number}"
    generator = torch.Generator().manual_seed(r.randrange(2**31))
    torch.manual_seed(number)
    family, asked = globals()[kind](r, folder, generator, number)
    case = {"name": folder.name, "family": family, "asked": asked, "words": ["--text", "--notes"]}
    try:
        model = opened(kind, folder)
        case["want"] = results(kind, model, asked)
    except Exception as problem:
        case["none"] = f"{type(problem).__name__}: {problem}".split("\n")[0][:120]
        return case
    with torch.no_grad():
        for values in model.parameters():
            values.mul_(1 + NOISE * torch.randn(values.shape, generator=generator))
    case["other"] = results(kind, model, asked)
    return case


def numbers(case, name, prompt):
    """What a program answers, or a fault."""
    words = [f"{name}/{name}", "run", "--weights", f"folders/{name}", "--format", "jsonl" if name.startswith("cross") else "npy"]
    for text, other in zip(TEXTS, TEXTS[1:] + TEXTS[:1]):
        words += ["--text", text] + (["--pair", other] if name.startswith("cross") else [])
    ran = subprocess.run(words + (["--prompt", prompt] if prompt else []), cwd=OUT, capture_output=True, check=False)
    if ran.returncode != 0:
        return f"BROKEN status {ran.returncode}: {ran.stderr.decode()[-300:]}"
    if name.startswith("cross"):
        lines = [json.loads(line) for line in ran.stdout.splitlines()]
        return np.array([line["score"] for line in lines])
    (OUT / name / "x.npy").write_bytes(ran.stdout)
    return np.load(OUT / name / "x.npy")


def differs(case):
    name = case["name"]
    log = (OUT / f"{name}.log").read_text()
    if not (OUT / name / name).exists():
        return ("BROKEN " if BROKEN.search(log) or not log else "refused ") + log
    if case.get("none", "").startswith("IndexError"):
        return None  # texts are longer than the model's positions; programs cut them
    if "none" in case:
        return f"BROKEN builds what sentence-transformers does not open: {case['none']}"
    for prompt, want, other in zip(case["asked"], case["want"], case["other"]):
        got = numbers(case, name, prompt)
        if isinstance(got, str):
            return got
        if name.startswith("cross") and want.ndim > 1:
            continue  # of several labels, the program says the likeliest
        if got.shape != want.shape:
            return f"DIFFERS prompt {prompt}: shape {got.shape}, expected {want.shape}"
        allowed = ROUNDING * max(1, np.abs(want).max()) + SPREAD * np.abs(want - other).max()
        if allowed > HIDDEN * max(1e-3, np.abs(want).max()):
            continue
        if not np.abs(got - want).max() <= allowed:
            rows = np.abs(got - want).reshape(len(got), -1).max(1)
            return f"DIFFERS prompt {prompt}: by {rows.round(5).tolist()}, allowed {allowed:.2g}; {log}"
    return None


def main():
    count, seed = int(sys.argv[1]), sys.argv[2]
    shutil.rmtree(OUT, ignore_errors=True)
    (OUT / "folders").mkdir(parents=True)
    drawn_encoders.OUT = OUT
    hf.logging.set_verbosity_error()
    hf.logging.disable_progress_bar()
    said, failed, agree = collections.Counter(), 0, 0
    for kind in sys.argv[3:] or ("embedding", "cross", "splade", "free"):
        cases = [case_of(kind, number, seed) for number in range(count)]
        drawn_encoders.build(cases)
        for case in cases:
            problem = differs(case)
            if problem is None:
                agree += 1
                shutil.rmtree(OUT / case["name"], ignore_errors=True)
            elif problem.startswith("refused"):
                none = f" (not opened: {case['none']})" if "none" in case else ""
                said[f"{case['family']}{none}: " + re.sub("[0-9]+", "N", problem)] += 1
            else:
                failed += 1
                print(case["name"], case["family"], problem, flush=True)
    for line, times in sorted(said.items()):
        print(f"{times}x {line.strip()}")
    print(f"{agree} folders agree, {sum(said.values())} are refused, {failed} fail")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
