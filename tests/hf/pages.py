#!/usr/bin/env python3
"""Makes the checkpoint folders of tests/hf/pages: small random models that read where words are on a page, texts, boxes,
and what transformers makes of them. Words become tokens one by one, as transformers' processors do it.

    config.json, model.safetensors, tokenizer.json, ...   the checkpoint
    texts.txt, boxes.txt                                  a text a line, with its pair after a tab; four numbers a word
    pictures.txt                                          names of tests/pictures/files, one a text; none: no picture
    answers.jsonl                                         the answer to each text

    pages.py            writes all cases
    pages.py CASE ...   only these

Run as goldens.py. Pictures are prepared as those of tests/hf/pictures/vit_labels, which Pillow resized.
"""

import gzip
import json
import random
import shutil
import sys
import zlib
from pathlib import Path

import numpy as np
import torch
import transformers as hf
from tokenizers import Tokenizer

import goldens
import pictures
import texts

HERE = Path(__file__).resolve().parent
MOST, STRIDE = 40, 5  # tokens of a call, and those that neighbouring windows of a pair share
FORMS = ["Invoice No. 4711", "Zürich — naïve café, 東京", "", "  one   more\u3000space ", "Total: 12.50 EUR incl. VAT 19%",
         "a quick brown fox jumps over the lazy dog and sleeps for a very long time in the sun of the south"]
QUESTIONS = ["what is the total?", "where?", "who slept"]
SIZE = {"height": 16, "width": 16}
ROBERTA = {**texts.ROBERTA, "type_vocab_size": 1, "max_2d_position_embeddings": 1024, "coordinate_size": 5, "shape_size": 2,
           "rel_pos_bins": 8, "max_rel_pos": 5, "rel_2d_pos_bins": 12, "max_rel_2d_pos": 300, "input_size": 16, "patch_size": 4}
BERT = {**texts.bert(), "max_2d_position_embeddings": 1024}
LABELS = texts.labels("O", "B-KEY", "I-KEY")

# case: class, configuration, tokenizer, texts, pairs or None, pictures or None
CASES = {
    "page": ("LayoutLMv3ForTokenClassification", {**ROBERTA, **LABELS}, "roberta", FORMS, None,
             ["rgb420.jpg", "grey16.png", "rgba8.png", "palette4.png", "exif6.jpg", "progressive.jpg"]),
    "form": ("LayoutLMForTokenClassification", {**BERT, **LABELS}, "bert_cased", FORMS, None, None),
    "question": ("LayoutLMv3ForQuestionAnswering", ROBERTA, "roberta", QUESTIONS, FORMS[4:5] + FORMS[:2],
                 ["rgb420.jpg", "rgba8.png", "grey16.png"]),
    "asked": ("LayoutLMForQuestionAnswering", BERT, "bert_cased", QUESTIONS, FORMS[4:5] + FORMS[:2], None),
}


def tokenizer_of(folder, name):
    made = json.loads(gzip.open(HERE.parent / f"text/goldens/{name}.json.gz", "rt", encoding="utf-8").read())
    first, last = ("<s>", "</s>") if name == "roberta" else ("[CLS]", "[SEP]")
    for part in ("pre_tokenizer", "post_processor"):  # as LayoutLMv3's
        if "add_prefix_space" in (made[part] or {}):
            made[part].update(add_prefix_space=True, trim_offsets=True)
    (folder / "tokenizer.json").write_text(json.dumps(made, ensure_ascii=False), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps({
        "tokenizer_class": "PreTrainedTokenizerFast", "cls_token": first, "sep_token": last,
        "model_input_names": ["input_ids", "token_type_ids", "attention_mask", "bbox"]}))
    return Tokenizer.from_file(str(folder / "tokenizer.json")), last


def words_of(text):
    """The words, and the bytes of each in the text."""
    found, at, blanks = [], 0, " \t\r\n\f\v"
    for word in "".join(" " if c in blanks else c for c in text).split(" "):
        size = len(word.encode())
        if word:
            found.append((word, at, at + size))
        at += size + 1
    return found


def encode(tokenizer, words, question):
    """Tokens, cut to MOST, or the windows of a pair; with the number of each token's word, or None."""
    tokenizer.enable_truncation(MOST, **({"strategy": "only_first"} if question is None else {
        "stride": STRIDE, "strategy": "only_second"}))
    listed = [word for word, _, _ in words]
    if question is None:
        made = tokenizer.encode(listed, is_pretokenized=True)
        return [(made, made.word_ids)]
    # the question is words, too, and has no boxes
    made = tokenizer.encode([word for word, _, _ in words_of(question)], listed, is_pretokenized=True)
    return [(each, [word if part == 1 else None for word, part in zip(each.word_ids, each.sequence_ids)])
            for each in [made, *made.overflowing]]


def write(name):
    class_name, settings, tokenizer_name, list_of_texts, pairs, files = CASES[name]
    folder = HERE / "pages" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tokenizer, separator = tokenizer_of(folder, tokenizer_name)
    seed = zlib.crc32(name.encode())
    model_class, draw = getattr(hf, class_name), random.Random(seed)
    model = model_class(model_class.config_class(**settings, vocab_size=tokenizer.get_vocab_size()))
    goldens.fill(model, torch.Generator().manual_seed(seed))
    model.half().save_pretrained(folder)
    model = model_class.from_pretrained(folder, dtype=torch.float32).eval()
    prepared = np.load(HERE / "pictures/vit_labels/out_pixel_values.npy")
    if files:
        (folder / "preprocessor_config.json").write_text(json.dumps({
            "apply_ocr": True, "do_normalize": True, "do_resize": True, "feature_extractor_type": "LayoutLMv3FeatureExtractor",
            "image_mean": [0.5] * 3, "image_std": [0.5] * 3, "ocr_lang": None, "resample": 2, "size": SIZE}))
        (folder / "pictures.txt").write_text("\n".join(files) + "\n")
    boxes, answers, wholes = [], [], []
    for i, text in enumerate(list_of_texts):
        page = pairs[i] if pairs else text
        words = words_of(page)
        sides = [[x, y, x + draw.randrange(9, 300), y + draw.randrange(9, 90)]
                 for x, y in ((draw.randrange(700), draw.randrange(900)) for _ in words)]
        boxes.append(" ".join(str(side) for box in sides for side in box))
        found = []
        for made, number in encode(tokenizer, words, text if pairs else None):
            # transformers' pipeline of LayoutLM gives separators the last corner, LayoutLMv3's tokenizer the first
            last = 1000 if class_name.startswith("LayoutLMFor") else 0
            placed = [sides[word] if word is not None else [last * (token == separator)] * 4
                      for word, token in zip(number, made.tokens)]
            given = {"input_ids": torch.tensor([made.ids]), "bbox": torch.tensor([placed])}
            if model.config.type_vocab_size > 1:
                given["token_type_ids"] = torch.tensor([made.type_ids])
            if files:
                given["pixel_values"] = torch.tensor(prepared[[pictures.PICTURES.index(files[i])]])
            with torch.no_grad():
                result = model(**given)
            if pairs:
                found.append(of_span(result, made, number, words, page))
            else:
                found.append(of_words(model, result.logits[0], number, words))
                if made.overflowing:
                    found[-1]["truncated"] = True
        answers.append(max(found, key=lambda each: each["score"]) if pairs else found[0])
    lines = [text + ("\t" + pairs[i] if pairs else "") for i, text in enumerate(list_of_texts)]
    (folder / "texts.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "boxes.txt").write_text("\n".join(boxes) + "\n")
    (folder / "answers.jsonl").write_text("".join(json.dumps(each) + "\n" for each in answers))
    (folder / "generation_config.json").unlink(missing_ok=True)


def of_words(model, logits, number, words):
    """The label of each word's first token."""
    found = []
    for i, word in enumerate(number):
        if word is None or (i > 0 and number[i - 1] == word):
            continue
        label, score = texts.best(torch.softmax(logits[i], -1), 1)[0]
        found.append({"begin": words[word][1], "end": words[word][2], "text": words[word][0],
                      "label": model.config.id2label[label], "score": score})
    return {"tokens": found}


def of_span(result, made, number, words, page):
    """Whole words, from the one of the first token to the one of the last."""
    first_id = made.ids[0]
    count = len(number)
    kept, none = torch.tensor([word is not None for word in number]), torch.tensor([each == first_id for each in made.ids])
    begins, ends = (torch.softmax(scores[0, :count].masked_fill(~kept & ~none, -torch.inf), 0).masked_fill(none, 0)
                    for scores in (result.start_logits, result.end_logits))
    products = torch.triu(begins[:, None] * ends[None, :]).tril(14)
    first, last = divmod(int(products.argmax()), count)
    begin, end = words[number[first]][1], words[number[last]][2]
    return {"answer": page.encode()[begin:end].decode(), "score": float(products.max()), "begin": begin, "end": end}


if __name__ == "__main__":
    for case in sys.argv[1:] or CASES:
        write(case)
