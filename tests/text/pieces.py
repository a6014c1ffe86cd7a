#!/usr/bin/env python3
"""Makes the files of tests/text/pieces: small SentencePiece models, and the tokenizer.json that each class of
transformers makes of one.

    CLASS.model     the model
    CLASS.json      what the class's tokenizer saves, and with other settings in CLASS_other.json

    pieces.py            writes all
    pieces.py CLASS      writes those of a class
    pieces.py --check    compares

Run with transformers 5.23.0, tokenizers 0.23.3, sentencepiece 0.2.3 and protobuf.
"""

import io
import json
import sys
import tempfile
from pathlib import Path

import sentencepiece
import transformers as hf

HERE = Path(__file__).resolve().parent / "pieces"
CORPUS = ["the cat sat on the mat", "a naïve café in Zürich", "東京 and Ελλάδα", "don't panic, it's only a test!",
          "THE DOG and the fox", "one two three four five", "\u201cquoted\u201d and ``quoted\u00b4\u00b4"] * 6
# A map of characters for the models that have their own.
MAP = [("Å", "A"), ("ﬁ", "fi"), ("\u00a0", " "), ("\t", " ")]
BERT = {"pad_id": 0, "bos_piece": "[CLS]", "eos_piece": "[SEP]"}
# class: settings of the trainer, and of a second tokenizer
CLASSES = {
    "T5Tokenizer": ({"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}, {"extra_ids": 3}),
    "AlbertTokenizer": ({**BERT, "unk_id": 1, "bos_id": 2, "eos_id": 3, "control_symbols": ["[MASK]"],
                         "user_defined_symbols": ["(own)"]},
                        {"do_lower_case": False, "keep_accents": True, "add_prefix_space": False}),
    "XLMRobertaTokenizer": ({"unk_id": 0, "bos_id": 1, "eos_id": 2}, {"add_prefix_space": False}),
    "CamembertTokenizer": ({"unk_id": 0, "bos_id": 1, "eos_id": 2}, {"add_prefix_space": False}),
    "DebertaV2Tokenizer": ({**BERT, "pad_piece": "[PAD]", "unk_piece": "[UNK]", "bos_id": 1, "eos_id": 2, "unk_id": 3},
                           {"do_lower_case": True, "split_by_punct": True}),
    "MBartTokenizer": ({}, {"src_lang": "de_DE"}),
    "MBart50Tokenizer": ({}, {"src_lang": "sl_SI"}),
    "NllbTokenizer": ({"model_type": "bpe"}, {"src_lang": "fra_Latn", "legacy_behaviour": True,
                                              "extra_special_tokens": ["fra_Latn", "eng_Latn", "zul_Latn"]}),
    "PegasusTokenizer": ({"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}, {"offset": 10}),
}
FILES = {"DebertaV2Tokenizer": "spm.model"} | {
    name + "Tokenizer": "sentencepiece.bpe.model" for name in ("XLMRoberta", "Camembert", "MBart", "MBart50", "Nllb")}


def trained(settings):
    with tempfile.NamedTemporaryFile("w", suffix=".tsv", encoding="utf-8") as rules:
        for source, target in MAP:
            rules.write(" ".join(f"{ord(c):X}" for c in source) + "\t" + " ".join(f"{ord(c):X}" for c in target) + "\n")
        rules.flush()
        file = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(CORPUS), model_writer=file, vocab_size=90, hard_vocab_limit=False, minloglevel=2,
            normalization_rule_tsv=rules.name, num_threads=1, **settings)
        return file.getvalue()


def saved(name, model, config):
    """What the class makes of a folder that has the model and tokenizer_config.json."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / FILES.get(name, "spiece.model")).write_bytes(model)
        (Path(folder) / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": name, **config}))
        tokenizer = hf.AutoTokenizer.from_pretrained(folder)
    assert type(tokenizer).__name__ == name, type(tokenizer)
    return json.dumps(json.loads(tokenizer.backend_tokenizer.to_str()), ensure_ascii=False, sort_keys=True) + "\n"


def main():
    is_check = sys.argv[1:] == ["--check"]
    HERE.mkdir(exist_ok=True)
    for name, (settings, other) in CLASSES.items():
        if sys.argv[1:] and not is_check and name not in sys.argv[1:]:
            continue
        path = HERE / f"{name}.model"
        if not is_check:
            path.write_bytes(trained(settings))
        for config, end in (({}, ""), (other, "_other")):
            text, file = saved(name, path.read_bytes(), config), HERE / f"{name}{end}.json"
            if is_check:
                assert file.read_text(encoding="utf-8") == text, file
            else:
                file.write_text(text, encoding="utf-8")


main()
