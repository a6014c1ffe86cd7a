"""Writes what llama.cpp's options of sampling leave of random logits, for tests/c/test_sample_chain.c:

    chains.txt   a line for each case: its logits, its options, and which tokens keep which probabilities

    /usr/bin/python3 tests/generate/chains.py [--check]     needs numpy; --check compares, and writes nothing

The definitions are written anew from src/llama-sampling.cpp, in double precision: DRY looks at all pairs of places,
typical_p sorts. Logits are float32 between options, as there. XTC always acts. A case is drawn again while small errors
decide which tokens stay. Of equal logits, of which llama.cpp says nothing, the tokens with higher ids stay; typical_p
keeps all of them.

A line has, each list after its length:
    kind seed vocabulary scale | temperature top_k top_p min_p repetition presence frequency
    | top_n_sigma typical_p xtc_probability xtc_threshold dynatemp_range dynatemp_exponent mirostat tau
    | dry_multiplier dry_base dry_allowed_length dry_last_n | prompt | generated | breakers | order or -
    | number of tokens | their hash | some tokens, each with its probability
"""

import math
import random
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from logits import FORBIDDEN, LEAST, PEAK, PLAIN, TIES, logits

HERE = Path(__file__).resolve().parent
F = np.float32
USUAL = "penalties;dry;temperature;top_n_sigma;top_k;top_p;min_p;typ_p;xtc".split(";")
LLAMA = "penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;temperature".split(";")


def softmax(x):
    e = np.exp(x.astype(np.float64) - float(x.max()))
    return e / e.sum()


def penalties(c, ids, x):
    for token in set(c.prompt + c.generated):
        if c.repetition != 1 or c.presence or c.frequency:
            n = c.generated.count(token)
            y = x[token]
            y = y * F(c.repetition) if y < 0 else y / F(c.repetition)
            y = y - F(n) * F(c.frequency)
            x[token] = y - F(c.presence) if n else y


def breaker_at(text, at, breakers):
    """The tokens of the longest breaker that begins at a place of the text; 0: none does."""
    return max([len(b) for b in breakers if text[at:at + len(b)] == b], default=0)


def dry(c, ids, x):
    text = (c.prompt + c.generated)[-c.last_n:] if c.last_n > 0 else c.prompt + c.generated if c.last_n else []
    if not c.multiplier or len(text) <= c.allowed:
        return
    limit = len(text)
    for at in reversed(range(len(text))):
        size = breaker_at(text, at, c.breakers)
        if size:
            limit = len(text) - at - size
            break
    if limit < c.allowed:
        return
    longest = {}
    for end in range(1, len(text)):  # an earlier end of a repetition; text[end] followed it
        n = 0
        while n < end and text[end - 1 - n] == text[len(text) - 1 - n]:
            n += 1
        if min(n, limit) >= c.allowed:
            longest[text[end]] = max(longest.get(text[end], 0), min(n, limit))
    for token, n in longest.items():
        if [token] not in c.breakers:
            x[token] -= F(F(c.multiplier) * c.base ** (n - c.allowed))


def temperature(c, ids, x, t=None):
    t = c.temperature
    if c.range > 0:
        if len(ids) < 2:
            return
        p = softmax(x[ids])
        entropy = -sum(v * math.log(v) for v in p if v > 0)
        low = max(0.0, c.temperature - c.range)
        t = low + (c.temperature + c.range - low) * (entropy / math.log(len(ids))) ** c.exponent
    if t < 1.2e-38:
        x[ids] = np.where(x[ids] == x[ids].max(), F(0), F(-np.inf))
    elif t != 1:
        x[ids] = x[ids] / F(t)


def top_n_sigma(c, ids, x):
    y = x[ids].astype(np.float64)
    finite = y[np.isfinite(y)]
    x[ids] = np.where(y < finite.max() - c.sigma * c.off * finite.std(), F(-np.inf), x[ids])


def first(ids, keys, count):
    """The ids with the largest keys; of equal ones the higher ids. They ascend."""
    order = sorted(range(len(ids)), key=lambda i: (-keys[i], -ids[i]))
    return sorted(ids[i] for i in order[:count])


def top_k(c, ids, x):
    """The k largest. Without options of a chain all that equal the k-th stay, as in transformers."""
    kept = first(ids, x[ids], c.top_k)
    is_chained = c.order != "-" or c.sigma or c.typical < 1 or c.xtc or c.range or c.mirostat
    return kept if is_chained else [i for i in ids if x[i] >= min(x[kept])]


def top_p(c, ids, x):
    p = softmax(x[ids])
    sums = np.cumsum(np.sort(p)[::-1])
    return first(ids, x[ids], 1 + int((sums < min(c.top_p * c.off, 1 - 1e-12)).sum()))


def min_p(c, ids, x):
    p = softmax(x[ids])
    return [i for i, v in zip(ids, p) if v >= c.min_p * c.off * p.max() or v == p.max()]


def typ_p(c, ids, x):
    p = softmax(x[ids])
    d = float(x[ids].max()) - x[ids].astype(np.float64)
    score = np.abs(np.where(p > 0, d, 29.5) - (p * np.where(p > 0, d, 0)).sum() * c.off)
    order = np.argsort(score, kind="stable")
    sums = np.cumsum(p[order])
    last = min(int((sums <= c.typical * c.off).sum()), len(ids) - 1)
    return [i for i, s in zip(ids, score) if s <= score[order[last]]]


def xtc(c, ids, x):
    p = softmax(x[ids])
    above = [i for i, v in zip(ids, p) if v >= c.threshold * c.off]
    if c.threshold > 0.5 or len(above) < 2:
        return ids
    least = min(above, key=lambda i: (x[i], -i))
    return [i for i in ids if i == least or i not in above]


def mirostat(c, ids, x):
    p = softmax(x[ids])
    with np.errstate(divide="ignore"):
        return [i for i, v in zip(ids, p) if -np.log2(v) <= 2 * c.tau * c.off or v == p.max()]


STEPS = {"penalties": penalties, "dry": dry, "temperature": temperature, "top_n_sigma": top_n_sigma, "top_k": top_k,
         "top_p": top_p, "min_p": min_p, "typ_p": typ_p, "xtc": xtc, "mirostat": mirostat}


def result(c, off=1.0):
    """The probabilities. off: a factor of the borders."""
    x = logits(c.kind, c.seed, c.vocabulary, c.scale)
    c.off = off
    order = USUAL[:3] + ["mirostat"] if c.mirostat else LLAMA if c.order == "llama.cpp" else \
        USUAL if c.order == "-" else c.order.split(";")
    active = {"top_n_sigma": c.sigma > 0, "top_k": c.top_k > 0, "top_p": c.top_p < 1, "min_p": c.min_p > 0,
              "typ_p": c.typical < 1, "xtc": c.xtc > 0}
    ids = list(range(c.vocabulary))
    for name in order:
        if active.get(name, True):
            kept = STEPS[name](c, ids, x)
            ids = ids if kept is None else kept
    p = np.zeros(c.vocabulary)
    p[ids] = softmax(x[ids])
    return p


def kept_of(p):
    return [int(i) for i in np.nonzero(p >= LEAST * p.max())[0]]


def in_doubt(c):
    a, b, d = result(c), result(c, 1 - 2e-6), result(c, 1 + 2e-6)
    ratio = a[a > 0] / a.max() / LEAST
    return not kept_of(a) == kept_of(b) == kept_of(d) or bool((np.abs(ratio - 1) < 1e-2).any())


def draw(r):
    vocabulary = r.choice([2, 3, 5, 17, 64, 70, 129, 200, 200, 1000, 5000])
    c = SimpleNamespace(
        kind=r.choice([PLAIN] * 4 + [TIES, FORBIDDEN, PEAK]), seed=r.getrandbits(40), vocabulary=vocabulary,
        scale=r.choice([0.5, 1, 2, 4]), temperature=r.choice([1.0, 1.0, 0.6, 0.8, 1.5]), top_k=r.choice([0, 0, 5, 40]),
        top_p=1.0, min_p=0.0, repetition=1.0, presence=0.0, frequency=0.0, sigma=0.0, typical=1.0, xtc=0.0,
        threshold=0.1, range=0.0, exponent=1.0, mirostat=0, tau=5.0, multiplier=0.0, base=1.75, allowed=2, last_n=-1,
        prompt=[], generated=[], breakers=[], order=r.choice(["-", "-", "llama.cpp"]))
    if r.random() < 0.25:
        c.order = ";".join(r.sample(USUAL, r.randint(1, 9)))
    for option in r.sample(range(9), r.choice([1, 1, 2, 3, 9])):
        if option == 0:
            c.sigma = r.choice([0.5, 1.0, 1.5, 3.0])
        if option == 1:
            c.typical = r.choice([0.0, 0.2, 0.5, 0.9, 0.99, round(r.random(), 3)])
        if option == 2:
            c.xtc, c.threshold = 1.0, r.choice([0.01, 0.05, 0.1, 0.3, 0.5, 0.6])
        if option == 3:
            c.range, c.exponent = r.choice([(0.3, 1.0), (0.5, 2.0), (2.0, 0.5), (0.8, 0.0)])
        if option == 4:
            c.multiplier, c.base = r.choice([(0.8, 1.75), (2.0, 1.0), (0.1, 1000.0)])
            c.allowed, c.last_n = r.choice([0, 1, 2, 2, 3]), r.choice([-1, -1, 0, 5, 20, 1000])
        if option == 5:
            c.top_p = r.choice([0.1, 0.5, 0.9, 0.95])
        if option == 6:
            c.min_p = r.choice([0.01, 0.05, 0.2])
        if option == 7:
            c.repetition, c.presence, c.frequency = r.choice([(1.2, 0.0, 0.0), (1.0, 0.5, 0.25), (0.8, -0.5, 0.5)])
        if option == 8 and r.random() < 0.5:
            c.mirostat, c.tau, c.order = 2, r.choice([0.0, 0.5, 1.5, 3.0, 5.0]), "-"
    if c.mirostat:
        c.top_p, c.min_p, c.sigma, c.typical, c.xtc, c.range = 1.0, 0.0, 0.0, 1.0, 0.0, 0.0
    if c.kind == FORBIDDEN and vocabulary < 17:
        c.kind = PLAIN
    words = r.choice([2, 3, 5]) if vocabulary > 5 else vocabulary
    token = lambda: r.randrange(min(words, vocabulary))  # noqa: E731
    if c.multiplier or c.repetition != 1 or c.presence:
        c.prompt = [token() for _ in range(r.randint(0, 30))]
        c.generated = [token() for _ in range(r.randint(0 if c.prompt else 1, 30))]
    if c.multiplier:
        c.breakers = [[token() for _ in range(r.choice([1, 2, 3, 4]))] for _ in range(r.choice([0, 0, 1, 3]))]
    return c


def cases():
    source = random.Random(43)
    for _ in range(1500):
        c = draw(source)
        while in_doubt(c):
            c = draw(source)
        yield c


def line(c):
    p = result(c)
    kept = kept_of(p)
    hashed = 0
    for token in kept:
        hashed = (hashed * 1000003 + token + 1) % 2**32
    order = sorted(kept, key=lambda token: (-p[token], token))
    shown = sorted({order[i] for i in (0, 1, 2, len(order) // 2, len(order) - 1) if i < len(order)})
    flat = [number for breaker in c.breakers for number in (len(breaker), *breaker)]
    words = [c.kind, c.seed, c.vocabulary, c.scale, "|", c.temperature, c.top_k, c.top_p, c.min_p, c.repetition,
             c.presence, c.frequency, "|", c.sigma, c.typical, c.xtc, c.threshold, c.range, c.exponent, c.mirostat, c.tau,
             "|", c.multiplier, c.base, c.allowed, c.last_n, "|", len(c.prompt), *c.prompt, "|", len(c.generated),
             *c.generated, "|", len(flat), *flat, "|", c.order, "|", len(kept), hashed, len(shown)]
    return " ".join(str(w) for w in words + [w for token in shown for w in (token, "%.9g" % p[token])])


def same(new, old):
    a, b = new.split(), old.split()
    return len(a) == len(b) and all(
        x == y or "." in x and abs(float(x) - float(y)) <= 1e-7 * abs(float(y)) for x, y in zip(a, b))


def main():
    lines = [line(c) for c in cases()]
    path = HERE / "chains.txt"
    if sys.argv[1:] == ["--check"]:
        stored = path.read_text().splitlines()
        different = [i + 1 for i, (a, b) in enumerate(zip(lines, stored)) if not same(a, b)]
        print(f"{len(lines)} cases, {len(stored)} stored; lines that differ: {different[:20]}")
        sys.exit(1 if different or len(lines) != len(stored) else 0)
    path.write_text("\n".join(lines) + "\n")
    print(len(lines), "cases")


if __name__ == "__main__":
    main()
