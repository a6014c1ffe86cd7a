"""Writes what Hugging Face's libraries give for the texts of models/language:

    cases.gz       each text of sentences.tsv, then of held.tsv: ids, types and places, as tests/text/cases.py has them
    logits.npy     float32 [80][20]: the logits of the sentences, of BertForSequenceClassification in float32

    python3 -m venv V
    V/bin/pip install torch==2.15.0 transformers==5.23.0 tokenizers==0.23.3 numpy==2.4.6 sentencepiece==0.2.1 protobuf==7.36.2
    V/bin/python tests/language/goldens.py [--check]        --check compares, and writes nothing
"""

import gzip
import sys
from pathlib import Path

import numpy as np
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

HERE = Path(__file__).resolve().parent
MODEL = HERE.parents[1] / "models" / "language"
sys.path.insert(0, str(HERE.parent / "text"))

from cases import record, run  # noqa: E402  (beside the tokenizers' goldens)


def texts_of(name):
    return [row.split("\t")[1] for row in (MODEL / name).read_text(encoding="utf-8").splitlines()]


def logits_of(tokenizer, texts):
    model = AutoModelForSequenceClassification.from_pretrained(MODEL, dtype=torch.float32).eval()
    with torch.no_grad():
        return np.concatenate([model(**tokenizer(text, return_tensors="pt")).logits.numpy() for text in texts])


def main():
    tokenizer = AutoTokenizer.from_pretrained(MODEL)
    sentences = texts_of("sentences.tsv")
    texts = [text.encode() for text in sentences + texts_of("held.tsv")]
    cases = [(index, None, 0, None, 0, 0) for index in range(len(texts))]
    made = b"".join(record(tokenizer.backend_tokenizer, case, run(tokenizer.backend_tokenizer, texts, case))
                    for case in cases)
    logits = logits_of(tokenizer, sentences)
    if sys.argv[1:] == ["--check"]:
        same = gzip.decompress((HERE / "cases.gz").read_bytes()) == made
        apart = float(np.abs(np.load(HERE / "logits.npy") - logits).max())
        print(f"cases {'equal' if same else 'differ'}; logits at most {apart:.1e} apart")
        sys.exit(0 if same and apart < 1e-5 else 1)
    (HERE / "cases.gz").write_bytes(gzip.compress(made, 9, mtime=0))
    np.save(HERE / "logits.npy", logits)
    print(len(texts), "texts,", logits.shape, "logits")


main()
