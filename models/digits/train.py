#!/usr/bin/env python3
"""Trains the recogniser of models/digits, a small wav2vec 2.0 that writes the digits that it hears.

    train.py [--steps N] [--seed K] [--threads T] [--rate R] [--spoken N] [--data DIR] [--from DIR] [--out DIR]

speak.py has espeak-ng speak the sentences. They are kept in --data, by default out/digits. Each time that one is used,
it gets silence before and after, another channel and noise. With --from, training continues with the weights of a folder.
Writes into DIR, by default the folder of this file, the files of Hugging Face's libraries

    config.json, model.safetensors, preprocessor_config.json, vocab.json, tokenizer_config.json

and held.tsv with the sounds that it names, and prints the word error rate on sentences and voices that are held out.

Run with Python 3.11, torch 2.15.0, transformers 5.24.0, numpy 2.4.6, soxr 1.1.0, espeak-ng 1.51.
"""

import argparse
import json
import time
import wave
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from transformers import Wav2Vec2Config, Wav2Vec2CTCTokenizer, Wav2Vec2FeatureExtractor, Wav2Vec2ForCTC

import speak

LETTERS = sorted(set("".join(speak.WORDS)))
TOKENS = ["<pad>", "<s>", "</s>", "<unk>", "|"] + LETTERS       # <pad> is the blank of CTC
BATCH = 16              # sentences
RATE = 0.006            # the highest learning rate
DECAY = 0.01
FACTORS = [1.4, 1.4, 1.4, 1.4, 1.4, 1.2, 1.0, 1.0]     # of the steps of orthogonal(); none diverges below sqrt(3)
POOL = 8                # batches are cut from this many, so that their sentences have similar lengths
TESTS = 500             # sentences of each test
SHIPPED, LONGEST = 6, 3 # sounds that are written, and their length in seconds
LENGTHENED = 0.6        # the share of the training before sentences are as long as they get
SAVED_EVERY = 250


# ---------------------------------------------------------------- sounds

def background(rng, count):
    """Returns a background of `count` samples and magnitude 1: white, or with more of the low frequencies."""
    noise = rng.standard_normal(count).astype(np.float32)
    if rng.random() < 0.6:
        spectrum = np.fft.rfft(noise)
        spectrum /= np.maximum(np.arange(len(spectrum)), 1 + count / speak.RATE * 50) ** rng.uniform(0, 1)
        noise = np.fft.irfft(spectrum, count).astype(np.float32)
    if rng.random() < 0.3:
        hum = 2 * np.pi * rng.uniform(45, 65) * np.arange(count) / speak.RATE
        noise /= noise.std()
        noise += sum(rng.uniform(0, 1) / n * np.sin(n * hum + rng.uniform(0, 6)) for n in range(1, 5)).astype(np.float32)
    return noise / noise.std()


def placed(samples, count, rng):
    """Returns `count` samples, with the given ones somewhere, through a channel and with noise."""
    sound = np.zeros(count, np.float32)
    at = int(rng.integers(count - len(samples) + 1))
    sound[at:at + len(samples)] = samples / 32768
    if rng.random() < 0.5:
        sound[1:] -= np.float32(rng.uniform(-0.5, 0.9)) * sound[:-1]
    if rng.random() < 0.8:
        sound += background(rng, count) * np.float32(sound.std() * 10 ** (-rng.uniform(5, 45) / 20))
    return sound


def normalised(sound):
    """Returns what Wav2Vec2FeatureExtractor makes of one sound."""
    return (sound - sound.mean()) / np.sqrt(sound.var() + 1e-7)


def labels_of(text):
    return [TOKENS.index("|" if letter == " " else letter) for letter in text]


def batches_of(texts, sounds, count, rng):
    """Yields batches of input values and labels. All sounds of a batch get the same length. The first ones are short."""
    groups, words = [], np.array([text.count(" ") + 1 for text in texts])
    for step in range(count):
        if not groups:
            most = max(2, min(speak.MOST_DIGITS, int(step / (LENGTHENED * count) * speak.MOST_DIGITS)))
            order = rng.choice(np.flatnonzero(words <= most), POOL * BATCH, replace=False)
            order = sorted(order, key=lambda i: len(sounds[i]))
            groups = [order[at:at + BATCH] for at in range(0, len(order), BATCH)]
            rng.shuffle(groups)
        group = groups.pop()
        length = max(len(sounds[i]) for i in group) + int(rng.exponential(0.2) * speak.RATE)
        values = np.stack([normalised(placed(sounds[i], length, rng)) for i in group])
        rows = [labels_of(texts[i]) for i in group]
        labels = torch.full((BATCH, max(map(len, rows))), -100)
        for row, tokens in enumerate(rows):
            labels[row, :len(tokens)] = torch.tensor(tokens)
        yield torch.from_numpy(values), labels


# ---------------------------------------------------------------- the model

def new_model():
    return Wav2Vec2ForCTC(Wav2Vec2Config(
        vocab_size=len(TOKENS), hidden_size=128, num_hidden_layers=3, num_attention_heads=4, intermediate_size=384,
        conv_dim=[32] * 3 + [64] * 4, conv_kernel=[10, 3, 3, 3, 3, 2, 2], conv_stride=[5, 2, 2, 2, 2, 2, 2], conv_bias=True,
        num_conv_pos_embeddings=32, num_conv_pos_embedding_groups=4, feat_extract_norm="layer", do_stable_layer_norm=True,
        hidden_dropout=0.0, activation_dropout=0.0, attention_dropout=0.0, feat_proj_dropout=0.0, final_dropout=0.0,
        layerdrop=0.0, apply_spec_augment=False, ctc_loss_reduction="mean", ctc_zero_infinity=True, pad_token_id=0,
        bos_token_id=1, eos_token_id=2))


def features(layers, values):
    """Returns what the convolutions of transformers do, computed in less than half of the time: the samples of one time
    are next to each other, so that a stride is a row of a matrix and norms need no copies."""
    rows = values[..., None]
    for layer in layers:
        stride, (_, width, taps) = layer.conv.stride[0], layer.conv.weight.shape
        count, blocks = (rows.shape[1] - taps) // stride + 1, -(-taps // stride)
        size = (count + blocks - 1) * stride
        rows = F.pad(rows, (0, 0, 0, max(0, size - rows.shape[1])))[:, :size].reshape(len(rows), -1, stride * width)
        parts = layer.conv.weight.transpose(1, 2).flatten(1).split(stride * width, 1)
        rows = sum(F.linear(rows[:, at:at + count, :part.shape[1]], part) for at, part in enumerate(parts))
        rows = F.gelu(layer.layer_norm(rows + layer.conv.bias))
    return rows.transpose(1, 2)


def orthogonal(matrix):
    """Returns nearly the closest matrix with singular values of 1, by Newton's iteration x + x (1 - x'x) / 2."""
    x = matrix.T if matrix.shape[0] < matrix.shape[1] else matrix
    one = torch.eye(x.shape[1])
    x = x / (torch.linalg.matrix_norm(x) + 1e-12)
    for factor in FACTORS:
        x = x @ (1.5 * factor * one - 0.5 * factor ** 3 * x.T @ x)
    return x.T if matrix.shape[0] < matrix.shape[1] else x


class Muon:
    """Momentum whose steps are made orthogonal: all directions of a matrix learn at the same rate. The weights of a
    convolution are a matrix with a row for each output."""

    def __init__(self, matrices, momentum=0.95):
        self.matrices, self.momentum = matrices, momentum
        self.means = [torch.zeros_like(p) for p in matrices]

    @torch.no_grad()
    def step(self, rate):
        for p, mean in zip(self.matrices, self.means):
            mean.lerp_(p.grad, 1 - self.momentum)
            step = orthogonal(p.grad.lerp(mean, self.momentum).flatten(1)).reshape(p.shape)
            p.mul_(1 - rate * DECAY).sub_(step, alpha=0.2 * rate * max(step.flatten(1).shape) ** 0.5)
            p.grad = None


def train_model(model, batches, steps, rate, saved):
    """Trains on each batch once: Muon for matrices, AdamW for the rest. Rates rise, and fall from the middle on."""
    model.train()
    extractor = model.wav2vec2.feature_extractor
    extractor.forward = lambda values: features(extractor.conv_layers, values)
    is_other = lambda name, p: p.ndim < 2 or "lm_head" in name or "pos_conv" in name
    muon = Muon([p for name, p in model.named_parameters() if not is_other(name, p)])
    adam = torch.optim.AdamW([p for name, p in model.named_parameters() if is_other(name, p)], lr=rate,
                             betas=(0.9, 0.98), weight_decay=0.0)
    started, running = time.time(), 0.0
    for step, (values, labels) in enumerate(batches):
        now = rate * min(1.0, (step + 1) / 50) * min(1.0, 2 * (1 - step / steps))
        loss = model(input_values=values, labels=labels).loss
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
            save(model, saved)
    del extractor.forward
    return model.eval()


def save(model, folder):
    """Writes the files of the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)
    (folder / "model.safetensors").chmod(0o644)
    Wav2Vec2FeatureExtractor(feature_size=1, sampling_rate=speak.RATE, do_normalize=True,
                             return_attention_mask=True).save_pretrained(folder)
    (folder / "vocab.json").write_text(json.dumps({token: id for id, token in enumerate(TOKENS)}, indent=1) + "\n")
    Wav2Vec2CTCTokenizer(str(folder / "vocab.json"), do_lower_case=False).save_pretrained(folder)


# ---------------------------------------------------------------- judging

def text_of(logits):
    """Returns the text of the most likely tokens: repeated ones count once, and blanks separate."""
    ids = torch.unique_consecutive(logits.argmax(-1)).tolist()
    return " ".join("".join(TOKENS[id] for id in ids if id > 3).replace("|", " ").split())


def distance(a, b):
    """Returns how many words to change, to leave out or to add."""
    row = list(range(len(b) + 1))
    for i, word in enumerate(a):
        last, row[0] = row[0], i + 1
        for j, other in enumerate(b):
            last, row[j + 1] = row[j + 1], min(row[j + 1] + 1, row[j] + 1, last + (word != other))
    return row[-1]


@torch.no_grad()
def heard(model, sound):
    return text_of(model(input_values=torch.from_numpy(normalised(sound))[None]).logits[0])


def measure(model, name, utterances, sounds):
    """Prints the word error rate of sentences, one at a time, and some of the mistakes."""
    texts = [heard(model, sound) for sound in sounds]
    wrong = [distance(told.split(), one.text.split()) for told, one in zip(texts, utterances)]
    words = sum(one.text.count(" ") + 1 for one in utterances)
    print(f"{name:32}word error rate {100 * sum(wrong) / words:.2f} % of {words} words, "
          f"{wrong.count(0)} of {len(wrong)} sentences right")
    for told, one in [(told, one) for told, one, mistakes in zip(texts, utterances, wrong) if mistakes][:12]:
        print(f"    {one.text}   ({one.voice}, {one.speed} words a minute)\n    {told}")


def judge(model, data):
    """Prints the word error rates on sentences that are held out."""
    for name, seed, variants, noise in [("held-out sentences", 2, speak.TRAINED, None),
                                        ("held-out sentences and voices", 3, speak.HELD, None),
                                        ("the same with noise, 10 dB", 3, speak.HELD, 10)]:
        rng = np.random.default_rng(seed)
        utterances = speak.draw(rng, TESTS, variants, held=True)
        sounds = [one / np.float32(32768) for one in speak.speak(utterances, data / f"held{seed}.npz")]
        if noise:
            sounds = [one + background(rng, len(one)) * one.std() * np.float32(10 ** (-noise / 20)) for one in sounds]
        measure(model, name, utterances, sounds)


def written(path, samples, rate):
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.astype("<i2").tobytes())


def read(path):
    """Returns the samples of a WAV file at the rate of the model."""
    with wave.open(str(path)) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        return speak.resampled(samples) if file.getframerate() == speak.SPOKEN_RATE else samples / np.float32(32768)


def ship(model, folder):
    """Writes short sounds of held-out sentences and voices: half of them as espeak-ng does, the others resampled with
    noise."""
    rng, lines = np.random.default_rng(4), []
    while len(lines) < SHIPPED:
        one, = speak.draw(rng, 1, speak.HELD, held=True)
        samples, rate = speak.spoken(one), speak.SPOKEN_RATE
        if len(samples) > LONGEST * rate:
            continue
        if len(lines) % 2:
            sound, rate = speak.resampled(samples, one.stretch), speak.RATE
            sound += background(rng, len(sound)) * sound.std() * np.float32(10 ** (-rng.uniform(10, 20) / 20))
            samples = np.clip(sound * 32768, -32768, 32767)
        path = folder / f"held{len(lines) + 1}.wav"
        written(path, samples, rate)
        lines.append(f"{path.name}\t{one.text}\t{heard(model, read(path))}\n")
    (folder / "held.tsv").write_text("".join(lines))


# ---------------------------------------------------------------- the command

def main():
    here = Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--steps", type=int, default=1000, help=f"batches of {BATCH} sentences")
    parser.add_argument("--rate", type=float, default=RATE, help="the highest learning rate")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--spoken", type=int, default=10_000, help="sentences to train with")
    parser.add_argument("--data", type=Path, default=here.parent.parent / "out/digits", help="where sounds are kept")
    parser.add_argument("--from", dest="start", type=Path, help="a folder whose weights to begin with")
    parser.add_argument("--out", type=Path, default=here)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)

    utterances = speak.draw(np.random.default_rng(1), options.spoken)
    sounds = speak.speak(utterances, options.data / "train.npz")
    print(f"sounds               {len(sounds)}, {sum(map(len, sounds)) / speak.RATE / 3600:.1f} hours", flush=True)
    model = Wav2Vec2ForCTC.from_pretrained(options.start) if options.start else new_model()
    print(f"parameters           {sum(p.numel() for p in model.parameters())}", flush=True)

    started, used = time.time(), time.process_time()
    batches = batches_of([one.text for one in utterances], sounds, options.steps, np.random.default_rng(1 + options.seed))
    model = train_model(model, batches, options.steps, options.rate, options.data / "partial")
    print(f"trained              {time.time() - started:.0f} s, {time.process_time() - used:.0f} s of processor time")
    save(model, options.out)
    ship(model, options.out)
    judge(model, options.data)


if __name__ == "__main__":
    main()
