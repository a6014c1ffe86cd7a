#!/usr/bin/env python3
"""Makes the checkpoint folders of tests/hf/spans: small random models of GLiNER, texts, and the spans that it finds.

    gliner_config.json, model.safetensors, ...    the folder, as save_pretrained() writes it; or as urchade's models are
                                                  published, with pytorch_model.bin, and config.json and tokenizer of
                                                  the encoder's own model put into it
    texts.txt                                     a text a line
    spans.jsonl                                   an object for each call: labels, options, and the spans of each text:
                                                  [first character, end character, label, score]

    spans.py            writes all cases
    spans.py CASE ...   only these

Run with Python 3.11, torch 2.15.0, transformers 5.24.0, safetensors 0.8.0, gliner 0.2.29.
"""

import gzip
import json
import shutil
import sys
import tempfile
from pathlib import Path

import torch
import transformers as hf
from gliner import GLiNER
from gliner.model import UniEncoderSpanGLiNER, UniEncoderTokenGLiNER
from safetensors.torch import load_file, save_file

import goldens

HERE = Path(__file__).resolve().parent
WIDTH, MOST = 24, 192
TEXTS = ["Ada Lovelace met Charles Babbage in London.", "the well-known snake_case (v1.2) naïve — café, ½ 7th!",
         "Ünïcode: 東京 हिदी", "one", "a\tb\u00a0c  d", "Wo ist der Bahnhof? Kde je nádraží? " * 3]
CALLS = [
    {"labels": ["person", "place"], "threshold": 0.5},
    {"labels": ["place", "a longer label", "person", "place"], "threshold": 0.45},
    {"labels": ["person", "place", "year"], "threshold": 0.4, "nested": True},
    {"labels": ["person", "place", "year"], "threshold": 0.4, "multi_label": True},
    {"labels": ["person", "place"], "threshold": 0.4, "nested": True, "multi_label": True},
]
SEEDS = {"bert": 5, "words": 3}    # ones with scores on both sides of the thresholds
SMALL = {"hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": WIDTH,
         "max_position_embeddings": MOST}
CASES = {
    # a linear layer makes the encoder's states narrower
    "deberta": ("deberta", {"model_type": "deberta-v2", **SMALL, "relative_attention": True, "position_buckets": 8,
                            "norm_rel_ebd": "layer_norm", "share_att_key": True, "pos_att_type": ["p2c", "c2p"],
                            "position_biased_input": False, "type_vocab_size": 0},
                {"hidden_size": 16, "max_width": 4}),
    "bert": ("bert_uncased", {"model_type": "bert", **SMALL},
             {"hidden_size": WIDTH, "num_rnn_layers": 2, "max_width": 12, "max_len": 9}),
    "modernbert": ("roberta", {"model_type": "modernbert", **SMALL, "global_attn_every_n_layers": 2, "local_attention": 8,
                               "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "cls_token_id": 0,
                               "sep_token_id": 2},
                   {"hidden_size": WIDTH, "num_rnn_layers": 0, "max_width": 3}),
    # words are scored, not spans
    "words": ("bert_uncased", {"model_type": "bert", **SMALL}, {"hidden_size": 20, "span_mode": "token_level"}),
}
# The keys of a published gliner_config.json that say something; tokens of the encoder's model are added when it is read.
PUBLISHED = {"model_name": "microsoft/deberta-v3-small", "max_width": 5, "hidden_size": 16, "dropout": 0.4,
             "fine_tune": True, "subtoken_pooling": "first", "span_mode": "marker", "max_types": 25, "max_len": 384,
             "ent_token": "<<ENT>>", "sep_token": "<<SEP>>", "name": "span level gliner", "num_steps": 30000}


def tokenizer_of(folder, name):
    text = gzip.open(HERE.parent / f"text/goldens/{name}.json.gz", "rt", encoding="utf-8").read()
    (folder / "tokenizer.json").write_text(text, encoding="utf-8")
    names = {word for token in json.loads(text)["added_tokens"] for word in [token["content"]]}
    usual = [("unk_token", "[UNK] <unk>"), ("pad_token", "[PAD] <pad>"), ("cls_token", "[CLS] <s>"),
             ("sep_token", "[SEP] </s>"), ("mask_token", "[MASK] <mask>")]
    more = {key: word for key, words in usual for word in words.split() if word in names}
    made = hf.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), model_max_length=MOST, **more)
    made.save_pretrained(folder)


def spans_of(model, call):
    options = {"threshold": call["threshold"], "flat_ner": not call.get("nested", False),
               "multi_label": call.get("multi_label", False)}
    return [[[each["start"], each["end"], each["label"], each["score"]]
             for each in model.predict_entities(text, call["labels"], **options)] for text in TEXTS]


def results(folder, model, name):
    lines = [json.dumps({**call, "spans": spans_of(model, call)}, ensure_ascii=False) + "\n" for call in CALLS]
    (folder / "spans.jsonl").write_text("".join(lines), encoding="utf-8")
    (folder / "texts.txt").write_text("".join(text + "\n" for text in TEXTS), encoding="utf-8")
    print(name, [sum(len(each) for each in json.loads(line)["spans"]) for line in lines])


def write_published(name):
    """Makes the folder and its encoder's; the library reads the tokenizer and the configuration from the latter."""
    folder = HERE / "spans" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as place:
        encoder = Path(place)
        shutil.copy(HERE.parent / "text/pieces/DebertaV2Tokenizer.model", encoder / "spm.model")
        (encoder / "tokenizer_config.json").write_text('{"do_lower_case": false, "vocab_type": "spm"}\n')
        rows = len(hf.DebertaV2Tokenizer.from_pretrained(encoder))
        config = {**CASES["deberta"][1], "vocab_size": rows + 7}
        (encoder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
        own = {**PUBLISHED, "model_name": str(encoder)}
        model = UniEncoderSpanGLiNER.load_from_config(own, backbone_from_pretrained=False)
        goldens.fill(model.model, torch.Generator().manual_seed(24))
        for each in encoder.iterdir():
            shutil.copy(each, folder)
        torch.save(model.model.state_dict(), folder / "pytorch_model.bin")
        for file in "tokenizer_config.json", "spm.model":
            (folder / file).unlink()
        (folder / "gliner_config.json").write_text(json.dumps(own, indent=2) + "\n")
        results(folder, GLiNER.from_pretrained(str(folder), local_files_only=True).float().eval(), name)
        for file in "tokenizer_config.json", "spm.model":
            shutil.copy(encoder / file, folder)
        (folder / "gliner_config.json").write_text(json.dumps(PUBLISHED, indent=2) + "\n")


def write(name, number):
    tokenizer, encoder, settings = CASES[name]
    generator = torch.Generator().manual_seed(SEEDS.get(name, number))
    folder = HERE / "spans" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tokenizer_of(folder, tokenizer)
    config = {"model_name": str(folder), "encoder_config": {**encoder, "vocab_size": 64}, "max_len": 384, **settings}
    kind = UniEncoderTokenGLiNER if "span_mode" in settings else UniEncoderSpanGLiNER
    model = kind.load_from_config(config, backbone_from_pretrained=False)
    goldens.fill(model.model, generator)
    model.config.model_name = "small"
    model.save_pretrained(folder, safe_serialization=True)
    save_file({key: value.half() for key, value in load_file(folder / "model.safetensors").items()},
              folder / "model.safetensors")
    model = GLiNER.from_pretrained(str(folder), local_files_only=True).float().eval()
    results(folder, model, name)


def main():
    for number, name in enumerate(CASES):
        if len(sys.argv) < 2 or name in sys.argv[1:]:
            write(name, number)
    if len(sys.argv) < 2 or "published" in sys.argv[1:]:
        write_published("published")


if __name__ == "__main__":
    main()
