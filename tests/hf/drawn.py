#!/usr/bin/env python3
"""Draws what generation_config.json says for the folders of tests/hf/translations, and compares the answers of built
programs with transformers': tokens, and scores of beams.

    drawn.py COUNT SEED [CASE ...]     COUNT settings of each folder, or of these; exit 1 if an answer differs

Builds are in out/drawn; each takes a second or two. An answer is not compared if weights that differ by NOISE change it.
Keys that are left out with a line are drawn, too: answers are then those without them. Run as translations.py.
"""

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

import torch
import transformers as hf

import translations

ROOT = Path(__file__).resolve().parent.parent.parent
OUT = ROOT / "out/drawn"
NOISE = 1e-5
SOURCES = translations.SOURCES[:1] + translations.SOURCES[3:5]
KEPT = ("decoder_start_token_id", "pad_token_id", "eos_token_id")
LEFT_OUT = {"encoder_no_repeat_ngram_size": 2, "encoder_repetition_penalty": 1.4, "sequence_bias": [[[5], 2.0]],
            "exponential_decay_length_penalty": [3, 1.2]}


def draw(r, stated, vocabulary, likely):
    """Settings: often tokens that the model likes to write."""
    made, end = {key: stated[key] for key in KEPT if stated.get(key) is not None}, stated["eos_token_id"]

    def token():
        return r.choice(likely) if r.random() < 0.7 else r.randrange(vocabulary)

    def tokens(most):
        return [token() for _ in range(r.randint(1, most))]

    def may(key, probability, value):
        if r.random() < probability:
            made[key] = value()

    may("num_beams", 0.8, lambda: r.randint(1, 5))
    may("length_penalty", 0.5, lambda: r.choice([-2.0, -0.5, 0.0, 0.6, 1, 3, 8]))
    may("early_stopping", 0.5, lambda: r.choice([True, False, "never"]))
    may("no_repeat_ngram_size", 0.5, lambda: r.randint(0, 4))
    may("repetition_penalty", 0.4, lambda: r.choice([0.7, 1.0, 1.3, 2.5]))
    may("forced_bos_token_id", 0.3, token)
    may("forced_eos_token_id", 0.3, lambda: r.choice([end, [end], token()]))
    may("bad_words_ids", 0.3, lambda: [tokens(3) for _ in range(r.randint(1, 4))])
    forced = [end, made.get("forced_bos_token_id"), made.get("forced_eos_token_id")]  # refused if they are suppressed
    may("suppress_tokens", 0.2, lambda: [each for each in tokens(4) if each not in forced])
    may("begin_suppress_tokens", 0.2, lambda: tokens(3))
    may("renormalize_logits", 0.3, lambda: True)
    may("remove_invalid_values", 0.2, lambda: True)
    may("eos_token_id", 0.3, lambda: [end, *tokens(2)])
    may("max_new_tokens", 0.6, lambda: r.choice([2, 7, 11, 16]))
    if "max_new_tokens" not in made or r.random() < 0.2:
        made["max_length"] = r.choice([3, 8, 12, 20])
    may("min_length", 0.3, lambda: r.choice([0, 2, 5, 9]))
    may("min_new_tokens", 0.25, lambda: r.choice([0, 3, 7]))
    for key, value in LEFT_OUT.items():
        may(key, 0.1, lambda value=value: value)
    return made


def answer(model, tokenizer, stated, source, count):
    """The answers to a source, best first: ids, and scores of beams; without places that no answer took."""
    model.generation_config = hf.GenerationConfig.from_dict(
        {key: value for key, value in stated.items() if key not in LEFT_OUT} | {"do_sample": False})
    with torch.no_grad():
        made = model.generate(**tokenizer(source, return_tensors="pt"), output_scores=True, return_dict_in_generate=True,
                              num_return_sequences=count)
    ends = stated["eos_token_id"] if isinstance(stated["eos_token_id"], list) else [stated["eos_token_id"]]
    rows = []
    for i, ids in enumerate(made.sequences[:, 1:].tolist()):
        score = made.sequences_scores[i].item() if made.get("sequences_scores") is not None else None
        if score is None or score > -1e8:
            rows.append((ids[:next((j + 1 for j, each in enumerate(ids) if each in ends), len(ids))], score))
    return rows


def cases_of(name, count, seed):
    """Writes a folder for each drawn setting. Returns their names, settings, and the answers that are expected."""
    class_name, folder = translations.CASES[name][0], translations.HERE / name
    model = getattr(hf, class_name).from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = (hf.T5Tokenizer if name == "umt5" else hf.AutoTokenizer).from_pretrained(folder)
    own = {key: value.clone() for key, value in model.state_dict().items()}
    lines = [json.loads(line) for line in (folder / "answers.jsonl").read_text().splitlines()]
    likely = sorted({i for line in lines for row in line["answers"] for each in row for i in each["ids"]})
    stated = json.loads((folder / "generation_config.json").read_text())
    r, cases = random.Random(f"{name} {seed}"), []
    for number in range(count):
        made = draw(r, stated, model.get_output_embeddings().weight.shape[0], likely)
        best = r.randint(1, made.get("num_beams", 1))
        want = [answer(model, tokenizer, made, source, best) for source in SOURCES]
        generator = torch.Generator().manual_seed(number)
        with torch.no_grad():
            for values in model.parameters():
                values.mul_(1 + NOISE * torch.randn(values.shape, generator=generator))
        other = [answer(model, tokenizer, made, source, best) for source in SOURCES]
        model.load_state_dict(own)
        clear = [[each[0] for each in a] == [each[0] for each in b] for a, b in zip(want, other)]
        place = OUT / "folders" / f"{name}_{number}"
        shutil.copytree(folder, place)
        (place / "generation_config.json").write_text(json.dumps(made))
        cases.append((place.name, made, best, want, clear))
    return cases


def build(cases):
    """Builds a program of each folder, on all processors."""
    words = ["\n".join([f"folders/{case[0]}", case[0], "--text", "kernels=c", "--answers"]) for case in cases]
    subprocess.run(["xargs", "-0", "-P", "2", "-n", "4", "lua5.4", str(ROOT / "tests/program.lua"), "--each"], cwd=OUT,
                   input="\0".join(words).encode(), check=True)


def differs(case):
    """What a program answers, if it differs from what is expected."""
    name, stated, best, want, clear = case
    ran = subprocess.run([f"{name}/{name}", "generate", "--weights", f"folders/{name}", "--format", "jsonl",
                          *[word for source in SOURCES for word in ("--prompt", source)],
                          *(["--n-best", str(best)] if best > 1 else [])], cwd=OUT, capture_output=True, text=True, check=False)
    got = [json.loads(line) for line in ran.stdout.splitlines()]
    if ran.returncode != 0 or len(got) != sum(map(len, want)):
        return f"status {ran.returncode}: {ran.stderr}{len(got)} answers"
    for source, rows in enumerate(want):
        for ids, score in rows:
            made = got.pop(0)
            allowed = 1e-4 * len(ids) / len(ids) ** stated.get("length_penalty", 1) + 1e-6 * abs(score or 0)
            if clear[source] and (made["ids"] != ids or score is not None and abs(made["score"] - score) > allowed):
                return f"source {source}: {made['ids']} {made.get('score')}, expected {ids} {score}"
    return None


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    (OUT / "folders").mkdir(parents=True)
    cases = [case for name in sys.argv[3:] or translations.CASES for case in cases_of(name, int(sys.argv[1]), sys.argv[2])]
    build(cases)
    found = [(case, problem) for case in cases if (problem := differs(case))]
    for case, problem in found:
        print(case[0], problem, json.dumps(case[1]))
    print(f"{len(cases)} settings, {len(found)} differ, {sum(not all(case[4]) for case in cases)} have unclear answers")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
