#!/usr/bin/env python3
"""Makes the folders of tests/text/languages: small tokenizers of models that translate, and what the classes of
transformers make of texts in several scripts.

    NAME/           the files of a folder
    NAME/cases.json [language or "", text, ids, the text that the ids give, the same with special tokens]

    languages.py            writes all
    languages.py --check    compares the cases
    languages.py --wide F   writes all to the folder F, with SentencePiece's own map of characters, and more texts

Run with transformers 5.23.0, tokenizers 0.23.3, sentencepiece 0.2.1 and protobuf.
"""

import io
import json
import random
import sys
import tempfile
from pathlib import Path

import sentencepiece
import transformers as hf

HERE = Path(__file__).resolve().parent / "languages"
SOURCE = ["the cat sat on the mat", "a dog and a cat", "where is the station?", "it's only a test, isn't it!",
          "one two three four five six seven", "a naïve café in Zürich", "HELLO World", "12 345 67.8"] * 4
TARGET = ["die katze saß auf der matte", "ein hund und eine katze", "wo ist der bahnhof?", "où est la gare ?",
          "où est le château", "где вокзал?", "кошка сидела на коврике", "東京の駅はどこですか", "기차역이 어디예요",
          "أين المحطة", "fünf sechs sieben", "Привет мир"] * 4
# A map of characters: some entries begin as others do, so that the longest counts.
MAP = [("Å", "A"), ("ﬁ", "fi"), ("e\u0301", "é"), ("e\u0301\u0302", "ế"), ("\u00a0", " "), ("\t", " "), ("\r", " "),
       ("\n", " "), ("½", "1/2"), ("\u2581", " "), ("か\u3099", "が"), ("…", "..."), ("\u1112\u1161", "하"),
       ("\u1112\u1161\u11ab", "한"), ("\u0300", "`")]
TEXTS = ["the cat sat on the mat", "  two  spaces \t and a tab ", "", " ", "Zürich", "cafe\u0301 cafe\u0301\u0302 e\u0300",
         "ﬁ\u0301ve ﬁne", "\u1112\u1161\u11ab\u1112\u1161", "か\u3099 が", "где вокзал?", "東京の駅", "漢字漢字 字",
         "أين المحطة", "one\r\ntwo", "a▁b ▁c▁", "</s> the cat", "the</s>cat <unk> <pad>dog", "½…", "😀 the 😀😀cat",
         "the cat " * 40, "e\u0301" * 3, "xyz\u0000q", "en_XX the dog", "__en__ the", "eng_Latn cat", "<mask> cat",
         "A. B, C! it's 'twas", "\u00a0\u00a0the\u00a0", "ÅÅ", "e\u0301\u0302\u0300 x"]
CODES = [">>fra<< the cat", ">>deu<<the cat", " >>fra<< the cat", "the >>fra<< cat", ">>zzz<< cat", ">>fra cat",
         "</s>>>deu<< cat", ">>the cat<< dog", ">>fra<<", ">>fra<<>>deu<< cat", "<<>> cat", ">><< cat",
         "</s> >>deu<< cat"]
NLLB = ["eng_Latn", "fra_Latn", "rus_Cyrl", "zul_Latn"]
SPECIAL = {"<s>", "</s>", "<unk>", "<pad>"}


def trained(corpus, wide, kind="unigram", size=150, **settings):
    with tempfile.NamedTemporaryFile("w", suffix=".tsv", encoding="utf-8") as rules:
        for source, target in MAP:
            rules.write(" ".join(f"{ord(c):X}" for c in source) + "\t" + " ".join(f"{ord(c):X}" for c in target) + "\n")
        rules.flush()
        file = io.BytesIO()
        normal = {} if wide else {"normalization_rule_tsv": rules.name}
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(corpus), model_writer=file, vocab_size=size, model_type=kind,
            hard_vocab_limit=False, minloglevel=2, num_threads=1, **normal, **settings)
        return file.getvalue()


def pieces(model):
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    return [processor.id_to_piece(i) for i in range(processor.get_piece_size())]


def numbers(first, *models):
    """A vocabulary: tokens of its own first, then the pieces that no vocabulary has before; a few are missing."""
    list_of = list(first)
    for model in models:
        rest = [p for p in pieces(model) if p not in SPECIAL]
        list_of += [p for i, p in enumerate(sorted(rest)) if p not in list_of and (i % 17 != 3 or p.startswith("<0x"))]
    return list_of


def as_json(tokens):
    return json.dumps({t: i for i, t in enumerate(tokens)}, ensure_ascii=False)


def marian(wide, separate):
    source, target = trained(SOURCE, wide, size=90), trained(TARGET, wide)
    files = {"source.spm": source, "target.spm": target}
    config = {"tokenizer_class": "MarianTokenizer", "source_lang": "eng", "target_lang": "mul"}
    if separate:
        files["vocab.json"] = as_json(numbers(["</s>", "<unk>"], source) + ["<pad>"])
        files["target_vocab.json"] = as_json(numbers(["</s>", "<unk>"], target) + ["<pad>"])
        config["separate_vocabs"] = True
    else:
        files["vocab.json"] = as_json(numbers(["</s>", "<unk>", ">>fra<<", ">>deu<<"], source, target) + ["<pad>"])
    return files, config, [None]


def m2m(wide, kind, size=200, **settings):
    model = trained(SOURCE + TARGET, wide, kind=kind, size=size, **settings)
    codes = hf.models.m2m_100.tokenization_m2m_100.FAIRSEQ_LANGUAGE_CODES["m2m100"]
    names = [f"__{code}__" for code in codes]
    files = {"sentencepiece.bpe.model": model, "vocab.json": as_json(numbers(["<s>", "<pad>", "</s>", "<unk>"], model)),
             "special_tokens_map.json": json.dumps({"additional_special_tokens": names})}
    return files, {"tokenizer_class": "M2M100Tokenizer", "src_lang": "de", "additional_special_tokens": names}, [None, "en", "fr", "zu"]


def of_pieces(name, languages, kind="unigram", has_json=False, **config):
    def make(wide):
        model = trained(SOURCE + TARGET, wide, kind=kind, size=200)
        files, config_of = {"sentencepiece.bpe.model": model}, {"tokenizer_class": name, **config}
        if has_json:
            with tempfile.TemporaryDirectory() as folder:
                save(folder, files, config_of)
                hf.AutoTokenizer.from_pretrained(folder).save_pretrained(folder)
                files = {"tokenizer.json": (Path(folder) / "tokenizer.json").read_text(encoding="utf-8")}
        return files, config_of, languages
    return make


MAKERS = {
    "marian": lambda wide: marian(wide, False), "marian_separate": lambda wide: marian(wide, True),
    "m2m_100": lambda wide: m2m(wide, "unigram"), "m2m_100_bpe": lambda wide: m2m(wide, "bpe"),
    "m2m_100_bytes": lambda wide: m2m(wide, "unigram", size=380, byte_fallback=True, remove_extra_whitespaces=False),
    "m2m_100_bare": lambda wide: m2m(wide, "unigram", add_dummy_prefix=False),
    "mbart": of_pieces("MBartTokenizer", [None, "de_DE", "ro_RO"]),
    "mbart_json": of_pieces("MBartTokenizer", [None, "ru_RU"], has_json=True, src_lang="de_DE"),
    "mbart_50": of_pieces("MBart50Tokenizer", [None, "de_DE", "sl_SI"]),
    "nllb": of_pieces("NllbTokenizer", [None, "fra_Latn"], kind="bpe", extra_special_tokens=NLLB),
    "nllb_json": of_pieces("NllbTokenizer", [None, "fra_Latn"], kind="bpe", has_json=True, extra_special_tokens=NLLB),
    "nllb_legacy": of_pieces("NllbTokenizer", [None, "zul_Latn"], kind="bpe", has_json=True, extra_special_tokens=NLLB,
                             legacy_behaviour=True),
}


def save(folder, files, config):
    Path(folder).mkdir(exist_ok=True)
    for name, data in files.items():
        data = data if isinstance(data, bytes) else data.encode()
        (Path(folder) / name).write_bytes(data)
    (Path(folder) / "tokenizer_config.json").write_text(json.dumps(config) + "\n")


def drawn(count):
    random.seed(5)
    letters = list("abcdehinot  .,'") + list("äüßéàкошка東京の駅기차역") + [a for a, _ in MAP] + ["\u0301", "😀", "字"]
    return ["".join(random.choices(letters, k=random.randrange(1, 60))) for _ in range(count)]


def cases_of(folder, languages, more):
    made = hf.AutoTokenizer.from_pretrained(folder)
    list_of = []
    for language in languages:
        if language:
            made.src_lang = language
        texts = TEXTS + drawn(more) + (CODES if "marian" in str(folder) else [])
        for text in texts if language == languages[0] else texts[:8]:
            ids = made(text)["input_ids"]
            list_of.append([language or "", text, ids, made.decode(ids, skip_special_tokens=True), made.decode(ids)])
    return list_of


def main():
    is_check, wide = sys.argv[1:] == ["--check"], sys.argv[1:2] == ["--wide"]
    root = Path(sys.argv[2]) if wide else HERE
    root.mkdir(exist_ok=True)
    for name, maker in MAKERS.items():
        folder = root / name
        files, config, languages = maker(wide)
        if not is_check:
            save(folder, files, config)
        cases = cases_of(folder, languages, 600 if wide else 40)
        text = "[" + ",\n".join(json.dumps(each, ensure_ascii=False) for each in cases) + "]\n"
        if is_check:
            assert (folder / "cases.json").read_text(encoding="utf-8") == text, name
        else:
            (folder / "cases.json").write_text(text, encoding="utf-8")


main()
