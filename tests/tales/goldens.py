"""Writes what transformers makes of prompts for models/tales:

    greedy.json    for each prompt: its ids, the most likely tokens one after the other up to the end of the tale or 48,
                   and how far the best logit is above the second at least
    logits.npy     float32 [prompts][1536]: the logits of each prompt's last token, of LlamaForCausalLM in float32

    python3 -m venv V
    V/bin/pip install torch==2.15.0 transformers==5.23.0 tokenizers==0.23.3 numpy==2.4.6
    V/bin/python tests/tales/goldens.py [--check]       --check compares, and writes nothing
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

HERE = Path(__file__).resolve().parent
MODEL = HERE.parents[1] / "models" / "tales"
TOKENS = 48
PROMPTS = [
    "Once upon a time",
    "An old miller called Jonathan",
    "Once there was a little mouse named Tilda.",
    "There was once an old owl",
    "Poppy and her friend Max, a hare, did everything together. But one morning they found",
    "\"What has a neck and no head?\" asked",
    "\"I am afraid,\" said",
    "There was no gold.\nThere was",
    "Z\u00e4hle 1, 2, 3 \u2014 \U0001f98a ja:",         # bytes that no tale has
]


def greedy(model, tokenizer, prompt):
    ids = tokenizer(prompt, return_tensors="pt")
    told = model.generate(**ids, do_sample=False, max_new_tokens=TOKENS, output_logits=True, return_dict_in_generate=True,
                          pad_token_id=tokenizer.eos_token_id)
    logits = torch.cat(told.logits)
    best = logits.topk(2).values
    count = ids["input_ids"].shape[1]
    return {"prompt": prompt, "ids": ids["input_ids"][0].tolist(), "greedy": told.sequences[0, count:].tolist(),
            "margin": round(float((best[:, 0] - best[:, 1]).min()), 4)}, logits[0].numpy()


def main():
    tokenizer = AutoTokenizer.from_pretrained(MODEL)
    model = AutoModelForCausalLM.from_pretrained(MODEL, dtype=torch.float32).eval()
    model.generation_config.update(do_sample=False, temperature=None, top_k=None)
    with torch.no_grad():
        answers, logits = zip(*(greedy(model, tokenizer, prompt) for prompt in PROMPTS))
    logits = np.stack(logits)
    if sys.argv[1:] == ["--check"]:
        apart = float(np.abs(np.load(HERE / "logits.npy") - logits).max())
        kept = json.loads((HERE / "greedy.json").read_text(encoding="utf-8"))
        same = [{**answer, "margin": 0} for answer in kept] == [{**answer, "margin": 0} for answer in answers]
        print(f"tokens {'equal' if same else 'differ'}; logits at most {apart:.1e} apart")
        sys.exit(0 if same and apart < 1e-4 else 1)
    (HERE / "greedy.json").write_text(
        "[\n" + ",\n".join(json.dumps(answer, ensure_ascii=False) for answer in answers) + "\n]\n", encoding="utf-8")
    np.save(HERE / "logits.npy", logits)
    for answer in answers:
        print(answer["margin"], repr(answer["prompt"]), "->", repr(tokenizer.decode(answer["greedy"])))


main()
