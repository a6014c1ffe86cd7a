"""Spoken digits for models/digits: draws sentences and voices, and has espeak-ng speak them.

espeak-ng is a package of Debian 12. Its voices are a dialect of English and a variant (a man's, a woman's, a whisper),
with a speed, a pitch and pauses between words. The voices HELD are kept for tests, and so are one in ten of the sentences.
"""

import subprocess
import zlib
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import soxr

WORDS = "ZERO ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT NINE".split()
RATE = 16_000           # samples per second of the model
SPOKEN_RATE = 22_050    # samples per second of espeak-ng
MOST_DIGITS = 8
HELD_SHARE = 10         # one sentence in ten is held out
HEADER = 44             # bytes of a WAV file before its samples

DIALECTS = "en en-us en-gb-x-rp en-gb-scotland en-gb-x-gbclan en-gb-x-gbcwmd en-029 en-us-nyc".split()
TRAINED = """m1 m2 m3 m5 m6 m7 m8 f1 f2 f4 f5 croak whisper klatt klatt2 klatt3 klatt6 adam aunty anika antonio benjamin
    boris caleb david edward grandma grandpa iven john marcelo max michel norbert pablo paul rob robert sandro shelby steph
    travis victor Alex Alicia Andy Annie Denis Diogo Gene Gene2 Hugo Jacky Lee Marco Mario Mike Nguyen""".split()
HELD = "m4 f3 Michael belinda linda quincy Andrea ed".split()

# The options of espeak-ng. `stretch` plays the result faster or slower, with a higher or a lower voice.
Utterance = namedtuple("Utterance", "text voice speed pitch gap commas stretch")


def is_held(text):
    """True for sentences that the training leaves out. All sentences of one and of two digits are needed to learn."""
    return text.count(" ") > 1 and zlib.crc32(text.encode()) % HELD_SHARE == 0


def draw_text(rng):
    """Returns one digit in one of six, else 2 to 8 digits."""
    count = 1 if rng.random() < 1 / 6 else int(rng.integers(2, MOST_DIGITS + 1))
    return " ".join(WORDS[digit] for digit in rng.integers(0, 10, count))


def draw(rng, count, variants=TRAINED, held=False):
    """Returns `count` utterances."""
    drawn = []
    while len(drawn) < count:
        text = draw_text(rng)
        if is_held(text) == held:
            variant = variants[rng.integers(len(variants))]
            drawn.append(Utterance(
                text, f"{DIALECTS[rng.integers(len(DIALECTS))]}+{variant}", int(rng.integers(120, 221)),
                int(rng.integers(20, 81)), int(rng.integers(0, 6)), bool(rng.random() < 0.2),
                float(np.exp(rng.uniform(-0.12, 0.12)) if rng.random() < 0.7 else 1)))
    return drawn


def spoken(utterance):
    """Returns the samples of espeak-ng, int16 at SPOKEN_RATE."""
    text = utterance.text.lower().replace(" ", ", " if utterance.commas else " ")
    command = ["espeak-ng", "--stdout", "-v", utterance.voice, "-s", str(utterance.speed), "-p", str(utterance.pitch),
               "-g", str(utterance.gap), text]
    wav = subprocess.run(command, check=True, capture_output=True).stdout
    return np.frombuffer(wav[HEADER:len(wav) // 2 * 2], "<i2")


def resampled(samples, stretch=1.0):
    """Returns samples at RATE, as floats of a magnitude up to 1."""
    return soxr.resample(samples.astype(np.float32) / 32768, SPOKEN_RATE * stretch, RATE, quality="HQ")


def speak(utterances, cache=None):
    """Returns the samples of all utterances at RATE, int16. They are kept in the file `cache`, if one is given."""
    if cache and cache.exists():
        kept = np.load(cache)
        if kept["said"].tolist() == [repr(utterance) for utterance in utterances]:
            return np.split(kept["samples"], kept["ends"][:-1])
    make = lambda one: np.clip(resampled(spoken(one), one.stretch) * 32768, -32768, 32767).astype(np.int16)
    with ThreadPoolExecutor(8) as pool:
        samples = list(pool.map(make, utterances))
    if cache:
        cache.parent.mkdir(parents=True, exist_ok=True)
        np.savez(cache, samples=np.concatenate(samples), ends=np.cumsum([len(one) for one in samples]),
                 said=np.array([repr(utterance) for utterance in utterances]))
    return samples
