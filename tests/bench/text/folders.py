"""Makes what tokenizers, opening and the build of a folder are timed with: folders.py DIR writes

    DIR/minilm      a folder of sentence-transformers' size: BERT of 6 x 384 with random weights (seed 1), and WordPiece
                    with 30,522 entries
    DIR/bytes       tokenizer.json: byte-level BPE with GPT-2's pattern and 150,000 entries
    DIR/english     10,000 lines of 100 characters; DIR/languages the same in all languages

Both tokenizers are trained on the messages that programs of this machine have in /usr/share/locale, so that figures of
two machines differ a little. Needs tokenizers==0.23.3, numpy and safetensors.
"""

import gettext
import json
import random
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

LINES, LINE = 10_000, 100
WORDPIECES, BYTE_PIECES = 30_522, 150_000
LAYERS, WIDTH, HIDDEN, HEADS, POSITIONS = 6, 384, 1536, 12, 512
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def messages():
    """(message in English, its translation), each pair once, in an order of its own."""
    found = set()
    for path in sorted(Path("/usr/share/locale").glob("*/LC_MESSAGES/*.mo")):
        try:
            with open(path, "rb") as file:
                catalogue = gettext.GNUTranslations(file)._catalog
        except (OSError, UnicodeDecodeError, ValueError, IndexError):   # a file that is no catalogue is none
            continue
        found.update((key, text) for key, text in catalogue.items() if isinstance(key, str) and key and text)
    found = sorted(found)
    random.Random(1).shuffle(found)
    return found


def lines_of(texts):
    """Lines of LINE characters, text after text, cut anywhere."""
    joined, lines = "", []
    for text in texts:
        joined += " ".join(text.split()) + " "
        while len(joined) >= LINE and len(lines) < LINES:
            lines.append(joined[:LINE])
            joined = joined[LINE:]
        if len(lines) == LINES:
            return "\n".join(lines)
    raise SystemExit("folders.py: /usr/share/locale has too few messages")


def wordpiece(texts):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer(lowercase=True)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.decoder = decoders.WordPiece()
    t.train_from_iterator(texts, trainers.WordPieceTrainer(vocab_size=WORDPIECES, special_tokens=SPECIAL,
                                                           show_progress=False))
    marks = [(mark, t.token_to_id(mark)) for mark in ("[CLS]", "[SEP]")]
    t.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", marks)
    return t


def byte_pieces(texts):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=BYTE_PIECES, show_progress=False,
                                                     initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return t


def write_checkpoint(folder):
    """config.json and model.safetensors of a BertModel."""
    draw = np.random.default_rng(1)
    tensors = {}

    def matrix(name, rows, columns):
        tensors[name] = (draw.standard_normal((rows, columns)) / columns ** 0.5).astype(np.float32)

    def linear(name, rows, columns):
        matrix(name + ".weight", rows, columns)
        tensors[name + ".bias"] = (0.1 * draw.standard_normal(rows)).astype(np.float32)

    def norm(name):
        tensors[name + ".weight"] = (1 + 0.1 * draw.standard_normal(WIDTH)).astype(np.float32)
        tensors[name + ".bias"] = (0.1 * draw.standard_normal(WIDTH)).astype(np.float32)

    for name, rows in (("word", WORDPIECES), ("position", POSITIONS), ("token_type", 2)):
        matrix(f"embeddings.{name}_embeddings.weight", rows, WIDTH)
    norm("embeddings.LayerNorm")
    for layer in range(LAYERS):
        path = f"encoder.layer.{layer}."
        for part in ("query", "key", "value"):
            linear(path + "attention.self." + part, WIDTH, WIDTH)
        linear(path + "attention.output.dense", WIDTH, WIDTH)
        norm(path + "attention.output.LayerNorm")
        linear(path + "intermediate.dense", HIDDEN, WIDTH)
        linear(path + "output.dense", WIDTH, HIDDEN)
        norm(path + "output.LayerNorm")
    linear("pooler.dense", WIDTH, WIDTH)
    save_file(tensors, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({
        "architectures": ["BertModel"], "model_type": "bert", "hidden_size": WIDTH, "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS, "intermediate_size": HIDDEN, "hidden_act": "gelu", "vocab_size": WORDPIECES,
        "max_position_embeddings": POSITIONS, "type_vocab_size": 2, "layer_norm_eps": 1e-12, "pad_token_id": 0}))


def main():
    if len(sys.argv) != 2:
        raise SystemExit("usage: folders.py DIR")
    out = Path(sys.argv[1])
    for name in ("minilm", "bytes"):
        (out / name).mkdir(parents=True, exist_ok=True)
    pairs = messages()
    english, others = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    (out / "english").write_text(lines_of(sorted(set(english), key=hash_of)), encoding="utf-8")
    (out / "languages").write_text(lines_of(others), encoding="utf-8")
    tokenizers = {"minilm": wordpiece(english[::3] + others), "bytes": byte_pieces(english[::3] + others)}
    for name, tokenizer in tokenizers.items():
        print(f"{name}: {tokenizer.get_vocab_size()} entries")
        tokenizer.save(str(out / name / "tokenizer.json"))
    write_checkpoint(out / "minilm")


def hash_of(text):
    """An order that is no alphabet's and the same each time."""
    return random.Random(text).random()


if __name__ == "__main__":
    main()
