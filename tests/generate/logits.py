"""The logits of cases of sampling, from a seed, as tests/c/sampled.h makes them."""

import numpy as np

GAMMA = np.uint64(0x9E3779B97F4A7C15)
LEAST = 1e-9  # of the largest probability: smaller ones are not compared
PLAIN, TIES, FORBIDDEN, EQUAL, NAN, INFINITE, NONE, PEAK = range(8)


def mix(value):
    value = (value ^ value >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ value >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return value ^ value >> np.uint64(31)


def logits(kind, seed, vocabulary, scale):
    """Sums of four integers of 16 bits, times a power of two: exact in float32 except for one rounding."""
    bits = mix(np.uint64(seed) + np.arange(vocabulary, dtype=np.uint64) * GAMMA)
    parts = [(bits >> np.uint64(16 * i) & np.uint64(0xFFFF)).astype(np.int64) for i in range(4)]
    number = sum(parts) - 131070
    if kind == TIES:
        number = (number >> 13) << 13
    x = (number * (scale * 2.0**-15)).astype(np.float32)
    if kind == FORBIDDEN:
        x[(mix(bits) & np.uint64(3)) == 0] = -np.inf
    if kind == EQUAL:
        x[:] = np.float32(0.25 * scale)
    if kind == NAN:
        x[seed % vocabulary] = np.nan
    if kind == INFINITE:
        x[seed % vocabulary] = np.inf
    if kind == NONE:
        x[:] = -np.inf
    if kind == PEAK:
        x[seed % vocabulary] += np.float32(5 * scale)
    return x
