"""Fits the polynomials of runtime/ops/elementary.h: relative minimax by the Remez exchange
in 40 digits (needs mpmath). Prints each polynomial's coefficients, constant term first,
as the nearest floats, and its largest relative error before and after that rounding."""
import struct
from mpmath import mp, mpf, matrix, lu_solve, erfc, log, sqrt, cos, pi

mp.dps = 40


def single(x):
    return mpf(struct.unpack("f", struct.pack("f", float(x)))[0])


def polynomial(c, x):
    y = mpf(0)
    for a in reversed(c):
        y = y * x + a
    return y


def remez(f, weight, low, high, degree, grid=1500, rounds=12):
    """Coefficients c that minimise max |weight(x) (f(x) - c(x))| on [low, high]."""
    xs = [(low + high) / 2 - (high - low) / 2 * cos(pi * i / grid) for i in range(grid + 1)]
    fs, ws = [f(x) for x in xs], [weight(x) for x in xs]
    at = [round(i * grid / mpf(degree + 1)) for i in range(degree + 2)]
    best, least = None, None
    for _ in range(rounds):
        a = matrix(degree + 2, degree + 2)
        b = matrix(degree + 2, 1)
        for row, i in enumerate(at):
            for j in range(degree + 1):
                a[row, j] = xs[i] ** j
            a[row, degree + 1] = (-1) ** row / ws[i]
            b[row] = fs[i]
        c = list(lu_solve(a, b))[: degree + 1]
        error = [w * (v - polynomial(c, x)) for x, v, w in zip(xs, fs, ws)]
        largest = max(abs(e) for e in error)
        if least is None or largest < least:
            best, least = c, largest
        peaks, start = [], 0
        for i in range(1, grid + 2):
            if i > grid or error[i] * error[start] < 0:
                peaks.append(max(range(start, i), key=lambda k: abs(error[k])))
                start = i
        if len(peaks) < degree + 2:
            break
        while len(peaks) > degree + 2:
            peaks.pop(0 if abs(error[peaks[0]]) < abs(error[peaks[-1]]) else -1)
        at = peaks
    rounded = [single(x) for x in best]
    after = max(abs(w * (v - polynomial(rounded, x))) for x, v, w in zip(xs, fs, ws))
    return rounded, least, after


def show(name, fit):
    c, before, after = fit
    print(name, "error %.2e, rounded %.2e" % (float(before), float(after)))
    print("   ", ", ".join("%.9gf" % float(x) for x in c))


def neighbours(x, count):
    """The floats next to x, `count` on each side."""
    bits = struct.unpack("I", struct.pack("f", float(x)))[0]
    return [mpf(struct.unpack("f", struct.pack("I", bits + i))[0]) for i in range(-count, count + 1)]


def nearest(f, weight, low, high, degree, around0, around1):
    """As remez, but of floats that make up for each other's rounding: each coefficient is fitted anew to the ones
    before it, which for the first two are tried on either side."""

    def rest(fixed):
        def left(x):
            return (f(x) - polynomial(fixed, x)) / x ** len(fixed)

        # an odd grid, so that 0 is no point of it
        return remez(left, lambda x: weight(x) * abs(x) ** len(fixed), low, high, degree - len(fixed), 201, 6)

    xs = [low + (high - low) * i / mpf(999) for i in range(1000)]
    fs, ws = [f(x) for x in xs], [weight(x) for x in xs]
    first, before, _ = remez(f, weight, low, high, degree, 301)
    best, least = None, mpf(1)
    for c0 in neighbours(first[0], around0):
        for c1 in neighbours(rest([c0])[0][0], around1):
            fixed = [c0, c1]
            while len(fixed) <= degree:
                fixed.append(rest(fixed)[0][0])
            error = max(w * abs(v - polynomial(fixed, x)) for x, v, w in zip(xs, fs, ws))
            if error < least:
                best, least = fixed, error
    return best, before, least


def ulps(below):
    """Of an error of (2^r - 1) / r: that of 2^r, `below` times as heavy for negative r."""
    return lambda r: abs(r) * (below if r < 0 else 1)


# (2^r - 1) / r on [-1/2, 1/2]
def slope(r):
    return log(2) if abs(r) < 1e-30 else (mpf(2) ** r - 1) / r


# Phi(-a) a = 2^(-c a^2) w Q(w), w = a / (a + shift), c the float nearest to log2(e)/2, on the a where it counts
def tail(shift):
    c = single(1 / log(2) / 2)

    def q(w):
        a = w * shift / (1 - w)
        return erfc(a / sqrt(2)) / 2 * 2 ** (c * a * a) * (a + shift)

    return q


# -log2(erfc(a)) / a on [0, 4], weighted so that 1 - 2^-(a G(a)) has the stated error relative to erf(a)
def decay(a):
    return -log(erfc(a), 2) / a if a > 0 else 2 / sqrt(pi) / log(2)


def decay_weight(a):
    return log(2) * a * erfc(a) / (1 - erfc(a)) if a > 0 else log(2) * sqrt(pi) / 2


if __name__ == "__main__":
    show("2^r = 1 + r P(r)", remez(slope, lambda r: 1 / slope(r), mpf(-0.5), mpf(0.5), 5))
    # below 0 a result has half the ulp; roundings take more of it there, too, which the 2.45 leaves room for
    show("2^r = 1 + r P(r), in ulp, |r| <= 1/2", nearest(slope, ulps(2.45), mpf(-0.5), mpf(0.5), 4, 6, 2))
    show("2^r = 1 + r P(r), in ulp, |r| <= 1", nearest(slope, ulps(2), mpf(-1), mpf(1), 6, 1, 1))
    last, shift = mpf(13.27), mpf(3.75)
    q = tail(shift)
    show("Q(w)", remez(q, lambda w: 1 / q(w), mpf(0), last / (last + shift), 6))
    show("L(a) of gelu_rounded", remez(lambda a: log(erfc(a / sqrt(2)) / 2, 2), lambda a: log(2), mpf(0), mpf(5.5), 6))
    show("2^r of gelu_rounded", remez(lambda r: mpf(2) ** r, lambda r: mpf(2) ** -r, mpf(-0.5), mpf(0.5), 3))
    show("G(a)", remez(decay, decay_weight, mpf(0), mpf(4), 7))
