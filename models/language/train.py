#!/usr/bin/env python3
"""Trains the language classifier of models/language on texts from Debian's packages.

texts.py downloads the packages and reads them. A page (of a manual, of help, of a game's
messages) is used for training or held out, in all languages at once. Lines are cut to pieces
of 10 to 120 characters. The tokenizer, WordPiece, is trained on the same pages as the model.

    train.py [--steps N] [--seed K] [--from DIR] [--packages DIR] [--out DIR]

With --from, training continues with the weights and the tokenizer of a folder, on other pieces (another seed).
Writes into DIR, by default the folder of this file, the files of Hugging Face's libraries

    config.json, model.safetensors, tokenizer.json, tokenizer_config.json

and a sample of the held-out lines, each with its language:

    held.tsv              500 lines of 40 characters

Run with Python 3.11, torch 2.15.0, transformers 5.23.0, tokenizers 0.23.3, numpy 2.4.6, on Debian 12.
"""

import argparse
import tempfile
import time
import unicodedata
import zlib
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

from texts import LANGUAGES, SCRIPTS, UNSPACED, download, is_written, lines_of

NAMES = list(LANGUAGES)
TURNS = NAMES + [name for name in NAMES if name not in SCRIPTS]     # languages in Latin letters have two turns
VOCABULARY = 6144
ALPHABET = 2600         # number of characters that have a token; others become [UNK]
WIDTH, LAYERS, HEADS = 128, 2, 4
POSITIONS = 128
BATCH = 64
RATE = 2e-3             # the highest learning rate
HIDDEN = 0.1            # share of the tokens that training hides
SHORTEST, LONGEST = 10, 120
HELD_SHARE = 20         # one page in 20 is held out
HELD_LENGTH = 40
HELD_COUNT = 500        # held-out lines a language
SHIPPED = 25            # held-out lines a language that are written
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


# ---------------------------------------------------------------- pieces of lines

def is_held(line):
    return zlib.crc32(line.page.encode()) % HELD_SHARE == 0


def cut(text, language, length, rng):
    """Returns a piece of a line. It begins with a word, and in half of the cases with the line."""
    if len(text) > length and rng.random() < 0.5:
        start = int(rng.integers(0, len(text) - length + 1))
        if language not in UNSPACED:
            start = text.rfind(" ", 0, start + 1) + 1
        text = text[start:]
    return text[:length].strip()


LETTERS = str.maketrans({"ø": "o", "Ø": "O", "æ": "ae", "Æ": "Ae", "ł": "l", "Ł": "L", "ß": "ss", "ı": "i", "œ": "oe"})


def bare(text):
    """Removes the marks of Latin letters, as some people type them."""
    text = "".join(c for c in unicodedata.normalize("NFD", text.translate(LETTERS)) if not unicodedata.combining(c))
    return unicodedata.normalize("NFC", text)


def training_piece(text, language, rng):
    length = int(np.exp(rng.uniform(np.log(SHORTEST), np.log(LONGEST))))
    if language in UNSPACED or language == "ko":
        length = max(4, length // 2)
    piece = cut(text, language, length, rng)
    if len(piece) == length and rng.random() < 0.7 and " " in piece:
        piece = piece[:piece.rfind(" ")]
    chance = rng.random()
    if chance < 0.1 and language not in SCRIPTS:
        return bare(piece)
    if chance < 0.3:
        return piece.strip(".,:;!?()\"'-–—¿¡«»„“”。、，！？：；")
    return piece


class Lines:
    """Lines by language and source. A source is drawn with a probability that grows as the root of its size."""

    def __init__(self, lines):
        self.texts = defaultdict(lambda: defaultdict(list))
        for line in lines:
            self.texts[line.language][line.source].append(line.text)
        self.shares = {}
        for language, sources in self.texts.items():
            size = np.array([sum(map(len, texts)) for texts in sources.values()], np.float64) ** 0.5
            self.shares[language] = list(sources), np.cumsum(size / size.sum())

    def draw(self, language, rng):
        sources, shares = self.shares[language]
        texts = self.texts[language][sources[min(np.searchsorted(shares, rng.random()), len(sources) - 1)]]
        return texts[rng.integers(len(texts))]


def training_pieces(lines, count, rng):
    pieces, labels = [], []
    while len(pieces) < count:
        language = TURNS[len(pieces) % len(TURNS)]
        piece = training_piece(lines.draw(language, rng), language, rng)
        if is_written(piece, language):
            pieces.append(piece)
            labels.append(NAMES.index(language))
    return pieces, labels


def held_pieces(held, trained, rng):
    """Returns (language, piece) of pieces of HELD_LENGTH characters that are in no line of the training."""
    chosen = []
    for language in NAMES:
        known = "\n".join(text for texts in trained.texts[language].values() for text in texts)
        texts = [line.text for line in held if line.language == language and len(line.text) >= HELD_LENGTH]
        found = {}
        for index in rng.permutation(len(texts)):
            piece = cut(texts[index], language, HELD_LENGTH, rng)
            if len(piece) == HELD_LENGTH and is_written(piece, language) and piece not in known:
                found[piece] = None
            if len(found) == HELD_COUNT:
                break
        chosen += [(language, piece) for piece in found]
    return chosen


# ---------------------------------------------------------------- the tokenizer

def train_tokenizer(lines, rng, characters=400_000):
    """Trains WordPiece on the same amount of each language, in lower case; marks of letters are kept."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Sequence([
        normalizers.NFC(), normalizers.BertNormalizer(strip_accents=False, lowercase=True)])
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    texts = []
    for language in NAMES:
        share = characters // 4 if language in SCRIPTS and language not in ("ru", "uk") else characters
        while share > 0:
            texts.append(lines.draw(language, rng))
            share -= len(texts[-1])
    trainer = trainers.WordPieceTrainer(vocab_size=VOCABULARY, limit_alphabet=ALPHABET, special_tokens=SPECIAL,
                                        show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")])
    return tokenizer


def ids_of(tokenizer, pieces):
    return [encoding.ids[:POSITIONS] for encoding in tokenizer.encode_batch(pieces)]


# ---------------------------------------------------------------- the model

def padded(rows):
    width = max(map(len, rows))
    ids = torch.zeros(len(rows), width, dtype=torch.long)
    for row, values in enumerate(rows):
        ids[row, :len(values)] = torch.tensor(values)
    return ids, (ids != 0).long()


def logits_of(model, rows):
    """Returns the logits of rows of ids, in the rows' order."""
    order = sorted(range(len(rows)), key=lambda row: len(rows[row]))
    logits = torch.empty(len(rows), len(NAMES))
    with torch.no_grad():
        for start in range(0, len(order), 256):
            part = order[start:start + 256]
            ids, mask = padded([rows[row] for row in part])
            logits[part] = model(input_ids=ids, attention_mask=mask).logits
    return logits


def new_model(size):
    return BertForSequenceClassification(BertConfig(
        vocab_size=size, hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
        intermediate_size=4 * WIDTH, max_position_embeddings=POSITIONS, pad_token_id=0,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
        id2label=dict(enumerate(NAMES)), label2id={name: i for i, name in enumerate(NAMES)}))


def train_model(model, rows, labels, steps, rate, seed):
    rng = np.random.default_rng(seed)
    model.train()
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate, betas=(0.9, 0.98), weight_decay=0.01, fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, steps, pct_start=0.1)
    labels = torch.tensor(labels)

    # Each batch has pieces of similar lengths; batches are shuffled.
    batches = []
    for chunk in np.array_split(rng.permutation(len(rows)), max(1, steps // 50)):
        chunk = sorted(chunk, key=lambda row: len(rows[row]))
        batches += [chunk[at:at + BATCH] for at in range(0, len(chunk), BATCH)]
    rng.shuffle(batches)

    started, running = time.time(), 0.0
    for step, batch in enumerate(batches[:steps], 1):
        ids, mask = padded([rows[row] for row in batch])
        hide = (torch.rand(ids.shape) < HIDDEN) & (ids >= len(SPECIAL))
        ids[hide] = SPECIAL.index("[MASK]")
        loss = F.cross_entropy(model(input_ids=ids, attention_mask=mask).logits, labels[batch], label_smoothing=0.02)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        running += loss.item()
        if step % 250 == 0:
            print(f"  step {step:6} of {steps}   loss {running / 250:.3f}   {time.time() - started:.0f} s", flush=True)
            running = 0.0
    return model.half().float().eval()      # rounds the weights as the file does


# ---------------------------------------------------------------- the command

def report(name, wanted, pieces, got, show=0):
    """Prints the accuracy, in total and by language, and some of the mistakes."""
    right = Counter(language for language, label in zip(wanted, got) if language == label)
    print(f"{name:21}{sum(right.values())} of {len(wanted)} right, {100 * sum(right.values()) / len(wanted):.2f} %")
    print("  " + "  ".join(f"{language} {100 * right[language] / count:.1f}" for language, count in Counter(wanted).items()))
    for language, label, piece in [x for x in zip(wanted, got, pieces) if x[0] != x[1]][:show]:
        print(f"  {language} taken for {label}: {piece}")


def read_pairs(path):
    return [tuple(row.split("\t")) for row in path.read_text(encoding="utf-8").splitlines()]


def main():
    here = Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description="trains the language classifier")
    parser.add_argument("--steps", type=int, default=3000, help=f"of {BATCH} pieces each (default 3000)")
    parser.add_argument("--seed", type=int, default=1, help="of everything (default 1)")
    parser.add_argument("--from", dest="start", type=Path, help="a folder whose training goes on, at half the rate")
    parser.add_argument("--packages", type=Path, default=Path(tempfile.gettempdir()) / "language-packages",
                        help="where packages are downloaded to, and found again")
    parser.add_argument("--out", type=Path, default=here, help="where the files go (default: beside this file)")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rng = np.random.default_rng(options.seed)

    started = time.time()
    lines = list(lines_of(download(options.packages)))
    trained, held = Lines(line for line in lines if not is_held(line)), [line for line in lines if is_held(line)]
    print(f"read                 {len(lines)} lines in {time.time() - started:.0f} s")
    for language in NAMES:
        print(f"  {language}  " + ", ".join(f"{source} {sum(map(len, texts)) / 1e6:.2f}"
                                           for source, texts in sorted(trained.texts[language].items())) + "  MB")
    tests = held_pieces(held, trained, rng)
    if options.start:
        tokenizer = Tokenizer.from_file(str(options.start / "tokenizer.json"))
    else:
        tokenizer = train_tokenizer(trained, rng)
    pieces, labels = training_pieces(trained, options.steps * BATCH, rng)
    rows = ids_of(tokenizer, pieces)
    unknown = sum(row.count(1) for row in rows) / sum(map(len, rows))
    print(f"pieces               {len(rows)}, {np.mean([len(row) for row in rows]):.1f} tokens each, "
          f"{100 * unknown:.2f} % unknown; {time.time() - started:.0f} s")

    started = time.time()
    torch.manual_seed(options.seed)
    if options.start:
        model = BertForSequenceClassification.from_pretrained(options.start, dtype=torch.float32)
    else:
        model = new_model(tokenizer.get_vocab_size())
    model = train_model(model, rows, labels, options.steps, RATE / 2 if options.start else RATE, options.seed)
    print(f"trained              {options.steps} steps in {time.time() - started:.0f} s")

    options.out.mkdir(parents=True, exist_ok=True)
    model.half().save_pretrained(options.out)
    model.float()
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=POSITIONS, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
        sep_token="[SEP]", mask_token="[MASK]",
        model_input_names=["input_ids", "token_type_ids", "attention_mask"]).save_pretrained(options.out)
    # This name of the class is from transformers 4; version 5 knows it, too.
    path = options.out / "tokenizer_config.json"
    path.write_text(path.read_text().replace('"TokenizersBackend"', '"PreTrainedTokenizerFast"'))
    (options.out / "model.safetensors").chmod(0o644)

    taken = lambda pairs: [NAMES[i] for i in logits_of(model, ids_of(tokenizer, [text for _, text in pairs])).argmax(1)]
    sentences = read_pairs(here / "sentences.tsv")
    sample = []
    for language in NAMES:
        own = [pair for pair in tests if pair[0] == language]
        sample += [own[i] for i in sorted(rng.choice(len(own), SHIPPED, replace=False))]
    (options.out / "held.tsv").write_text("".join(f"{language}\t{text}\n" for language, text in sample), encoding="utf-8")
    for name, pairs, show in (("held-out lines", tests, 60), ("held.tsv", sample, 20), ("sentences.tsv", sentences, 20)):
        report(name, [language for language, _ in pairs], [text for _, text in pairs], taken(pairs), show)


if __name__ == "__main__":
    main()
