"""Numbers in double with a bound of how far a correct computation in f32 may be from them.

A number that is rounded to bf16 or int8 turns a whole step where it lies in the middle of two, and f32's own error
decides which way. So the bound is carried along: what is rounded takes it up as a step where the step is in doubt, and
gets rid of it where it is not. Each operation has its rule beside it; where a rule of first order would not do, the
bound is infinite, or NaN.
"""

import torch
import torch.nn.functional as F

U = 2.0 ** -24          # of a rounding to f32, relative
FIRST_ORDER = 1e-2      # up to this relative perturbation a first order is taken, times SECOND for the rest
SECOND = 1.05
INT8 = 127

# Activations: the function, the steepest slope, and the tolerance of runtime/check/tolerance.c for the emitted one.
ACTIVATIONS = {
    "relu": (F.relu, 1.0, 0.0),
    "gelu": (F.gelu, 1.13, 4e-6),
    "silu": (F.silu, 1.1, 4e-6),
}


def rest(relative):
    """What a bound of first order is multiplied with, for perturbations of this size."""
    return SECOND if relative.max() < FIRST_ORDER else torch.inf


class Bounded:
    """value, in double, and error, of the same shape: any correct result is within value - error and value + error."""

    def __init__(self, value, error=None):
        self.value = value.double()
        self.error = torch.zeros_like(self.value) if error is None else error.expand(self.value.shape)

    def map(self, function):
        """What moves numbers: views, transposes, single elements."""
        return Bounded(function(self.value), function(self.error))

    def __add__(self, other):
        """One rounding of the sum."""
        value = self.value + other.value
        return Bounded(value, self.error + other.error + U * value.abs())

    def __mul__(self, other):
        value = self.value * other.value
        error = self.error * other.value.abs() + (self.value.abs() + self.error) * other.error
        return Bounded(value, error + U * value.abs())


def integers(a, b):
    """a @ b of integers, whose sums are exact."""
    size = (a.value.abs() + a.error) @ (b.value.abs() + b.error)
    return Bounded(a.value @ b.value, size - a.value.abs() @ b.value.abs())


def product(a, b):
    """a @ b: in whatever order K products are summed, there are K + 1 roundings of no more than the sum of magnitudes;
    one more for the second order."""
    exact = integers(a, b)
    roundings = (a.value.shape[-1] + 2) * U
    return Bounded(exact.value, exact.error + roundings * (a.value.abs() + a.error) @ (b.value.abs() + b.error))


def activation(name, x):
    function, slope, relative = ACTIVATIONS[name]
    value = function(x.value)
    return Bounded(value, slope * x.error + relative * value.abs())


def layer_norm(x, gain, bias, eps):
    """z = (x - mean) r. Of errors e: |dz| <= r (e + mean e + |z| mean(|z| e)). The rest is what tolerance.c allows."""
    mean = x.value.mean(-1, keepdim=True)
    variance = (x.value - mean).square().mean(-1, keepdim=True)
    r = (variance + eps).rsqrt()
    z = (x.value - mean) * r
    carried = r * (x.error + x.error.mean(-1, keepdim=True) + z.abs() * (z.abs() * x.error).mean(-1, keepdim=True))
    own = 5e-7 * ((gain * z).abs() + bias.abs()) + 4 * U * (mean.square() + variance).sqrt() * r * gain.abs()
    return Bounded(z * gain + bias, rest(x.error * r) * carried * gain.abs() + own)


def softmax(scores, scale, blocked):
    """p = softmax(scale scores), 0 where blocked. Of errors e of the exponents: |dp| <= p (e + sum of p e). The rest is
    what tolerance.c allows."""
    t, error = scale * scores.value, abs(scale) * scores.error
    p = t.masked_fill(blocked, -torch.inf).softmax(-1)
    carried = p * (error + (p * error).sum(-1, keepdim=True))
    below = (p.amax(-1, keepdim=True) / p).log().nan_to_num(posinf=0.0)
    return Bounded(p, rest(error) * carried + (10 + below) * 2 * U * p)


def mean(x):
    """Over the last dimension but one: a rounding a row and a division."""
    rows = x.value.shape[-2]
    return Bounded(x.value.mean(-2), x.error.mean(-2) + (rows + 1) * U * x.value.abs().mean(-2))


def to_bf16(x):
    """torch's own rounding, which keeps the order of numbers: the ends of the bound become those of the result."""
    def rounded(value):
        return value.to(torch.bfloat16).double()

    value = rounded(x.value)
    above, below = rounded(x.value + x.error) - value, value - rounded(x.value - x.error)
    return Bounded(value, torch.maximum(above, below))


def to_int8(x):
    """Rows as integers from -127 to 127, and a scale each: the largest magnitude by 127. The inverse of the scale, and
    what it is multiplied with, are rounded to f32, beside the scale itself."""
    largest = x.value.abs().amax(-1, keepdim=True)
    scale = largest / INT8
    relative = x.error.amax(-1, keepdim=True) / largest + 2 * U
    place = x.value / scale
    error = rest(relative) * (x.error / scale + place.abs() * (relative + 2 * U))
    value = place.round()
    above, below = (place + error).round() - value, value - (place - error).round()
    return Bounded(value, torch.maximum(above, below)), Bounded(scale, rest(relative) * relative * scale)


def centred(x):
    """x less its mean over the last dimension but one; the difference is rounded."""
    of_rows = mean(x).map(lambda t: t.unsqueeze(-2))
    value = x.value - of_rows.value
    return Bounded(value, x.error + of_rows.error + U * value.abs())


def to_bytes(scores, scale, blocked):
    """255 exp(scale (scores - the row's largest)) as integers, 0 where blocked. The largest has the error of any. The
    rest is what tolerance.c allows."""
    t, error = (scale * scores.value).masked_fill(blocked, -torch.inf), abs(scale) * scores.error
    below = t.amax(-1, keepdim=True) - t
    place = 255 * (-below).exp()
    relative = error + error.amax(-1, keepdim=True)
    own = 6.2e-6 + (10 + below.nan_to_num(posinf=0.0)) * 2 * U
    error = place * (rest(relative) * relative + own)
    value = place.round()
    return Bounded(value, torch.maximum((place + error).round() - value, value - (place - error).round()))


def reciprocal_of_sum(x):
    """1 / the sum of a row of integers, which is exact."""
    value, error = x.value.sum(-1, keepdim=True), x.error.sum(-1, keepdim=True)
    return Bounded(1 / value, error / (value * (value - error)) + U / value)
