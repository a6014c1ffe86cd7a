"""Writes what transformers computes from logits before it draws a token, for tests/c/test_sample.c:

    sampling.txt   a line for each case: its logits, its options, and which tokens keep which probabilities

    python3 -m venv V
    V/bin/pip install torch==2.15.0 transformers==5.23.0 numpy==2.4.6
    V/bin/python tests/generate/goldens.py [--check]        --check compares, and writes nothing

The processors and their order are transformers' own (GenerationMixin._get_logits_processor). It has no presence and
frequency penalties; they are OpenAI's definition, as a processor of the caller. Logits come from a seed (`logits`), which
the test repeats. A case is drawn again while float32's own errors decide which tokens stay. If top_p drops some of equal
logits, those of the lowest ids are dropped (`higher_ids`).

A line has, each list after its length:
    kind seed vocabulary scale | greedy temperature top_k top_p min_p repetition presence frequency
    | prompt | generated | bias: token and number | allowed
    | refused? | number of tokens | their hash | some tokens, each with its probability
The number and the hash are of the tokens whose probability is at least 1e-9 times the largest.
"""

import math
import random
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch
from transformers import GenerationConfig, LogitsProcessor, LogitsProcessorList
from transformers.generation.utils import GenerationMixin

from logits import EQUAL, FORBIDDEN, INFINITE, LEAST, NAN, NONE, PEAK, PLAIN, TIES, logits

HERE = Path(__file__).resolve().parent


class Occurrences(LogitsProcessor):
    """logit - n * frequency - (n > 0) * presence, in float32, n of the tokens that were generated."""

    def __init__(self, generated, presence, frequency):
        self.generated, self.presence, self.frequency = generated, presence, frequency

    def __call__(self, input_ids, scores):
        counts = torch.bincount(torch.tensor(self.generated, dtype=torch.long), minlength=scores.shape[-1]).float()
        return scores - counts * self.frequency - (counts > 0).float() * self.presence


def processors(case):
    """transformers' list for the options."""
    bias = [[[token], number] for token, number in case.bias] or None
    config = GenerationConfig(
        do_sample=not case.greedy, temperature=case.temperature, top_k=case.top_k, top_p=case.top_p,
        min_p=case.min_p or None, repetition_penalty=case.repetition, sequence_bias=bias, num_beams=1,
        typical_p=1.0, epsilon_cutoff=0.0, eta_cutoff=0.0, guidance_scale=1.0, remove_invalid_values=False,
        renormalize_logits=False, no_repeat_ngram_size=0, encoder_no_repeat_ngram_size=0,
        encoder_repetition_penalty=1.0, min_length=0)
    model = SimpleNamespace(config=SimpleNamespace(is_encoder_decoder=False),
                            _merge_criteria_processor_list=lambda a, b: LogitsProcessorList([*a, *b]))
    own = [Occurrences(case.generated, case.presence, case.frequency)] if case.presence or case.frequency else []
    return GenerationMixin._get_logits_processor(
        model, config, input_ids_seq_length=1, prefix_allowed_tokens_fn=(lambda *_: case.allowed) if case.allowed else None,
        logits_processor=LogitsProcessorList(own), device="cpu", model_kwargs={})


def in_doubt(case, x):
    """True if float32's errors decide what stays: the sets by float64 differ, or are near a border."""
    scores, ids = torch.tensor(x)[None], torch.tensor([[*case.prompt, *case.generated]], dtype=torch.long)
    for processor in processors(case):
        name, before = type(processor).__name__, scores
        scores = processor(ids, scores)
        p = torch.softmax(before.double()[0], -1)
        if name == "TopPLogitsWarper":
            order = torch.sort(before[0], descending=False).indices
            sums = p[order].cumsum(-1)
            dropped = sums <= 1 - case.top_p
            dropped[-1] = False
            exact = before[0].masked_fill(torch.zeros_like(dropped).scatter(0, order, dropped), -math.inf)
            if float((sums[:-1] - (1 - case.top_p)).abs().min() if len(sums) > 1 else 1) < 3e-7:
                return True
            if not torch.equal(exact.isneginf(), scores[0].isneginf()):
                return True
        if name == "MinPLogitsWarper":
            ratio = p / p.max()
            if bool(((ratio / case.min_p - 1).abs() < 1e-5).any()):
                return True
    p = torch.softmax(scores.double()[0], -1)
    return bool(((p / p.max() / LEAST - 1).abs() < 1e-2).any())


def higher_ids(before, after):
    """PyTorch's sort leaves open which of equal logits top_p drops. Lets the same number of the highest ids stay."""
    kept = after[~after.isneginf()]
    equal = torch.nonzero(before == kept.min())[:, 0] if len(kept) else []
    count = int((after[equal] == before[equal]).sum()) if len(equal) else 0
    if 0 < count < len(equal):
        after[equal[:-count]] = -math.inf
        after[equal[-count:]] = before[equal[0]]
    return after


def result(case):
    x = logits(case.kind, case.seed, case.vocabulary, case.scale)
    ids = torch.tensor([[*case.prompt, *case.generated]], dtype=torch.long)
    scores = torch.tensor(x)
    for processor in processors(case):
        before, scores = scores, processor(ids, scores[None])[0]
        if type(processor).__name__ == "TopPLogitsWarper":
            scores = higher_ids(before, scores)
    if case.greedy:
        return False, torch.nn.functional.one_hot(scores.argmax(), case.vocabulary).float()
    try:
        torch.multinomial(torch.softmax(scores, -1)[None], 1)
    except RuntimeError:
        return True, None
    return False, torch.softmax(scores.double(), -1)  # float32's sum of 50,000 is 6e-6 off


def draw(random):
    """A random case; most have one or two options."""
    big = random.random()
    vocabulary = random.choice([3, 4, 5, 8, 17]) if big < 0.3 else random.randint(3, 200) if big < 0.75 else \
        random.choice([63, 64, 65, 127, 128, 129, 1000, 1024]) if big < 0.92 else random.choice([5000, 32000, 50000])
    kind = random.choice([PLAIN] * 5 + [TIES] * 3 + [FORBIDDEN, FORBIDDEN, EQUAL, PEAK, PEAK])
    case = SimpleNamespace(
        kind=kind, seed=random.getrandbits(40), vocabulary=vocabulary, scale=random.choice([0.25, 1, 2, 4, 8]),
        greedy=0, temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, repetition=1.0, presence=0.0, frequency=0.0,
        prompt=[], generated=[], bias=[], allowed=[])
    wanted = random.choice([1, 1, 2, 3, 9])
    chosen = random.sample(range(7), min(wanted, 7)) if wanted < 9 else range(7)
    few = [random.randrange(vocabulary) for _ in range(4)]
    token = lambda: random.choice(few) if random.random() < 0.5 else random.randrange(vocabulary)  # noqa: E731
    for option in chosen:
        if option == 0:
            case.temperature = random.choice([0.05, 0.3, 0.6, 0.7, 0.8, 1.3, 2.0, 10.0])
        if option == 1:
            case.top_k = random.choice([1, 2, 3, 5, 20, 40, 50, 100, 1000, vocabulary])
        if option == 2:
            case.top_p = random.choice([0.0, 0.1, 0.5, 0.8, 0.9, 0.95, 0.99, round(random.random(), 4)])
        if option == 3:
            case.min_p = random.choice([0.001, 0.02, 0.05, 0.1, 0.5, 1.0, round(random.random(), 4)])
        if option == 4:
            case.repetition = random.choice([0.7, 1.05, 1.1, 1.3, 2.0])
        if option == 5:
            case.presence, case.frequency = random.choice([(0.5, 0.0), (0.0, 0.3), (1.5, 0.7), (-1.0, -0.2)])
        if option == 6 and random.random() < 0.5:
            case.bias = [(t, random.choice([-math.inf, -3.0, 0.5, 5.0, round(random.gauss(0, 3), 3)]))
                         for t in sorted({token() for _ in range(random.randint(1, 6))})]
        elif option == 6:
            case.allowed = sorted({token() for _ in range(random.randint(1, 12))})
    if case.repetition != 1 or case.presence or case.frequency:
        case.prompt = [token() for _ in range(random.randint(0, 12))]
        case.generated = [token() for _ in range(random.randint(0 if case.prompt else 1, 12))]
    if random.random() < 0.12:
        case.greedy, case.temperature, case.top_k, case.top_p, case.min_p = 1, 1.0, 50, 1.0, 0.0
    return case


def special(kind, **options):
    case = draw(random.Random(1))
    for name, value in dict(kind=kind, vocabulary=70, scale=2, greedy=0, temperature=1.0, top_k=0, top_p=1.0, min_p=0.0,
                            repetition=1.0, presence=0.0, frequency=0.0, prompt=[], generated=[], bias=[],
                            allowed=[]).items():
        setattr(case, name, options.get(name, value))
    case.seed = options.get("seed", 77)
    return case


def specials():
    """Logits that are not finite, and the borders of options."""
    for options in ({}, {"top_k": 5}, {"top_p": 0.5}, {"min_p": 0.5}, {"allowed": [3, 7]}, {"bias": [(2, -1.0)]}):
        for kind in (NAN, INFINITE, NONE):
            yield special(kind, **options)
    yield special(NAN, allowed=[7])                # 77 % 70: the NaN is allowed
    yield special(INFINITE, greedy=1, top_k=50)
    yield special(INFINITE, bias=[(7, -math.inf)])
    yield special(PLAIN, bias=[(i, -math.inf) for i in range(70)])
    yield special(FORBIDDEN, allowed=[3])
    for temperature in (1e-3, 1e3, 1e30):
        yield special(PLAIN, temperature=temperature)
    for top_k in (1, 69, 70, 71, 10**9):
        yield special(TIES, top_k=top_k)
        yield special(EQUAL, top_k=top_k)
    yield special(PLAIN, vocabulary=1)
    yield special(PLAIN, vocabulary=1, top_p=0.0, top_k=1, min_p=1.0)


def cases():
    yield from specials()
    source = random.Random(20)
    for _ in range(2400):
        while True:
            case = draw(source)
            if case.greedy or not in_doubt(case, logits(case.kind, case.seed, case.vocabulary, case.scale)):
                break
        yield case


def line(case):
    refused, p = result(case)
    words = [case.kind, case.seed, case.vocabulary, case.scale, "|", case.greedy, case.temperature, case.top_k, case.top_p,
             case.min_p, case.repetition, case.presence, case.frequency]
    pairs = [word for token, number in case.bias for word in (token, number)]
    words += ["|", len(case.prompt), *case.prompt, "|", len(case.generated), *case.generated,
              "|", len(case.bias), *pairs, "|", len(case.allowed), *case.allowed, "|", int(refused)]
    if not refused:
        kept = [int(i) for i in torch.nonzero(p >= LEAST * p.max())[:, 0]]
        hashed = 0
        for token in kept:
            hashed = (hashed * 1000003 + token + 1) % 2**32
        order = sorted(kept, key=lambda token: (-float(p[token]), token))
        shown = sorted({order[i] for i in (0, 1, 2, len(order) // 2, len(order) - 1) if i < len(order)})
        words += [len(kept), hashed, len(shown), *[w for token in shown for w in (token, "%.9g" % float(p[token]))]]
    return " ".join(str(word) for word in words)


def same(new, old):
    a, b = new.split(), old.split()
    return len(a) == len(b) and all(x == y or abs(float(x) - float(y)) <= 2e-6 * abs(float(y)) for x, y in zip(a, b))


def main():
    lines = [line(case) for case in cases()]
    path = HERE / "sampling.txt"
    if sys.argv[1:] == ["--check"]:
        stored = path.read_text().splitlines()
        different = [i + 1 for i, (a, b) in enumerate(zip(lines, stored)) if not same(a, b)]
        print(f"{len(lines)} cases, {len(stored)} stored; lines that differ: {different[:20]}")
        sys.exit(1 if different or len(lines) != len(stored) else 0)
    path.write_text("\n".join(lines) + "\n")
    print(len(lines), "cases,", sum(" | 1" == text[-4:] for text in lines), "refused")


main()
