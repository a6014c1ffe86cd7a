#!/usr/bin/env python3
"""Makes the checkpoint folders of tests/hf/long with Hugging Face's transformers: texts of 8,192 tokens.

Each is a small random model of a family that takes 8,192 tokens, with two sequences, one after the other as a model
of any length takes them, and the logits that transformers computes for each. Files are as goldens.py writes them.

Run it with the versions that goldens.py names.
"""

from pathlib import Path

import numpy as np
import torch

import cases
import goldens

FOLDER = Path(__file__).resolve().parent / "long"
LENGTHS = [8192, 4999]
SIZES = {"hidden_size": 32, "num_attention_heads": 1, "intermediate_size": 32, "max_position_embeddings": 8192}
CASES = {
    # One layer sees all tokens and one a window.
    "modernbert": ("ModernBertForSequenceClassification", {
        **cases.MODERN, **cases.LABELS, **SIZES, "num_hidden_layers": 2, "local_attention": 128,
        "classifier_pooling": "mean"}),
    "jina_bert": ("JinaBertForSequenceClassification", {
        **cases.CASES["jina_bert_sequence"][1], **SIZES, "num_hidden_layers": 1,
        "type_vocab_size": 1}),
}


def write(name):
    class_name, settings = CASES[name]
    folder = FOLDER / name
    model, generator = goldens.save(folder, class_name, settings)
    if "Jina" in class_name:
        goldens.published_jina(folder)
    texts = [torch.randint(4, cases.VOCAB, (1, length), generator=generator) for length in LENGTHS]
    with torch.no_grad():
        logits = [model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits[0] for ids in texts]
    np.save(folder / "in_input_ids.npy", torch.cat(texts, 1)[0].numpy().astype(np.int32))
    np.save(folder / "in_lengths.npy", np.array(LENGTHS, np.int32))
    np.save(folder / "out_logits.npy", torch.stack(logits).numpy())


if __name__ == "__main__":
    for case in CASES:
        write(case)
        print(case)
