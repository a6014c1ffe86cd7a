"""goldens.py - what transformers' Wav2Vec2CTCTokenizer makes of rows of tokens, for tests of CTC. It needs transformers
and torch: python3 tests/sound/goldens.py, from the root. It writes tests/sound/ctc.tsv: for each case a line with the
tokenizer's name, then the ids of the rows; and a line with the text, then each word's first row and the row after its
last."""
import json
import pathlib
import random
import tempfile

from transformers import Wav2Vec2CTCTokenizer

here = pathlib.Path(__file__).parent
LETTERS = "<pad> <s> </s> <unk> | E T A O I N ' S . , ? ! m n t re".split()
TOKENIZERS = {
    "letters": (LETTERS, {"clean_up_tokenization_spaces": False}),
    "cleaned": (LETTERS, {"clean_up_tokenization_spaces": True}),
    "lower": (["A", "B", " ", "|", "[PAD]", "[UNK]"], {"pad_token": "[PAD]", "unk_token": "[UNK]", "do_lower_case": True}),
    "joined": (["a", "b", "-", "<pad>", "<unk>", "ü"], {"word_delimiter_token": "-", "replace_word_delimiter_char": ""}),
    "unnamed": (["a", "A", "<pad>", "<unk>"], {"do_lower_case": True}),
    "white": (["a", "\u3000", "\x1f", "\xa0x", "|", "\u2003", "<pad>", "<unk>"], {}),
}
MORE = {"unnamed": 5, "white": -1}  # ids after the vocabulary: <s>, </s> and |, which it lacks, and two of no token


def main():
    random.seed(7)
    lines = []
    for name, (tokens, more) in TOKENIZERS.items():
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "vocab.json"
            path.write_text(json.dumps({token: i for i, token in enumerate(tokens)}))
            tokenizer = Wav2Vec2CTCTokenizer(str(path), **more)
        for case in range(60):
            blank, rows = tokenizer.pad_token_id, []
            while len(rows) < case:
                pick = blank if random.random() < 0.3 else random.randrange(len(tokens) + MORE.get(name, 0))
                rows += [pick] * random.choice([1, 1, 2, 3])
            got = tokenizer.decode(rows, output_word_offsets=True) if rows else None
            words = [f"{w['start_offset']}\t{w['end_offset']}" for w in got.word_offsets] if got else []
            lines.append("\t".join([name] + [str(i) for i in rows]))
            lines.append("\t".join([got.text if got else ""] + words))
    (here / "ctc.tsv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
