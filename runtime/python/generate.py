# generate.py: the calls of a model that continues sequences, samplers, and the generation of ids.
from __future__ import annotations

import ctypes
import operator
import os
from typing import Any, Callable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calls import _address, _array, _check_range, _refuse
from library import _Library, _Model, _Owner, _pointer, _size

_number = ctypes.c_double


class _Sampling(ctypes.Structure):
    _fields_ = [
        ("greedy", ctypes.c_int),
        ("temperature", _number),
        ("top_k", ctypes.c_int64),
        ("top_p", _number),
        ("min_p", _number),
        ("repetition_penalty", _number),
        ("presence_penalty", _number),
        ("frequency_penalty", _number),
        ("seed", ctypes.c_uint64),
        ("bias_count", ctypes.c_int32),
        ("bias_tokens", ctypes.c_void_p),
        ("biases", ctypes.c_void_p),
        ("allowed_count", ctypes.c_int32),
        ("allowed", ctypes.c_void_p),
        ("stop_count", ctypes.c_int32),
        ("stop_tokens", ctypes.c_void_p),
    ]


class _Writer:
    """The functions of a library whose model continues sequences."""

    def __init__(self, library: _Library) -> None:
        status, one, number = ctypes.c_int, ctypes.c_void_p, ctypes.c_int32
        message = ctypes.c_char_p, _size
        self.prefill = library.function("prefill", status, one, number, one, number, one)
        self.prefill_all = library.function("prefill_all", status, one, number, one, number, one)
        self.decode = library.function("decode", status, one, number, one, one, one)
        self.position = library.function("position", number, one, number)
        self.rewind = library.function("rewind", status, one, number, number)
        self.copy = library.function("copy", status, one, number, number)
        self.save = library.function("save", status, one, number, ctypes.c_char_p, *message)
        self.load = library.function("load", status, one, number, ctypes.c_char_p, *message)
        self.defaults, self.drawn, self.greedy = (library.function("sampling_" + each, _Sampling)
                                                  for each in ("defaults", "drawn", "greedy"))
        self.create = library.function("sampler_create", status, _pointer, _pointer, *message)
        self.destroy = library.function("sampler_destroy", None, _pointer)
        self.reset = library.function("sampler_reset", None, _pointer, ctypes.c_uint64)
        self.feed = library.function("sampler_feed", status, _pointer, one, number, status)
        self.sample = library.function("sample", status, _pointer, one, one, *message)
        self.stops = library.function("sampler_stops", status, _pointer, number)


def _ids(name: str, ids: ArrayLike, vocabulary: int) -> NDArray[np.int32]:
    """Ids [count] as the library takes them."""
    array = _array(name, ids, "int32", ("count",)) if np.size(ids) else np.zeros(0, "int32")
    _check_range(name, array, 0, vocabulary - 1)
    return np.require(array, "int32", ["C", "A"])


class _Samplers(NamedTuple):
    """What a sampler needs of its model."""

    library: _Library
    writer: _Writer
    vocabulary: int


def _set_numbers(options: Any, values: Mapping[str, Optional[float]]) -> None:
    """Sets those options that are not None."""
    for name, value in values.items():
        try:
            if value is not None:
                setattr(options, name, value)
        except TypeError:
            raise ValueError("%s: %r, but a number is expected" % (name, value)) from None


def _seed(seed: Optional[int]) -> int:
    """A seed as the library has it; None: 0."""
    try:
        return operator.index(0 if seed is None else seed) % 2**64
    except TypeError:
        raise ValueError("seed: %r, but an integer is expected" % (seed,)) from None


class _Sampler:
    """Chooses the tokens of one sequence. Options that are None have the default of the model's folder."""

    def __init__(self, of: _Samplers, greedy: Optional[bool], temperature: Optional[float], top_k: Optional[int],
                 top_p: Optional[float], min_p: Optional[float], repetition_penalty: Optional[float],
                 presence_penalty: float, frequency_penalty: float, seed: Optional[int],
                 bias: Optional[Mapping[int, float]], allowed: Optional[Sequence[int]],
                 stop_tokens: Optional[Sequence[int]]) -> None:
        self._of, self._made = of, ctypes.c_void_p()
        drawing = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "min_p": min_p}
        asked = [name for name, value in drawing.items() if value is not None] + ["seed"] * (seed is not None)
        if greedy and asked:
            raise ValueError("greedy: does not go with %s" % ", ".join(asked))
        is_open = greedy is None and not asked
        options = of.writer.defaults() if is_open else of.writer.greedy() if greedy else of.writer.drawn()
        _set_numbers(options, {**drawing, "repetition_penalty": repetition_penalty, "presence_penalty": presence_penalty,
                               "frequency_penalty": frequency_penalty})
        self._seed = _seed(seed)
        options.seed = self._seed
        tokens = np.array(list(bias or {}), "int64").reshape(-1)
        numbers = np.array(list((bias or {}).values()), "float32").reshape(-1)
        lists = [_ids("bias", tokens, of.vocabulary), _ids("allowed", list(allowed or []), of.vocabulary)]
        options.bias_count, options.bias_tokens = len(lists[0]), _address(lists[0])
        options.biases = _address(numbers)
        options.allowed_count, options.allowed = len(lists[1]), _address(lists[1])
        if stop_tokens is not None:
            lists.append(_ids("stop_tokens", list(stop_tokens), of.vocabulary))
            options.stop_count, options.stop_tokens = len(lists[2]), _address(lists[2])
        message = ctypes.create_string_buffer(4096)
        of.library.check(of.writer.create(ctypes.byref(self._made), ctypes.byref(options), message, len(message)),
                         message.value)

    def __del__(self) -> None:
        if self._made:
            self._of.writer.destroy(self._made)
            self._made = ctypes.c_void_p()

    def reset(self, seed: Optional[int] = None) -> None:
        """Forgets all tokens, and begins with the first random number of the seed, or of a new one."""
        self._seed = self._seed if seed is None else _seed(seed)
        self._of.writer.reset(self._made, self._seed)

    def feed(self, ids: ArrayLike, generated: bool = False) -> None:
        """Counts tokens for the penalties: of the prompt, or generated ones."""
        array = _ids("ids", ids, self._of.vocabulary)
        self._of.library.check(self._of.writer.feed(self._made, _address(array), array.size, bool(generated)))

    def sample(self, logits: ArrayLike) -> int:
        """The next token, by the logits [vocabulary]. It is not fed."""
        array = _array("logits", logits, "float32", (self._of.vocabulary,))
        if array.size != self._of.vocabulary:
            _refuse("logits", array, "float32", (self._of.vocabulary,))
        array, found = np.require(array, "float32", ["C", "A"]), ctypes.c_int32()
        message = ctypes.create_string_buffer(1024)
        self._of.library.check(self._of.writer.sample(self._made, _address(array), ctypes.byref(found), message,
                                                      len(message)), message.value)
        return found.value

    def stops(self, token: int) -> bool:
        """True for a stop token."""
        return bool(self._of.writer.stops(self._made, operator.index(token)))


class _State(_Owner):
    """The keys and values of some sequences, numbered from 0, which calls continue. It serves one thread at a time, and is
    closed at the end of a `with`, by close(), or with its last reference."""

    def __init__(self, model: Any, of: _Samplers, sequences: int, most: int) -> None:
        self._of, self._most, self.sequences = of, most, sequences
        self._held: Any = None
        self._holder = model._caller("state")
        self._held = self._holder.__enter__()
        for sequence in range(sequences):
            self.rewind(0, sequence)

    def close(self) -> None:
        """Frees the memory for other calls of the model."""
        if self._held is not None:
            self._held = None
            self._holder.__exit__(None, None, None)

    def __del__(self) -> None:
        if getattr(self, "_held", None) is not None:
            self.close()

    def __enter__(self) -> "_State":
        return self

    def _context(self) -> Any:
        if self._held is None:
            raise ValueError("the state is closed")
        return self._held.context

    def _sequence(self, sequence: int) -> int:
        if not 0 <= operator.index(sequence) < self.sequences:
            raise ValueError("sequence: is %d, but 0 to %d is allowed" % (sequence, self.sequences - 1))
        return operator.index(sequence)

    def prefill(self, ids: ArrayLike, sequence: int = 0, all: bool = False) -> NDArray[np.float32]:
        """Adds tokens to a sequence. Returns the logits [vocabulary] of the last one, or of all, [count][vocabulary]."""
        array, of = _ids("ids", ids, self._of.vocabulary), self._of
        room = self._most - self.position(sequence)
        if not 1 <= array.size <= room:
            raise ValueError("ids: are %d tokens, but 1 to %d are allowed: a sequence has at most %d"
                             % (array.size, room, self._most))
        logits = np.empty((array.size, of.vocabulary) if all else (of.vocabulary,), "float32")
        of.library.check((of.writer.prefill_all if all else of.writer.prefill)(
            self._context(), self._sequence(sequence), _address(array), array.size, _address(logits)))
        return logits

    def decode(self, ids: ArrayLike, sequences: Optional[ArrayLike] = None) -> NDArray[np.float32]:
        """Adds one token to each of different sequences, by default to the first ones. Returns their logits
        [count][vocabulary]."""
        array, of = _ids("ids", ids, self._of.vocabulary), self._of
        numbers = _ids("sequences", np.arange(array.size) if sequences is None else sequences, self.sequences)
        if numbers.size != array.size or len(set(numbers.tolist())) != numbers.size or not numbers.size:
            raise ValueError("sequences: one different sequence for each of 1 or more ids is expected")
        for number in numbers.tolist():
            if self.position(number) >= self._most:
                raise ValueError("sequence %d: has %d tokens, the most that a sequence has" % (number, self._most))
        logits = np.empty((array.size, of.vocabulary), "float32")
        of.library.check(of.writer.decode(self._context(), array.size, _address(numbers), _address(array),
                                          _address(logits)))
        return logits

    def position(self, sequence: int = 0) -> int:
        """The number of tokens that a sequence has."""
        return int(self._of.writer.position(self._context(), self._sequence(sequence)))

    def rewind(self, position: int, sequence: int = 0) -> None:
        """Forgets the tokens of a sequence from `position` on."""
        most = self.position(sequence)
        if not 0 <= operator.index(position) <= most:
            raise ValueError("position: is %d, but 0 to %d is allowed" % (position, most))
        self._of.library.check(self._of.writer.rewind(self._context(), self._sequence(sequence), position))

    def copy(self, source: int, target: int) -> None:
        """Makes sequence `target` a copy of `source`."""
        self._of.library.check(self._of.writer.copy(self._context(), self._sequence(source), self._sequence(target)))

    def _file(self, function: Any, path: Union[str, "os.PathLike[str]"], sequence: int) -> None:
        text = ctypes.create_string_buffer(1000)
        status = function(self._context(), self._sequence(sequence), os.fsencode(path), text, len(text))
        self._of.library.check(status, text.value)

    def save(self, path: Union[str, "os.PathLike[str]"], sequence: int = 0) -> None:
        """Writes a sequence to a file for the same build and weights. It has no token ids."""
        self._file(self._of.writer.save, path, sequence)

    def load(self, path: Union[str, "os.PathLike[str]"], sequence: int = 0) -> None:
        """Reads such a file in place of a sequence, which is unchanged if the file is refused."""
        self._file(self._of.writer.load, path, sequence)


class _Generating(_Model):
    """The methods of a model that continues sequences."""

    _writer: _Writer
    _sequences: int
    _vocabulary: int

    def _samplers(self) -> _Samplers:
        return _Samplers(self._library, self._writer, self._vocabulary)

    def state(self) -> _State:
        """A state whose sequences calls continue."""
        return _State(self, self._samplers(), self._sequences, self._table.seq)

    def sampler(self, *, greedy: Optional[bool] = None, temperature: Optional[float] = None,
                top_k: Optional[int] = None, top_p: Optional[float] = None, min_p: Optional[float] = None,
                repetition_penalty: Optional[float] = None, presence_penalty: float = 0,
                frequency_penalty: float = 0, seed: Optional[int] = None, bias: Optional[Mapping[int, float]] = None,
                allowed: Optional[Sequence[int]] = None, stop_tokens: Optional[Sequence[int]] = None) -> _Sampler:
        """A sampler. Options that are None have the defaults of the model's folder; temperature, top_k, top_p, min_p and
        seed draw tokens. bias: number by token; allowed: the only tokens, if there are any. They mean what they mean in
        transformers (the header has the definitions)."""
        return _Sampler(self._samplers(), greedy, temperature, top_k, top_p, min_p, repetition_penalty,
                        presence_penalty, frequency_penalty, seed, bias, allowed, stop_tokens)

    def generate(self, prompts: Sequence[ArrayLike], tokens: int = 256, **options: Any) -> List[NDArray[np.int32]]:
        """The token ids that follow each prompt, int32 [count]; a stop token is the last. options: those of sampler().

        As many prompts as the model has sequences are answered side by side. Prompt number i, from 0, has the seed
        `seed` + i, and its answer does not depend on the others.
        """
        return self._generate(prompts, tokens, options, lambda number, ids: False)

    def _generate(self, prompts: Sequence[ArrayLike], tokens: int, options: Mapping[str, Any],
                  is_end: Callable[[int, List[int]], bool]) -> List[NDArray[np.int32]]:
        """The same; is_end(number of the prompt, ids of its answer so far) may end an answer."""
        if operator.index(tokens) < 1:
            raise ValueError("tokens: is %d, but 1 or more is expected" % tokens)
        read = [_ids("prompts[%d]" % i, each, self._vocabulary) for i, each in enumerate(prompts)]
        for i, each in enumerate(read):
            if not 1 <= each.size <= self._table.seq:
                raise ValueError("prompts[%d]: has %d tokens, but 1 to %d are allowed" % (i, each.size, self._table.seq))
        free = [(sequence, self.sampler(**options)) for sequence in range(min(self._sequences, len(read)))]
        seed = free[0][1]._seed if free else 0
        answers: List[List[int]] = [[] for _ in read]
        running: List[Tuple[int, _Sampler, int]] = []  # with the number of the prompt
        begun = 0

        def take(sampler: _Sampler, number: int, logits: NDArray[np.float32]) -> None:
            answers[number].append(sampler.sample(logits))
            sampler.feed(answers[number][-1:], generated=True)

        with self.state() as state:
            while running or begun < len(read):
                while free and begun < len(read):
                    sequence, sampler = free.pop()
                    state.rewind(0, sequence)
                    sampler.reset(seed + begun)
                    sampler.feed(read[begun])
                    take(sampler, begun, state.prefill(read[begun], sequence))
                    running.append((sequence, sampler, begun))
                    begun += 1
                for place in list(running):
                    sequence, sampler, number = place
                    made = answers[number]
                    if (len(made) >= tokens or sampler.stops(made[-1]) or state.position(sequence) >= self._table.seq
                            or is_end(number, made)):
                        running.remove(place)
                        free.append((sequence, sampler))
                if running:
                    logits = state.decode([answers[number][-1] for _, _, number in running],
                                          [sequence for sequence, _, _ in running])
                    for row, (_, sampler, number) in zip(logits, running):
                        take(sampler, number, row)
        return [np.array(each, "int32") for each in answers]
