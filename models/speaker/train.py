#!/usr/bin/env python3
"""Trains the speaker classifier of models/speaker on synthetic speech features.

The data are log filter-bank frames of 600 made-up speakers. A speaker is a vocal
tract (formants of common phones, moved and reshaped), a pitch and a rhythm. Each
segment of 128 frames is a session of its own, with its own gain, channel, noise
and words. Training draws new sessions for each step. Accuracy is measured on sessions
of another seed, and the shipped segments are from these.

A second classifier, multinomial logistic regression on the time-means of the same
training segments, shows how much of the task is only the average spectrum.

    train.py [--steps N] [--seed K] [--out DIR]

Writes into DIR, by default the folder of this file:

    speaker.safetensors   the weights, float32, with PyTorch's names
    segments.npy          float32 [64, 128, 40], segments not trained on
    labels.npy            int32 [64], the speaker of each segment
    logits.npy            float32 [64, 600], PyTorch's logits for them

Run with Python 3.11, torch 2.15.0, numpy 2.4.6, safetensors 0.8.0.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save
from torch import nn

SPEAKERS, FRAMES, BANDS = 600, 128, 40
BATCH = 64
RATE = 3e-3             # the highest learning rate
HELD_OUT = 10           # held-out sessions a speaker
SHIPPED = 64            # segments that are written

# Parameters of the data, in nepers of power unless another unit is given; frames are 20 ms apart.
HABIT = 0.22            # spread of the log frequencies of a speaker's formants, by phone
HEIGHT = 1.5            # spread of their levels
LEVELLED = 0.5          # part of a voice's average spectrum that is removed, 0 to 1
DURATION = 1.0, 4.0     # frames a phone lasts beyond its first, by speaker
ERROR = 0.15            # error of one band of one frame
NOISE = 8.0             # level of the background below the loudest phones
CHANNEL = 0.3           # size of the channel's curves
CURVES = 6              # number of these curves
GAIN = 0.8              # spread of the level of a session

# Each seed gives four streams of random numbers.
VOICES, TRAINING, HELD, SAMPLE = range(4)


# ---------------------------------------------------------------- the speech

# Formants in Hz, their levels in nepers of power, voicing, level, and share of speech.
PHONES = [
    # F1    F2    F3    F4     levels               voiced level share
    (270, 2290, 3010, 3700, (0.0, -2.0, -2.6, -3.5), 1.0, 0.0, 8),
    (390, 1990, 2550, 3600, (0.0, -1.8, -2.4, -3.6), 1.0, 0.3, 8),
    (530, 1840, 2480, 3500, (0.0, -1.4, -2.0, -3.4), 1.0, 0.6, 8),
    (660, 1720, 2410, 3500, (0.0, -1.0, -2.0, -3.2), 1.0, 0.9, 6),
    (730, 1090, 2440, 3400, (0.0, -0.6, -2.8, -3.6), 1.0, 1.0, 7),
    (570, 840, 2410, 3300, (0.0, -0.8, -3.4, -4.2), 1.0, 0.8, 6),
    (440, 1020, 2240, 3300, (0.0, -1.2, -3.2, -4.2), 1.0, 0.4, 5),
    (300, 870, 2240, 3300, (0.0, -1.8, -4.0, -4.8), 1.0, 0.0, 6),
    (640, 1190, 2390, 3400, (0.0, -1.0, -2.6, -3.5), 1.0, 0.7, 8),
    (490, 1350, 1690, 3300, (0.0, -1.0, -1.4, -3.6), 1.0, 0.5, 5),
    (250, 1100, 2200, 3200, (0.0, -3.0, -3.8, -4.6), 0.9, -0.6, 6),
    (280, 1600, 2500, 3400, (0.0, -2.8, -3.6, -4.4), 0.9, -0.6, 6),
    (1500, 3500, 4800, 6200, (-3.0, -1.2, 0.0, -0.2), 0.0, -0.6, 6),
    (1800, 2600, 3600, 5200, (-2.0, 0.0, -0.2, -0.8), 0.0, -0.3, 5),
    (900, 1900, 3300, 6000, (-1.6, -1.0, -0.8, -0.6), 0.0, -1.8, 5),
    (300, 1200, 2500, 3700, (-0.4, -1.6, -2.0, -2.4), 0.2, -3.2, 5),
]


def mel(hz):
    return 1127.0 * np.log1p(np.asarray(hz, np.float64) / 700.0)


LOWEST, HIGHEST = mel(80.0), mel(7600.0)
CENTRES = 700.0 * np.expm1(np.linspace(LOWEST, HIGHEST, BANDS) / 1127.0)


def band_of(hz):
    """Returns the place of a frequency on the axis of bands, 0 to 39."""
    return (mel(hz) - LOWEST) / (HIGHEST - LOWEST) * (BANDS - 1)


class Speech:
    """600 voices, and sessions in which they speak."""

    PITCHES = np.exp(np.linspace(np.log(70.0), np.log(320.0), 96))

    def __init__(self, seed):
        rng = np.random.default_rng([seed, VOICES])
        phones = len(PHONES)
        formants = np.array([p[:4] for p in PHONES], np.float64)
        levels = np.array([p[4] for p in PHONES])
        self.voiced = np.array([p[5] for p in PHONES], np.float32)
        level = np.array([p[6] for p in PHONES])
        share = np.array([p[7] for p in PHONES], np.float64)

        # The vocal tract: one factor for all formants, then habits phone by phone.
        tract = np.exp(rng.uniform(-0.16, 0.16, (SPEAKERS, 1, 1)))
        habit = np.exp(rng.normal(0.0, HABIT, (SPEAKERS, phones, 4)))
        place = band_of(formants * tract * habit)
        width = (1.3 + 0.05 * place) * np.exp(rng.normal(0.0, 0.15, (SPEAKERS, phones, 4)))
        height = levels + rng.normal(0.0, HEIGHT, (SPEAKERS, phones, 4))
        distance = (np.arange(BANDS) - place[..., None]) / width[..., None]
        power = np.exp(height[..., None] - 0.5 * distance ** 2).sum(2) + np.exp(-6.0)
        self.envelope = (np.log(power) + level[:, None]).astype(np.float32)

        # Pitch: harmonics are resolved in the low bands and blur towards the high ones.
        harmonic = np.cos(2.0 * np.pi * CENTRES / self.PITCHES[:, None])
        spacing = np.gradient(CENTRES)
        depth = np.exp(-0.5 * (1.3 * spacing / self.PITCHES[:, None]) ** 2)
        self.ripple = (1.2 * harmonic * depth).astype(np.float32)
        self.pitch = np.exp(rng.uniform(np.log(95.0), np.log(240.0), SPEAKERS))
        self.liveliness = rng.uniform(0.04, 0.14, SPEAKERS)

        # Rhythm: the duration of phones, and the depth and rate of syllables.
        self.duration = rng.uniform(*DURATION, SPEAKERS)
        self.syllable_rate = rng.uniform(0.03, 0.07, SPEAKERS)
        self.syllable_depth = rng.uniform(0.2, 0.8, SPEAKERS)
        share = share * np.exp(rng.normal(0.0, 0.2, (SPEAKERS, phones)))
        share /= share.sum(1, keepdims=True)
        self.choice = np.cumsum(share, 1)

        # A part of each voice's average spectrum is removed, as a studio would do.
        average = (share[..., None] * self.envelope).sum(1)
        self.envelope -= (LEVELLED * (average - average.mean(0)))[:, None].astype(np.float32)

        # Channels and noises are sums of these curves, smoothest first.
        order = np.arange(1, CURVES + 1)[:, None]
        curves = np.sqrt(2.0) * np.cos(np.pi * order * (np.arange(BANDS) + 0.5) / BANDS)
        self.curves = curves.astype(np.float32)
        self.channel_scale = (CHANNEL / np.sqrt(order[:, 0])).astype(np.float32)

    def sessions(self, speaker, rng):
        """Returns one segment of each speaker of an array: float32 [n][FRAMES][BANDS]."""
        n = len(speaker)
        normal = lambda *shape: rng.standard_normal(shape, np.float32)
        t = np.arange(FRAMES, dtype=np.float32)

        # Phones follow one another; each frame is in one, and neighbours blend.
        count = FRAMES + 16     # enough: each lasts more than one frame
        drawn = rng.random((n, count, 1))
        phone = (drawn > self.choice[speaker][:, None, :]).sum(2)
        phone = np.minimum(phone, len(PHONES) - 1)
        tempo = self.duration[speaker] * np.exp(rng.normal(0.0, 0.1, n))
        ends = np.cumsum(1.0 + rng.gamma(2.0, tempo[:, None] / 2.0, (n, count)), 1)
        turn = (ends[:, None, :] <= t[:, None] + tempo[:, None, None]).sum(2)
        frame_phone = np.take_along_axis(phone, np.minimum(turn, count - 1), 1)
        frames = self.envelope[speaker[:, None], frame_phone]
        frames = blend(frames, (0.12, 0.22, 0.32, 0.22, 0.12))
        voiced = self.voiced[frame_phone]

        # Pitch falls over the segment and oscillates.
        wave = np.sin(2 * np.pi * (rng.uniform(0.005, 0.02, (n, 1)) * t + rng.random((n, 1))))
        contour = self.liveliness[speaker][:, None] * (wave + 0.6 - 1.2 * t / FRAMES)
        mood = rng.normal(0.0, 0.04, (n, 1))
        hz = self.pitch[speaker][:, None] * np.exp(contour + mood)
        step = np.log(self.PITCHES[1] / self.PITCHES[0])
        index = np.rint(np.log(hz / self.PITCHES[0]) / step).astype(np.int64)
        frames += voiced[..., None] * self.ripple[np.clip(index, 0, len(self.PITCHES) - 1)]

        # Syllables swell and fade; each frame is an estimate with its own error.
        swell = np.sin(2 * np.pi * (self.syllable_rate[speaker][:, None] * t + rng.random((n, 1))))
        frames += (self.syllable_depth[speaker][:, None] * swell)[..., None].astype(np.float32)
        frames += ERROR * normal(n, FRAMES, BANDS)

        # The session: background noise, then the channel and the gain on both.
        floor = -NOISE + 0.7 * normal(n, 1) + 0.5 * normal(n, 4) @ self.curves[:4]
        noise = floor[:, None, :] + ERROR * normal(n, FRAMES, BANDS)
        frames = np.logaddexp(frames, noise)
        channel = (self.channel_scale * normal(n, len(self.curves))) @ self.curves
        frames += (channel + GAIN * normal(n, 1))[:, None, :]
        return frames + np.float32(2.0)      # centred, roughly


def blend(frames, kernel):
    """Averages each frame with its neighbours in time; ends repeat."""
    half = len(kernel) // 2
    padded = np.pad(frames, ((0, 0), (half, half), (0, 0)), mode="edge")
    return sum(np.float32(k) * padded[:, i:i + frames.shape[1]] for i, k in enumerate(kernel))


# ---------------------------------------------------------------- the model

class MeanOverTime(nn.Module):
    def forward(self, x):
        return x.mean(1)


class Speaker(nn.Module):
    """Maps frames [batch][time][40] to one logit a speaker, without positions."""

    def __init__(self):
        super().__init__()
        self.input = nn.Linear(BANDS, 80)
        layer = nn.TransformerEncoderLayer(80, 2, 256, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.output = nn.Sequential(MeanOverTime(), nn.Linear(80, 80), nn.Sigmoid(),
                                    nn.Linear(80, SPEAKERS))

    def forward(self, frames):
        return self.output(self.encoder(self.input(frames)))


def spread(model, frames):
    """Initializes the hidden layer where the sigmoid is steep: each unit centred, of one scale."""
    with torch.no_grad():
        pool, hidden = model.output[0], model.output[1]
        before = F.linear(pool(model.encoder(model.input(frames))), hidden.weight)
        scale = 3.0 / before.std(0)
        hidden.weight *= scale[:, None]
        hidden.bias.copy_(-before.mean(0) * scale)


def train_speaker(speech, rng, steps, seed):
    """Returns the trained model, and the time-means and speakers of all segments that it was trained on."""
    torch.manual_seed(seed)
    model = Speaker()
    spread(model, torch.from_numpy(speech.sessions(rng.integers(0, SPEAKERS, 512), rng)))
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.99))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, steps, pct_start=0.1)
    means, speakers = [], []
    started, running = time.time(), 0.0
    for step in range(1, steps + 1):
        speaker = rng.integers(0, SPEAKERS, BATCH)
        frames = speech.sessions(speaker, rng)
        means.append(frames.mean(1))
        speakers.append(speaker)
        loss = F.cross_entropy(model(torch.from_numpy(frames)), torch.from_numpy(speaker))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        running += loss.item()
        if step % 500 == 0 or step == steps:
            print(f"  step {step:6} of {steps}   loss {running / ((step - 1) % 500 + 1):.3f}   "
                  f"{time.time() - started:.0f} s", flush=True)
            running = 0.0
    return model.eval(), np.concatenate(means), np.concatenate(speakers)


def logits_of(model, frames):
    with torch.no_grad():
        return torch.cat([model(part) for part in torch.from_numpy(frames).split(100)]).numpy()


def train_linear(means, speakers, seed, epochs=20):
    """Returns a multinomial logistic regression, as a function from time-means to logits."""
    torch.manual_seed(seed)
    centre, scale = means.mean(0), means.std(0)
    standard = lambda x: torch.from_numpy((x - centre) / scale)
    x, y = standard(means), torch.from_numpy(speakers)
    linear = nn.Linear(BANDS, SPEAKERS)
    optimiser = torch.optim.Adam(linear.parameters(), lr=0.02)
    size = min(2048, len(x))
    steps = epochs * (len(x) // size)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    for _ in range(epochs):
        for part in torch.randperm(len(x))[: len(x) // size * size].split(size):
            loss = F.cross_entropy(linear(x[part]), y[part])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
    return lambda held: linear(standard(held)).detach().numpy()


# ---------------------------------------------------------------- the command

def top1(logits, speakers):
    return 100.0 * float((logits.argmax(1) == speakers).mean())


def main():
    parser = argparse.ArgumentParser(description="trains the speaker classifier")
    parser.add_argument("--steps", type=int, default=7000, help=f"steps of {BATCH} segments (default 7000)")
    parser.add_argument("--seed", type=int, default=1, help="seed of all random numbers (default 1)")
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent,
                        help="folder of the results (default: the folder of this file)")
    options = parser.parse_args()
    torch.backends.mha.set_fastpath_enabled(False)
    torch.set_num_threads(2)
    stream = lambda which: np.random.default_rng([options.seed, which])

    speech = Speech(options.seed)
    speaker = np.repeat(np.arange(SPEAKERS), HELD_OUT)
    held_rng = stream(HELD)
    held = np.concatenate([speech.sessions(part, held_rng) for part in np.split(speaker, 20)])

    started = time.time()
    model, means, speakers = train_speaker(speech, stream(TRAINING), options.steps, options.seed)
    print(f"trained on           {len(speakers)} segments in {time.time() - started:.0f} s")
    print(f"parameters           {sum(p.numel() for p in model.parameters())}")

    linear = train_linear(means, speakers, options.seed)
    print(f"held out             {len(held)} segments, {HELD_OUT} a speaker, {SPEAKERS} speakers")
    print(f"linear on time-means {top1(linear(held.mean(1)), speaker):.1f} % top-1")
    print(f"transformer          {top1(logits_of(model, held), speaker):.1f} % top-1")

    # The sample is random: speakers, and one of the sessions of each.
    rng = stream(SAMPLE)
    chosen = rng.choice(SPEAKERS, SHIPPED, replace=False)
    row = chosen * HELD_OUT + rng.integers(0, HELD_OUT, SHIPPED)
    segments, labels = np.ascontiguousarray(held[row]), speaker[row].astype(np.int32)
    logits = logits_of(model, segments)
    print(f"segments shipped     {SHIPPED}, {int((logits.argmax(1) == labels).sum())} of them right")

    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "speaker.safetensors").write_bytes(save(model.state_dict()))
    for name, array in (("segments", segments), ("labels", labels), ("logits", logits)):
        np.save(options.out / f"{name}.npy", array)
    for name in ("speaker.safetensors", "segments.npy", "labels.npy", "logits.npy"):
        print(f"{name:20} {(options.out / name).stat().st_size} bytes")


if __name__ == "__main__":
    main()
