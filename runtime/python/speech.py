# speech.py: what is said in sounds, for models that write down speech.
from __future__ import annotations

import ctypes
from typing import Any, Iterator, List, NamedTuple, Optional, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calls import _address
from generate import _Generating, _seed
from library import _Library, _fields, _pointer, _size
from sounds import _SoundModel
from tasks import _samples
from values import Path, _flag, _integer, _number, _utf8

_chars, _real = ctypes.c_char_p, ctypes.c_double


class _TranscribeOptions(ctypes.Structure):
    _fields_ = _fields(language=_chars, task=_chars, prompt=_chars, timestamps=ctypes.c_int, words=ctypes.c_int,
                       beams=ctypes.c_int32, tokens=ctypes.c_int32, temperature=_real, seed=ctypes.c_uint64,
                       vad=ctypes.c_int, condition_on_previous_text=ctypes.c_int, carry_initial_prompt=ctypes.c_int,
                       compression_ratio_threshold=_real, logprob_threshold=_real, no_speech_threshold=_real)


class _SpokenWord(ctypes.Structure):
    _fields_ = _fields(text=_pointer, length=_size, begin=_real, end=_real)


class _Segment(ctypes.Structure):
    _fields_ = _fields(text=_pointer, length=_size, begin=_real, end=_real, ids=ctypes.POINTER(ctypes.c_int32),
                       times=ctypes.POINTER(_real), count=ctypes.c_int32, language=_chars, temperature=_real, score=_real,
                       compression=_real, silence=_real, words=ctypes.POINTER(_SpokenWord), word_count=ctypes.c_int32)


class Word(NamedTuple):
    """A word, and the seconds at which it begins and ends."""

    text: str
    begin: float
    end: float


class Segment(NamedTuple):
    """What is said from `begin` to `end`, in seconds. times: when each token ends; words and times are empty if they are
    not wanted. The numbers are of its window's answer, as of `generate --format jsonl`."""

    text: str
    begin: float
    end: float
    ids: NDArray[np.int32]
    times: Tuple[float, ...]
    words: Tuple[Word, ...]
    language: Optional[str]
    temperature: float
    score: float
    compression: float
    silence: float


class _Speech:
    """The functions of a library that write down speech; rate: samples a second."""

    def __init__(self, library: _Library, rate: int) -> None:
        status, message = ctypes.c_int, (ctypes.c_char_p, _size)
        self.rate = rate
        self.defaults = library.function("transcribe_defaults", _TranscribeOptions)
        self.create = library.function("transcribe_create", status, _pointer, _pointer, _pointer, *message)
        self.destroy = library.function("transcribe_destroy", None, _pointer)
        self.begin = library.function("transcribe_begin", status, _pointer, _pointer, ctypes.c_int64, *message)
        self.next = library.function("transcribe_next", status, _pointer, _pointer, *message)


def _said(pointer: Any, length: int) -> str:
    return ctypes.string_at(pointer, length).decode("utf-8", "replace")


class _SpeechModel(_SoundModel, _Generating):
    """A model that writes down speech."""

    _speech: _Speech

    def transcribe(self, sound: Union[ArrayLike, Path], *, language: Optional[str] = None, task: Optional[str] = None,
                   prompt: Optional[str] = None, timestamps: bool = False, words: bool = False,
                   beams: Optional[int] = None, tokens: Optional[int] = None, temperature: Optional[float] = None,
                   seed: Optional[int] = None, vad: bool = False, adapter: Optional[str] = None,
                   condition_on_previous_text: Optional[bool] = None, carry_initial_prompt: bool = False,
                   compression_ratio_threshold: Optional[float] = None, logprob_threshold: Optional[float] = None,
                   no_speech_threshold: Optional[float] = None) -> Iterator[Segment]:
        """The segments of what is said, each once its window of the sound is read.

        sound: samples of one channel, floats from -1 to 1, at RATE samples a second; or a file: WAV of integers at that
        rate, others with the packages soundfile and soxr. language: a code, or "auto"; task: "transcribe" or "translate";
        prompt: text that is said before. timestamps: segments have times also in a sound that a window holds. words: words
        have times, in a model that was built with speech.words=true. beams, tokens: None: the folder's. temperature:
        of the only attempt at a window; None: 0, 0.2 .. 1 until an answer is good. vad: silence is left out; each piece of
        speech, up to a window, is written down by itself. adapter: one of ADAPTERS. condition_on_previous_text: a window
        goes on from the text before it; carry_initial_prompt: each window goes on from the prompt, too.
        compression_ratio_threshold: the most of a good answer; logprob_threshold: the least; no_speech_threshold: from
        which a window with a worse answer is left out. None: the folder's; infinite: there is none.
        """
        given = np.asarray(_samples("sound", sound, self._speech.rate))
        if given.ndim != 1 or given.dtype.kind != "f" or not given.size:
            raise ValueError("sound: is %s %s, but floats [samples] are expected" % (given.dtype, list(given.shape)))
        options = self._speech.defaults()
        kept = [None if each is None else _utf8(name, each, False)
                for name, each in (("language", language), ("task", task), ("prompt", prompt))]
        options.language, options.task, options.prompt = kept
        options.timestamps, options.words = _flag("timestamps", timestamps), _flag("words", words)
        options.vad = _flag("vad", vad)
        options.carry_initial_prompt = _flag("carry_initial_prompt", carry_initial_prompt)
        if condition_on_previous_text is not None:
            options.condition_on_previous_text = _flag("condition_on_previous_text", condition_on_previous_text)
        for name, limit in (("compression_ratio_threshold", compression_ratio_threshold),
                            ("logprob_threshold", logprob_threshold), ("no_speech_threshold", no_speech_threshold)):
            if limit is not None:
                setattr(options, name, _number(name, limit))
        if beams is not None:
            options.beams = _integer("beams", beams, 1, self._sequences)
        if tokens is not None:
            options.tokens = _integer("tokens", tokens, 1, 2**31 - 1)
        if temperature is not None:
            options.temperature = _number("temperature", temperature)
            if not options.temperature >= 0:
                raise ValueError("temperature: is %g, but 0 or 0.001 to 1000 is allowed" % options.temperature)
        options.seed = _seed(seed)
        self._adapter(adapter)
        return self._transcribe(np.require(given, "float32", ["C", "A"]), options, adapter)

    def _transcribe(self, samples: NDArray[np.float32], options: _TranscribeOptions,
                    adapter: Optional[str]) -> Iterator[Segment]:
        speech, call, made, segment = self._speech, self._library.call, ctypes.c_void_p(), _Segment()
        with self.state() as state:
            for sequence in range(state.sequences):
                state.set_adapter(adapter, sequence)
            call(speech.create, ctypes.byref(made), state._context(), ctypes.byref(options))
            try:
                call(speech.begin, made, _address(samples), len(samples))
                while True:
                    call(speech.next, made, ctypes.byref(segment))
                    if not segment.text:
                        break
                    yield self._segment_of(segment)
            finally:
                speech.destroy(made)

    @staticmethod
    def _segment_of(segment: Any) -> Segment:
        count, words = segment.count, [segment.words[i] for i in range(segment.word_count)]
        spoken: List[Word] = [Word(_said(word.text, word.length).lstrip(" "), word.begin, word.end) for word in words]
        return Segment(_said(segment.text, segment.length).lstrip(" "), segment.begin, segment.end,
                       np.array(segment.ids[:count], "int32"), tuple(segment.times[:count]) if segment.times else (),
                       tuple(spoken), None if segment.language is None else segment.language.decode("utf-8"),
                       segment.temperature, segment.score, segment.compression, segment.silence)
