# sounds.py: turns the samples of sounds into a model's features, as its feature extractor does, and rows of scores into
# text by CTC.
from __future__ import annotations

import ctypes
from typing import Any, Dict, List, Tuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calls import _address
from library import _Library, _Model


class _Sounds:
    """The functions of a library for sounds; width: of a row of features; rate: samples a second."""

    def __init__(self, library: _Library, width: int, rate: int) -> None:
        self.width, self.rate = width, rate
        self.rows = library.function("feature_rows", ctypes.c_int64, ctypes.c_int64)
        self.features = library.function("features", ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64,
                                         ctypes.c_void_p, ctypes.c_int64)


class _SoundModel(_Model):
    """A model that takes sound."""

    _sounds: _Sounds

    def features(self, samples: ArrayLike) -> NDArray[np.float32]:
        """Turns a sound into the model's input, float32 [rows][width], as its feature extractor does.

        samples: the samples of one channel, floats from -1 to 1, at RATE samples a second.
        """
        given = np.asarray(samples)
        if given.ndim != 1 or given.dtype.kind != "f":
            raise ValueError("samples: is %s %s, but floats [samples] are expected" % (given.dtype, list(given.shape)))
        wave = np.require(given, "float32", ["C", "A"])
        rows = self._sounds.rows(len(wave))
        if rows < 1:
            raise ValueError("samples: has %d, too few for a row of features" % len(wave))
        made = np.empty((rows, self._sounds.width), "float32")
        with self._caller() as caller:
            self._library.check(self._sounds.features(caller.context, _address(wave), len(wave), _address(made), rows))
        return made


class _Word(ctypes.Structure):
    _fields_ = [("begin", ctypes.c_int64), ("end", ctypes.c_int64), ("first", ctypes.c_int64), ("last", ctypes.c_int64)]


class _Ctc:
    """The function of a library that writes scores as text; width: of a row; longest: the most bytes of a row."""

    def __init__(self, library: _Library, width: int, longest: int) -> None:
        self._library, self._width, self._longest = library, width, longest
        self._text = library.function("ctc_text", ctypes.c_int, ctypes.c_void_p, ctypes.c_int64, ctypes.c_char_p,
                                      ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)

    def words(self, logits: ArrayLike) -> Tuple[str, List[Dict[str, Any]]]:
        scores = np.asarray(logits)
        if scores.ndim != 2 or scores.shape[1] != self._width or scores.dtype.kind != "f":
            raise ValueError("logits: is %s %s, but floats [rows, %d] are expected"
                             % (scores.dtype, list(scores.shape), self._width))
        scores, rows = np.require(scores, "float32", ["C", "A"]), len(scores)
        text, found = ctypes.create_string_buffer(rows * self._longest + 1), (_Word * max(rows, 1))()
        length, count = ctypes.c_int64(), ctypes.c_int64()
        self._library.check(self._text(_address(scores), rows, text, ctypes.byref(length), found, ctypes.byref(count)))
        said = text.raw[:length.value]
        return said.decode("utf-8", "replace"), [
            {"word": said[word.begin:word.end].decode("utf-8", "replace"), "first": word.first, "last": word.last}
            for word in found[:count.value]]


class _CtcModel(_Model):
    """A model whose scores become text by CTC."""

    _ctc: _Ctc

    @classmethod
    def text_of(cls, logits: ArrayLike) -> str:
        """The text of rows of scores [rows][tokens]: the best token of each, without repetitions and blanks."""
        return cls._ctc.words(logits)[0]

    @classmethod
    def words_of(cls, logits: ArrayLike) -> List[Dict[str, Any]]:
        """The words of that text, each with the rows `first` to before `last` that it was read from."""
        return cls._ctc.words(logits)[1]
