"""Writes what transformers makes of sources for models/numbers:

    answers.json   for each source: its ids; the ids of the most likely answer, token by token; those of the best
                   answer of 4 beams, with its score; and by how much the best choice was above the next, at least
    logits.npy     float32 [sources][vocabulary]: the logits after the first two tokens of the answer

    python3 -m venv V
    V/bin/pip install torch==2.15.0 transformers==5.24.0 tokenizers==0.23.3 numpy==2.4.6
    V/bin/python tests/numbers/goldens.py [--check]       --check compares, and writes nothing
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

HERE = Path(__file__).resolve().parent
MODEL = HERE.parents[1] / "models" / "numbers"
BEAMS = 4
SOURCES = [
    "to digits: two hundred and forty-five thousand three hundred and twenty-one",
    "to digits: Siebzehnter Juli neunzehnhundertneunundachtzig",
    "to digits: quatre-vingt-dix-sept mille deux cent quatre",
    "to digits: el tres de marzo de mil novecientos ochenta y cuatro",
    "to digits: seven",
    "in English: 1984-03-07",
    "in German: 90706",
    "in French: 80",
    "in Spanish: 501212",
    "in German: two \u2603",         # a character that no text of the training has
]


def answer(model, tokenizer, source):
    ids = tokenizer(source, return_tensors="pt")
    told = model.generate(**ids, do_sample=False, num_beams=1, output_logits=True, return_dict_in_generate=True)
    best = torch.cat(told.logits).topk(2).values
    beams = model.generate(**ids, do_sample=False, num_beams=BEAMS, output_scores=True, return_dict_in_generate=True)
    trimmed = [token for token in beams.sequences[0, 1:].tolist() if token != 0]
    return {"source": source, "ids": ids["input_ids"][0].tolist(), "greedy": told.sequences[0, 1:].tolist(),
            "beams": trimmed, "score": round(float(beams.sequences_scores[0]), 6),
            "margin": round(float((best[:, 0] - best[:, 1]).min()), 4)
            }, told.logits[min(2, len(told.logits) - 1)][0].numpy()


def main():
    tokenizer = AutoTokenizer.from_pretrained(MODEL)
    model = AutoModelForSeq2SeqLM.from_pretrained(MODEL, dtype=torch.float32).eval()
    with torch.no_grad():
        answers, logits = zip(*(answer(model, tokenizer, source) for source in SOURCES))
    logits = np.stack(logits)
    if sys.argv[1:] == ["--check"]:
        apart = float(np.abs(np.load(HERE / "logits.npy") - logits).max())
        kept = json.loads((HERE / "answers.json").read_text(encoding="utf-8"))
        bare = lambda list_: [{**each, "margin": 0, "score": 0} for each in list_]
        same = bare(kept) == bare(answers)
        print(f"tokens {'equal' if same else 'differ'}; logits at most {apart:.1e} apart")
        sys.exit(0 if same and apart < 1e-4 else 1)
    (HERE / "answers.json").write_text(
        "[\n" + ",\n".join(json.dumps(each, ensure_ascii=False) for each in answers) + "\n]\n", encoding="utf-8")
    np.save(HERE / "logits.npy", logits)
    for each in answers:
        made = tokenizer.decode(each["greedy"], skip_special_tokens=True)
        print(each["margin"], repr(each["source"]), "->", repr(made))


main()
