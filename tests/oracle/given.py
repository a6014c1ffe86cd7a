"""What a definition is given: weights and inputs that are drawn, or that lie in files.

Drawn arrays are float32 (int32) numbers, each from a stream of its own name; what was asked for is
what a case consists of. A packed case is a safetensors file: weights by their names, inputs as
input/NAME, outputs as expected/NAME, and in its metadata the text of the description.
"""

import json
import struct
import zlib

import numpy as np

DTYPES = {"F32": np.dtype("<f4"), "I32": np.dtype("<i4"), "BOOL": np.dtype("bool")}
NAMES = {dtype: name for name, dtype in DTYPES.items()}


def pack(arrays, metadata):
    """The bytes of a safetensors file."""
    header, data = {"__metadata__": metadata}, b""
    for name, array in arrays.items():
        raw = np.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": NAMES[array.dtype], "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def unpack(raw):
    """(arrays, metadata) of a safetensors file."""
    length, = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8:8 + length])
    metadata, arrays = header.pop("__metadata__", {}), {}
    for name, entry in header.items():
        first, stop = (8 + length + offset for offset in entry["data_offsets"])
        arrays[name] = np.frombuffer(raw[first:stop], DTYPES[entry["dtype"]]).reshape(entry["shape"])
    return arrays, metadata


class Drawn:
    """Random weights and inputs. empty: masks leave some rows no key; poison: NaN in the last token of a sequence.

    Else no mask that is drawn leaves out the first key, so that no row is empty by chance.
    """

    def __init__(self, name, empty=False, poison=False, seq_first=False):
        self.name, self.empty, self.poison, self.seq_first = name, empty, poison, seq_first
        self.weights, self.inputs, self._doubles = {}, {}, {}

    def _stream(self, path):
        return np.random.default_rng(zlib.crc32(f"{self.name}/{path}".encode()))

    def _keep(self, kept, path, shape, draw):
        if path not in kept:
            kept[path] = draw(self._stream(path))
            self._doubles[path] = kept[path].astype(float) if kept[path].dtype == np.float32 else kept[path]
        assert kept[path].shape == shape, path
        return self._doubles[path]

    def weight(self, path, *shape, mean=0.0, deviation=1.0):
        return self._keep(self.weights, path, shape,
                          lambda rng: (mean + deviation * rng.standard_normal(shape)).astype(np.float32))

    def floats(self, name, *shape, deviation=1.0):
        def draw(rng):
            values = deviation * rng.standard_normal(shape)
            if name == "head_mask":
                values[rng.random(shape) < 0.2] = 0.0
            if name.endswith(("mask_bias", "head_bias", "key_bias")):   # PyTorch's float masks have -inf
                values[..., 1:][rng.random(values[..., 1:].shape) < 0.1] = -np.inf
            if self.poison and name in ("hidden", "features"):
                values[(-1, 0) if self.seq_first else (0, -1)] = np.nan
            return values.astype(np.float32)
        return self._keep(self.inputs, name, shape, draw)

    def integers(self, name, least, end, *shape):
        def draw(rng):
            values = rng.integers(least, end, shape).astype(np.int32)
            if name.endswith("lengths"):    # some full, some not
                values[0] = end - 1 if len(values) > 1 else max(least, (end - 1) * 2 // 3)
            if name.endswith("attention_mask"):     # some row is kept, and most are
                values[rng.random(shape) < 0.4] = 1
                values[..., 0] = 1
            return values
        return self._keep(self.inputs, name, shape, draw)

    def blocked(self, name, *shape):
        def draw(rng):
            values = rng.random(shape) < 0.3
            values[..., 0] = False
            if self.empty:
                values[..., 0, :] = True
            return values
        return self._keep(self.inputs, name, shape, draw)


class Moved:
    """What another was given, each number moved by about a float's last bit: shows what depends on such bits."""

    def __init__(self, given):
        self.given = given

    def _moved(self, path, values):
        noise = np.random.default_rng(zlib.crc32(path.encode())).standard_normal(values.shape)
        return values * (1 + 2.0 ** -24 * noise)

    def weight(self, path, *shape, **_):
        return self._moved(path, self.given.weight(path, *shape))

    def floats(self, name, *shape, **_):
        return self._moved(name, self.given.floats(name, *shape))

    def integers(self, name, least, end, *shape):
        return self.given.integers(name, least, end, *shape)

    def blocked(self, name, *shape):
        return self.given.blocked(name, *shape)


class Stored:
    """Weights and inputs of files, {name: array} each."""

    def __init__(self, weights, inputs):
        self.arrays = {**weights, **inputs}
        self.arrays = {name: array.astype(float) if array.dtype.kind == "f" else array
                       for name, array in self.arrays.items()}

    def _get(self, name, shape):
        assert self.arrays[name].shape == shape, (name, self.arrays[name].shape, shape)
        return self.arrays[name]

    def weight(self, path, *shape, **_):
        return self._get(path, shape)

    def floats(self, name, *shape, **_):
        return self._get(name, shape)

    def integers(self, name, least, end, *shape):
        return self._get(name, shape)

    def blocked(self, name, *shape):
        return self._get(name, shape)
