#!/usr/bin/env python3
"""Makes the checkpoint folders of tests/hf/texts: small random models with the tokenizers of
tests/text/goldens, texts, and what transformers makes of them.

    config.json, model.safetensors, tokenizer.json, ...   the checkpoint
    texts.txt                                             a text a line, with its pair behind a tab
    lengths.npy, out_NAME.npy                             of all texts, rows of padding 0
    answers.jsonl                                         what a pipeline says, a line a text

    texts.py            writes all cases
    texts.py CASE ...   only these

Run with Python 3.11, torch 2.15.0, transformers 5.23.0, tokenizers 0.23.3, numpy 2.4.6, safetensors 0.8.0.
"""

import gzip
import json
import shutil
import sys
import zlib
from pathlib import Path

import numpy as np
import torch
import transformers as hf

import goldens

HERE = Path(__file__).resolve().parent
MOST = 40  # tokens
WIDTH = goldens.WIDTH
TEXTS = ["how do I reset my password", "the dog", "", "The quick brown fox jumps over the lazy dog, twice!",
         "Zürich — naïve café, 東京 and Ελλάδα", "a " * 60, "don't panic", "x", "one two three four five six seven",
         "the cat sat on the mat and then it slept for a very long time in the sun"]
PAIRS = ["the answer is behind the dog", "a cat", "no", "jump over it", "what is naïve?", "b " * 9, "panic", "y z",
         "eight", "where did the cat sleep?"]
QUESTIONS = ["where is the cat?", "who slept?", "what jumps over the dog", "how long?"]
CONTEXTS = ["The cat sat on the mat.", "It was the dog that slept, not the cat.",
            "A quick brown fox (naïve as it is) jumps over the lazy dog and runs away.", "for a very long time"]


def bert(**more):
    return {"hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": WIDTH,
            "max_position_embeddings": MOST, "layer_norm_eps": 1e-6, **more}


def labels(*names):
    return {"id2label": dict(enumerate(names)), "label2id": {name: i for i, name in enumerate(names)}}


ROBERTA = {**bert(), "max_position_embeddings": MOST + 2, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2,
           "type_vocab_size": 1}

# case: class, configuration, tokenizer, texts, pairs or None, mask token
CASES = {
    "sequence": ("BertForSequenceClassification", bert(**labels("no", "yes", "per\u202ehaps\u001b[31m")), "bert_uncased", TEXTS,
                 None),
    "pairs": ("BertForSequenceClassification", bert(**labels("no", "yes")), "bert_uncased", TEXTS, PAIRS),
    "many": ("RobertaForSequenceClassification",
             {**ROBERTA, **labels("a", "b", "c", "d"), "problem_type": "multi_label_classification"}, "roberta", TEXTS, None),
    "token": ("BertForTokenClassification", bert(**labels("O", "B-X", "I-X")), "bert_cased", TEXTS, None),
    "masked": ("RobertaForMaskedLM", ROBERTA, "roberta",
               ["the <mask> sat on the mat", "<mask>", "a <mask> and a <mask>", "no word is left out"], None),
    "question": ("BertForQuestionAnswering", bert(), "bert_uncased", QUESTIONS, CONTEXTS),
    "sentence": ("BertModel", bert(), "bert_uncased", TEXTS, None),
    "states": ("MPNetModel", {**bert(), "max_position_embeddings": MOST + 2, "pad_token_id": 1}, "mpnet",
               [text for text in TEXTS if text.isascii()], None), # [UNK] is 1 there, which MPNet takes for padding
    "next": ("GPT2LMHeadModel", {"n_positions": MOST, "n_embd": WIDTH, "n_layer": 2, "n_head": 4, "n_inner": WIDTH},
             "gpt2", [text for text in TEXTS if text], None),
}


def tokenizer_of(folder, name):
    text = gzip.open(HERE.parent / f"text/goldens/{name}.json.gz", "rt", encoding="utf-8").read()
    (folder / "tokenizer.json").write_text(text, encoding="utf-8")
    more = {"mask_token": "<mask>"} if name == "roberta" else {}
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", **more}))
    made = hf.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), **more)
    made.pad_token_id = 0
    return made


def best(scores, count):
    order = sorted(range(len(scores)), key=lambda i: -float(scores[i]))[:count]
    return [(i, float(scores[i])) for i in order]


def sigmoid_or_softmax(config, logits):
    many = config.problem_type == "multi_label_classification"
    return (torch.sigmoid(logits) if many else torch.softmax(logits, -1)), many


def of_labels(model, row, *_):
    scores, many = sigmoid_or_softmax(model.config, row["logits"])
    names = model.config.id2label
    listed = [{"label": names[i], "score": score} for i, score in best(scores, len(scores))]
    return {"labels": [each for each in listed if each["score"] >= 0.5]} if many else listed[0]


def byte_places(text, begin, end):
    return len(text[:begin].encode()), len(text[:end].encode())


def of_tokens(model, row, encoding, text, _):
    scores = torch.softmax(row["logits"], -1)
    found = []
    for i, (begin, end) in enumerate(encoding.offsets[:len(scores)]):
        if encoding.special_tokens_mask[i]:
            continue
        number, score = best(scores[i], 1)[0]
        first, last = byte_places(text, begin, end)
        found.append({"begin": first, "end": last, "text": text[begin:end], "label": model.config.id2label[number],
                      "score": score})
    return {"tokens": found}


def of_masks(model, row, encoding, text, tokenizer):
    scores = torch.softmax(row["logits"], -1)
    found = []
    for i, token in enumerate(encoding.ids[:len(scores)]):
        if token != tokenizer.mask_token_id:
            continue
        begin, end = byte_places(text, *encoding.offsets[i])
        found.append({"begin": begin, "end": end, "text": text[slice(*encoding.offsets[i])], "tokens": [
            {"token": tokenizer.decode([each]), "id": each, "score": score} for each, score in best(scores[i], 5)]})
    return {"masks": found}


def of_next(model, row, encoding, text, tokenizer):
    scores = torch.softmax(row["logits"], -1)
    return {"next": [{"token": tokenizer.decode([each]), "id": each, "score": score} for each, score in best(scores, 5)]}


def of_span(model, row, encoding, context, tokenizer):
    kept = torch.tensor([each == 1 for each in encoding.sequence_ids[:len(row["start_logits"])]])
    begins, ends = (torch.softmax(row[name].masked_fill(~kept, -torch.inf), 0) for name in ("start_logits", "end_logits"))
    products = torch.triu(begins[:, None] * ends[None, :]).tril(14)
    first, last = divmod(int(products.argmax()), len(ends))
    begin, end = encoding.offsets[first][0], encoding.offsets[last][1]
    places = byte_places(context, begin, end)
    return {"answer": context[begin:end], "score": float(products.max()), "begin": places[0], "end": places[1]}


def of_embedding(model, row, *_):
    return {"embedding": row["sentence_embedding"].tolist()}


ANSWERS = {"sequence": of_labels, "pairs": of_labels, "many": of_labels, "token": of_tokens, "masked": of_masks,
           "question": of_span, "next": of_next, "sentence": of_embedding}


def sentence_modules(folder):
    kind = "sentence_transformers.models."
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling/config.json").write_text(json.dumps(
        {"word_embedding_dimension": WIDTH, "pooling_mode_mean_tokens": True}))
    parts = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
    (folder / "modules.json").write_text(json.dumps(
        [{"idx": i, "name": str(i), "path": path, "type": kind + word} for i, (path, word) in enumerate(parts)]))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": MOST, "do_lower_case": False}))


def outputs_of(name, class_name, result, length):
    """The outputs of one text by itself."""
    found = {key: result[key][0].float() for key in sorted(goldens.HIDDEN_ONLY & set(result.keys()))}
    if "LMHead" in class_name:
        found["logits"] = found["logits"][length - 1]
    if name == "sentence":
        mean = found["last_hidden_state"].mean(0)
        found = {"sentence_embedding": mean / mean.norm()}
    return found


def write(name):
    class_name, settings, tokenizer_name, texts, pairs = CASES[name]
    folder = HERE / "texts" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    generator = torch.Generator().manual_seed(zlib.crc32(name.encode()))
    tokenizer = tokenizer_of(folder, tokenizer_name)
    model_class = getattr(hf, class_name)
    model = model_class(model_class.config_class(**settings, vocab_size=len(tokenizer)))
    goldens.fill(model, generator)
    model.half().save_pretrained(folder)
    model = model_class.from_pretrained(folder, dtype=torch.float32).eval()
    if name == "sentence":
        sentence_modules(folder)
    rows, answers = [], []
    for i, text in enumerate(texts):
        made = tokenizer(text, pairs[i] if pairs else None, truncation=True, max_length=MOST)
        inputs = {"input_ids": torch.tensor([made["input_ids"]])}
        if getattr(model.config, "type_vocab_size", 0) > 1 and name != "sentence":
            inputs["token_type_ids"] = torch.tensor([made.encodings[0].type_ids])
        length = len(made["input_ids"])
        with torch.no_grad():
            row = outputs_of(name, class_name, model(**inputs), length)
        rows.append((length, row))
        if name in ANSWERS:
            source = pairs[i] if name == "question" else text
            answer = ANSWERS[name](model, row, made.encodings[0], source, tokenizer)
            whole = tokenizer(text, pairs[i] if pairs else None)["input_ids"]
            answers.append({**answer, **({"truncated": True} if len(whole) > MOST else {})})
    longest = max(length for length, _ in rows)
    for key in rows[0][1]:
        values = np.zeros((len(rows), *[longest if n == rows[0][0] and a == 0 and key != "pooler_output" else n
                                        for a, n in enumerate(rows[0][1][key].shape)]), np.float32)
        for i, (_, row) in enumerate(rows):
            each = row[key].numpy()
            values[i][tuple(slice(0, n) for n in each.shape)] = each
        np.save(folder / f"out_{key}.npy", values)
    np.save(folder / "lengths.npy", np.array([length for length, _ in rows], np.int32))
    lines = [text + ("\t" + pairs[i] if pairs else "") for i, text in enumerate(texts)]
    (folder / "texts.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    if answers:
        (folder / "answers.jsonl").write_text("".join(json.dumps(each) + "\n" for each in answers))
    (folder / "generation_config.json").unlink(missing_ok=True)


def main():
    torch.manual_seed(0)
    for name in sys.argv[1:] or CASES:
        write(name)
        print(name)


if __name__ == "__main__":
    main()
