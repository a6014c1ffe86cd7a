#!/usr/bin/env python3
"""Trains the translator of models/numbers, a small T5 that turns numbers and dates in words to digits and back.

    train.py [--steps N] [--seed K] [--threads T] [--from DIR] [--out DIR]

The values of the training are drawn. One value in ten is held out: no source of the training has it, in any language
or direction (is_held). With --from, training continues with the weights and the tokenizer of a folder.
Writes into DIR, by default the folder of this file, held.tsv and the files of Hugging Face's libraries

    config.json, model.safetensors, generation_config.json, tokenizer.json, tokenizer_config.json

and prints the share of held-out sources whose answer is right. Weights are saved every 250 steps.

Run with Python 3.11, torch 2.15.0, transformers 5.24.0, tokenizers 0.23.3, numpy 2.4.6.
"""

import argparse
import calendar
import math
import re
import string
import time
import zlib
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import GenerationConfig, PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

from words import DE_PARTS, FIRST_YEAR, LANGUAGES, LAST_YEAR, write

WIDTH, LAYERS, HEADS, INNER = 128, 2, 4, 320
MOST_TOKENS = 64
BATCH = 128             # sources
RATE = 0.006            # the highest learning rate
DECAY = 0.02
FACTORS = [1.4, 1.4, 1.4, 1.4, 1.4, 1.2, 1.0, 1.0]     # of the steps of orthogonal(); none diverges below sqrt(3)
PAD, END, UNKNOWN, BLANK = "<pad>", "</s>", "<unk>", "\u2581"
NAMES = {language: name for name, language in LANGUAGES.items()}
TO_DIGITS = "to digits: "
PREFIXES = [TO_DIGITS] + [f"in {name}: " for name in LANGUAGES]
HELD_SHARE = 10         # one value in ten is held out
HELD_TESTS = 2000       # held-out sources that are measured
SHIPPED = 200           # held-out sources that are written
SAVED_EVERY = 250


# ---------------------------------------------------------------- values and sources

def is_held(value):
    """True for values that the training leaves out. Numbers below 1000 are needed to learn the words."""
    return ("-" in value or len(value) > 3) and zlib.crc32(value.encode()) % HELD_SHARE == 0


def draw_value(rng):
    """Returns digits of a number or a date. Numbers have 1 to 6 digits, and one in four has more zeros."""
    if rng.random() < 0.4:
        year = int(rng.integers(1900, 2050) if rng.random() < 0.5 else rng.integers(FIRST_YEAR, LAST_YEAR + 1))
        month = int(rng.integers(1, 13))
        return f"{year}-{month:02}-{int(rng.integers(1, calendar.monthrange(year, month)[1] + 1)):02}"
    count = int(rng.integers(1, 7))
    digits = rng.integers(0, 10, count)
    if rng.random() < 0.25:
        digits[rng.random(count) < 0.5] = 0
    digits[0] = digits[0] or int(rng.integers(1, 10))
    return "".join(map(str, digits)) if count > 1 or rng.random() > 0.05 else "0"


def example(value, language, to_digits, rng):
    """Returns a source and its target."""
    if to_digits:
        return TO_DIGITS + write(value, language, rng if rng.random() < 0.6 else None), value
    return f"in {NAMES[language]}: {value}", write(value, language)


def examples(count, rng, held=False):
    """Yields `count` pairs, all languages and both directions in turn."""
    languages = list(NAMES)
    while count > 0:
        value = draw_value(rng)
        if is_held(value) == held:
            count -= 1
            yield example(value, languages[count % 4], count // 4 % 2 == 0, rng)


# ---------------------------------------------------------------- the tokenizer

# A piece is a word with the blank or hyphen before it, or a sign. German words are divided further.
PIECE = re.compile(r"[ -]?[^\W\d]+|[^\W\d]+|\S| ")
PART = re.compile(f" ?(?:{'|'.join(sorted(DE_PARTS, key=len, reverse=True))})", re.IGNORECASE)


def pieces_of(text, language):
    for piece in PIECE.findall(text):
        parts = PART.findall(piece) if language == "de" else []
        yield from parts if "".join(parts) == piece else [piece]


def make_tokenizer(rng):
    """Returns a tokenizer of unigrams. Its pieces are those of drawn texts, and their characters for other texts."""
    counts = Counter()
    for index in range(30_000):
        language = list(NAMES)[index % 4]
        counts.update(pieces_of(f" {write(draw_value(rng), language, rng)}", language))
    for prefix in PREFIXES:
        counts.update(pieces_of(f" {prefix}".rstrip(), "en"))
    counts.update(list("0123456789-, "))
    total = sum(counts.values())
    scores = {piece: math.log(count / total) for piece, count in sorted(counts.items())}
    least = min(scores.values())
    for letter in sorted(set("".join(counts)) | set(string.ascii_letters)):
        scores.setdefault(letter, least - 10)
    special = [(name, 0.0) for name in (PAD, END, UNKNOWN)]
    pieces = [(piece.replace(" ", BLANK), score) for piece, score in scores.items()]
    tokenizer = Tokenizer(models.Unigram(special + pieces, 2, False))
    tokenizer.add_special_tokens([PAD, END, UNKNOWN])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"$A {END}", pair=f"$A {END} $B {END}", special_tokens=[(END, 1)])
    return tokenizer


def ids_of(tokenizer, texts):
    return [encoding.ids for encoding in tokenizer.encode_batch(texts)]


def padded(rows, fill=0):
    ids = torch.full((len(rows), max(map(len, rows))), fill)
    for row, values in enumerate(rows):
        ids[row, :len(values)] = torch.tensor(values)
    return ids


def batches_of(tokenizer, count, rng):
    """Yields batches of ids, masks and labels. Sources of a batch have similar lengths."""
    while count > 0:
        pairs = list(examples(16 * BATCH, rng))
        sources, targets = (ids_of(tokenizer, texts) for texts in zip(*pairs))
        order = sorted(range(len(pairs)), key=lambda i: (len(targets[i]), len(sources[i])))
        groups = [order[at:at + BATCH] for at in range(0, len(order), BATCH)]
        for group in rng.permutation(len(groups))[:count]:
            ids = padded([sources[i] for i in groups[group]])
            yield ids, (ids != 0).long(), padded([targets[i] for i in groups[group]], -100)
        count -= len(groups)


# ---------------------------------------------------------------- the model

def new_model(tokenizer):
    return T5ForConditionalGeneration(T5Config(
        vocab_size=tokenizer.get_vocab_size(), d_model=WIDTH, d_kv=WIDTH // HEADS, d_ff=INNER, num_layers=LAYERS,
        num_decoder_layers=LAYERS, num_heads=HEADS, feed_forward_proj="gated-gelu",
        dropout_rate=0.0, n_positions=128, pad_token_id=0, eos_token_id=1, decoder_start_token_id=0))


def orthogonal(matrix):
    """Returns nearly the closest matrix with singular values of 1, by Newton's iteration x + x (1 - x'x) / 2."""
    x = matrix.T if matrix.shape[0] < matrix.shape[1] else matrix
    one = torch.eye(x.shape[1])
    x = x / (torch.linalg.matrix_norm(x) + 1e-12)
    for factor in FACTORS:
        x = x @ (1.5 * factor * one - 0.5 * factor ** 3 * x.T @ x)
    return x.T if matrix.shape[0] < matrix.shape[1] else x


class Muon:
    """Momentum whose steps are made orthogonal: all directions of a matrix learn at the same rate. T5's scores have
    no factor d_kv^-0.5, so that the matrix of queries is smaller than others, and learns at a lower rate."""

    def __init__(self, named, momentum=0.95):
        self.matrices, self.momentum = [p for _, p in named], momentum
        self.rates = [(WIDTH // HEADS) ** -0.5 if ".q." in name else 1 for name, _ in named]
        self.means = [torch.zeros_like(p) for p in self.matrices]

    @torch.no_grad()
    def step(self, rate):
        for p, mean, share in zip(self.matrices, self.means, self.rates):
            mean.lerp_(p.grad, 1 - self.momentum)
            step = orthogonal(p.grad.lerp(mean, self.momentum))
            p.mul_(1 - rate * DECAY).sub_(step, alpha=0.2 * rate * share * max(p.shape) ** 0.5)
            p.grad = None


def train_model(model, batches, steps, rate, saved):
    """Trains on each batch once: Muon for matrices, AdamW for the rest. Rates rise, and fall from the middle on."""
    model.train()
    is_other = lambda name, p: p.ndim != 2 or any(word in name for word in ("shared", "lm_head", "relative"))
    muon = Muon([(name, p) for name, p in model.named_parameters() if not is_other(name, p)])
    adam = torch.optim.AdamW([p for name, p in model.named_parameters() if is_other(name, p)], lr=rate,
                             betas=(0.9, 0.98), weight_decay=0.0)
    started, running = time.time(), 0.0
    for step, (ids, mask, labels) in enumerate(batches):
        now = rate * min(1.0, (step + 1) / 100) * min(1.0, 2 * (1 - step / steps))
        loss = model(input_ids=ids, attention_mask=mask, labels=labels).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        muon.step(now)
        adam.param_groups[0]["lr"] = now
        adam.step()
        adam.zero_grad()
        running += loss.item()
        if (step + 1) % 25 == 0:
            print(f"  step {step + 1:5} of {steps}   loss {running / 25:.4f}   {time.time() - started:.0f} s, "
                  f"{time.process_time():.0f} s of processor time", flush=True)
            running = 0.0
        if (step + 1) % SAVED_EVERY == 0:
            torch.save(model.state_dict(), saved)
    return model.half().float().eval()      # rounds the weights as the file does


def save(model, tokenizer, folder):
    """Writes the files of the folder. The weights are written in float16."""
    folder.mkdir(parents=True, exist_ok=True)
    model.generation_config = GenerationConfig(pad_token_id=0, eos_token_id=1, decoder_start_token_id=0,
                                               max_new_tokens=MOST_TOKENS)
    model.half().save_pretrained(folder)
    model.float()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=128, pad_token=PAD, eos_token=END,
                            unk_token=UNKNOWN, clean_up_tokenization_spaces=False).save_pretrained(folder)
    # This name of the class is from transformers 4; version 5 knows it, too.
    path = folder / "tokenizer_config.json"
    path.write_text(path.read_text().replace('"TokenizersBackend"', '"PreTrainedTokenizerFast"'))
    (folder / "model.safetensors").chmod(0o644)


# ---------------------------------------------------------------- judging

def answers(model, tokenizer, sources):
    """Returns the most likely answers, a token at a time."""
    rows, made = ids_of(tokenizer, sources), [""] * len(sources)
    order = sorted(range(len(rows)), key=lambda row: len(rows[row]))
    for at in range(0, len(order), 250):
        part = order[at:at + 250]
        ids = padded([rows[row] for row in part])
        with torch.no_grad():
            told = model.generate(input_ids=ids, attention_mask=(ids != 0).long(), max_new_tokens=MOST_TOKENS,
                                  num_beams=1, do_sample=False)
        for row, text in zip(part, tokenizer.decode_batch(told.tolist())):
            made[row] = text
    return made


def measure(model, tokenizer, name, pairs):
    """Prints the share of right answers, in total and by task, and some of the mistakes."""
    got = answers(model, tokenizer, [source for source, _ in pairs])
    right = sum(text == target for text, (_, target) in zip(got, pairs))
    print(f"{name:21}{right} of {len(pairs)} right, {100 * right / len(pairs):.2f} %")
    tasks = {}
    for text, (source, target) in zip(got, pairs):
        digits = target if source.startswith(TO_DIGITS) else source.split(": ")[1]
        task = source.split(":")[0] + (", dates" if "-" in digits else ", numbers")
        tasks.setdefault(task, []).append(text == target)
    for task, list_ in sorted(tasks.items()):
        print(f"  {task:24}{100 * np.mean(list_):.2f} %")
    for text, (source, target) in [x for x in zip(got, pairs) if x[0] != x[1][1]][:12]:
        print(f"  {source}\n    {text}\n    {target}")


# ---------------------------------------------------------------- the command

def main():
    here = Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--steps", type=int, default=1800, help=f"batches of {BATCH} sources")
    parser.add_argument("--rate", type=float, default=RATE, help="the highest learning rate")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--from", dest="start", type=Path, help="a folder whose weights and tokenizer to begin with")
    parser.add_argument("--out", type=Path, default=here)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)

    held = list(dict.fromkeys(examples(HELD_TESTS, np.random.default_rng(0), held=True)))
    if options.start:
        tokenizer = Tokenizer.from_file(str(options.start / "tokenizer.json"))
        model = T5ForConditionalGeneration.from_pretrained(options.start, dtype=torch.float32)
    else:
        tokenizer = make_tokenizer(np.random.default_rng(1))
        model = new_model(tokenizer)
    lengths = [np.mean([len(ids) for ids in ids_of(tokenizer, texts)]) for texts in zip(*held)]
    print(f"tokens               {tokenizer.get_vocab_size()}; {lengths[0]:.1f} a source, {lengths[1]:.1f} a target")
    print(f"parameters           {sum(p.numel() for p in model.parameters())}", flush=True)

    options.out.mkdir(parents=True, exist_ok=True)
    started, used = time.time(), time.process_time()
    batches = batches_of(tokenizer, options.steps, np.random.default_rng(1 + options.seed))
    model = train_model(model, batches, options.steps, options.rate, options.out / "weights.partial")
    print(f"trained              {time.time() - started:.0f} s, {time.process_time() - used:.0f} s of processor time")
    save(model, tokenizer, options.out)
    (options.out / "weights.partial").unlink(missing_ok=True)
    (options.out / "held.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in held[:SHIPPED]),
                                          encoding="utf-8")
    measure(model, tokenizer, "held-out sources", held)


if __name__ == "__main__":
    main()
