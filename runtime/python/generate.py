# generate.py: the calls of a model that continues sequences, samplers, and the generation of ids.
from __future__ import annotations

import contextlib
import ctypes
import functools
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calls import _address, _array, _check_range, _refuse, _Table
from library import Adapter, _Library, _Model, _Owner, _fields, _pointer, _size
from sequences import _is_of_one_length, _of_lists, _open_structure
from values import Path, _flag, _integer, _list, _number, _path, _refuse_value, _utf8

_double = ctypes.c_double


class _Sampling(ctypes.Structure):
    _fields_ = _fields(greedy=ctypes.c_int, temperature=_double, top_k=ctypes.c_int64, top_p=_double, min_p=_double,
                       repetition_penalty=_double, presence_penalty=_double, frequency_penalty=_double,
                       seed=ctypes.c_uint64, bias_count=ctypes.c_int32, bias_tokens=_pointer, biases=_pointer,
                       allowed_count=ctypes.c_int32, allowed=_pointer, stop_count=ctypes.c_int32, stop_tokens=_pointer,
                       top_n_sigma=_double, typical_p=_double, xtc_probability=_double, xtc_threshold=_double,
                       dynatemp_range=_double, dynatemp_exponent=_double, mirostat=ctypes.c_int32, mirostat_tau=_double,
                       mirostat_eta=_double, dry_multiplier=_double, dry_base=_double, dry_allowed_length=ctypes.c_int32,
                       dry_last_n=ctypes.c_int32, dry_breaker_count=ctypes.c_int32, dry_breakers=_pointer,
                       sampler_order=ctypes.c_char_p)


class _BeamOptions(ctypes.Structure):
    _fields_ = _fields(beams=ctypes.c_int32, length_penalty=_double, early_stopping=ctypes.c_int32,
                       renormalize=ctypes.c_int32, repetition_penalty=_double, no_repeat_ngram=ctypes.c_int32,
                       min_length=ctypes.c_int32, min_tokens=ctypes.c_int32, forced_bos=ctypes.c_int32,
                       forced_eos_count=ctypes.c_int32, forced_eos=_pointer, suppressed_count=ctypes.c_int32,
                       suppressed=_pointer, begin_suppressed_count=ctypes.c_int32, begin_suppressed=_pointer,
                       bad_words_count=ctypes.c_int32, bad_words=_pointer, stop_count=ctypes.c_int32,
                       stop_tokens=_pointer)


class _Writer:
    """The functions of a library whose model continues sequences. encodes: whether it has an encoder."""

    def __init__(self, library: _Library, encodes: bool = False) -> None:
        status, one, number = ctypes.c_int, ctypes.c_void_p, ctypes.c_int32
        message = ctypes.c_char_p, _size
        self.extend = library.function("extend", status, one, number, one, one, one, status, one)
        self.encode = library.function("encode", status, one, one, _pointer) if encodes else None
        self.position = library.function("position", number, one, number)
        self.rewind = library.function("rewind", status, one, number, number)
        self.copy = library.function("copy", status, one, number, number)
        # None: no adapters are next to the weights.
        self.set_adapter = library.optional("set_adapter", status, one, number, number)
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
        self.guesser_create = library.function("guesser_create", status, _pointer)
        self.guesser_destroy = library.function("guesser_destroy", None, _pointer)
        self.guess = library.function("guess", status, _pointer, number, one, one, one, one, one)
        self.guess_accept = library.function("guess_accept", status, _pointer, number, _pointer, one, one, one, *message)
        self.beam_defaults = library.function("beam_defaults", _BeamOptions)
        self.beam_create = library.function("beam_create", status, _pointer, _pointer, _pointer, number, *message)
        self.beam_destroy = library.function("beam_destroy", None, _pointer)
        self.beam_places = library.function("beam_places", number, _pointer)
        self.beam_begin = library.function("beam_begin", status, _pointer, number, one, number, one, *message)
        self.beam_step = library.function("beam_step", status, _pointer, *message)
        self.beam_ended = library.function("beam_ended", status, _pointer, number)
        self.beam_answer = library.function("beam_answer", status, _pointer, number, number, _pointer, _pointer, _pointer,
                                            *message)


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
        if value is not None:
            setattr(options, name, _integer(name, value, 0, 2**63 - 1) if name == "top_k" else _number(name, value))


def _seed(seed: Optional[int]) -> int:
    """A seed as the library has it; None: 0."""
    return 0 if seed is None else _integer("seed", seed, 0, 2**64 - 1)


# llama.cpp's options that draw tokens, those that say how, and those that are integers.
_DRAWING = "top_n_sigma", "typical_p", "xtc_probability", "dynatemp_range", "mirostat", "sampler_order"
_CHAINED = ("xtc_threshold", "dynatemp_exponent", "mirostat_tau", "mirostat_eta", "dry_multiplier", "dry_base",
            "dry_allowed_length", "dry_last_n", "dry_breakers") + _DRAWING
_WHOLE = "mirostat", "dry_allowed_length", "dry_last_n"


def _set_chain(options: Any, chain: Mapping[str, Any], vocabulary: int) -> List[Any]:
    """Sets llama.cpp's options. Returns what must stay while they are read."""
    kept: List[Any] = []
    for name, value in chain.items():
        if name not in _CHAINED:
            raise TypeError("sampler() has no option %r" % name)
        if value is None:
            continue
        if name == "sampler_order":
            kept.append(_utf8(name, value, False))
            options.sampler_order = kept[-1]
        elif name == "dry_breakers":
            lists = [_ids(name, each, vocabulary) for each in _list(name, value)]
            flat = np.concatenate([np.zeros(0, "int32")] + [np.append(np.int32(each.size), each) for each in lists])
            kept.append(flat.astype("int32"))
            options.dry_breaker_count, options.dry_breakers = len(kept[-1]), _address(kept[-1])
        else:
            setattr(options, name, _integer(name, value, -1, 2**31 - 1) if name in _WHOLE else _number(name, value))
    return kept


class _Sampler(_Owner):
    """Chooses the tokens of one sequence. Options that are None have the default of the model's folder."""

    def __init__(self, of: _Samplers, greedy: Optional[bool], temperature: Optional[float], top_k: Optional[int],
                 top_p: Optional[float], min_p: Optional[float], repetition_penalty: Optional[float],
                 presence_penalty: float, frequency_penalty: float, seed: Optional[int],
                 bias: Optional[Mapping[int, float]], allowed: Optional[Sequence[int]],
                 stop_tokens: Optional[Sequence[int]], chain: Mapping[str, Any]) -> None:
        self._of, self._library, self._made = of, of.library, ctypes.c_void_p()
        drawing: Dict[str, Optional[float]] = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "min_p": min_p}
        asked = [name for name, value in drawing.items() if value is not None] + ["seed"] * (seed is not None)
        asked += [name for name in _DRAWING if chain.get(name) is not None]
        if greedy is not None and _flag("greedy", greedy) and asked:
            raise ValueError("greedy: does not go with %s" % ", ".join(asked))
        is_open = greedy is None and not asked
        options = of.writer.defaults() if is_open else of.writer.greedy() if greedy else of.writer.drawn()
        _set_numbers(options, {**drawing, "repetition_penalty": repetition_penalty, "presence_penalty": presence_penalty,
                               "frequency_penalty": frequency_penalty})
        self._seed = _seed(seed)
        options.seed = self._seed
        self._kept = _set_chain(options, chain, of.vocabulary)
        biases = {} if bias is None else bias
        if not isinstance(biases, Mapping):
            _refuse_value("bias", bias, "a dict of numbers by token")
        tokens = [_integer("bias", token, 0, of.vocabulary - 1) for token in biases]
        numbers = np.array([_number("bias", value) for value in biases.values()], "float64")
        with np.errstate(over="ignore"):
            numbers = numbers.astype("float32")
        lists = [_ids("bias", tokens, of.vocabulary),
                 _ids("allowed", [] if allowed is None else _list("allowed", allowed), of.vocabulary)]
        options.bias_count, options.bias_tokens = len(lists[0]), _address(lists[0])
        options.biases = _address(numbers)
        options.allowed_count, options.allowed = len(lists[1]), _address(lists[1])
        if stop_tokens is not None:
            lists.append(_ids("stop_tokens", _list("stop_tokens", stop_tokens), of.vocabulary))
            options.stop_count, options.stop_tokens = len(lists[2]), _address(lists[2])
        of.library.call(of.writer.create, ctypes.byref(self._made), ctypes.byref(options))
        self._end = functools.partial(of.writer.destroy, self._made)

    def _open_handle(self) -> Any:
        self._check_open()
        return self._made

    def reset(self, seed: Optional[int] = None) -> None:
        """Forgets all tokens, and begins with the first random number of the seed, or of a new one."""
        self._seed = self._seed if seed is None else _seed(seed)
        self._of.writer.reset(self._open_handle(), self._seed)

    def feed(self, ids: ArrayLike, generated: bool = False) -> None:
        """Counts tokens for the penalties: of the prompt, or generated ones."""
        array = _ids("ids", ids, self._of.vocabulary)
        self._of.library.check(self._of.writer.feed(self._open_handle(), _address(array), array.size, _flag("generated", generated)))

    def sample(self, logits: ArrayLike) -> int:
        """The next token, by the logits [vocabulary]. It is not fed."""
        array = _array("logits", logits, "float32", (self._of.vocabulary,))
        if array.size != self._of.vocabulary:
            _refuse("logits", array, "float32", (self._of.vocabulary,))
        array, found = np.require(array, "float32", ["C", "A"]), ctypes.c_int32()
        self._of.library.call(self._of.writer.sample, self._open_handle(), _address(array), ctypes.byref(found))
        return found.value

    def stops(self, token: int) -> bool:
        """True for a stop token."""
        number = _integer("token", token, 0, self._of.vocabulary - 1)
        return bool(self._of.writer.stops(self._open_handle(), number))


_GUESSES = 16  # the most of a text in a call


class _Guesser(_Owner):
    """Guesses the next tokens of texts by their repetitions."""

    def __init__(self, of: _Samplers) -> None:
        self._of, self._library, self._made = of, of.library, ctypes.c_void_p()
        of.library.check(of.writer.guesser_create(ctypes.byref(self._made)))
        self._end = functools.partial(of.writer.guesser_destroy, self._made)

    def guess(self, texts: Sequence[NDArray[np.int32]], most: Sequence[int]) -> List[NDArray[np.int32]]:
        """For each text its last token and the guesses after it, which the next call reads."""
        counts, most_of = (np.array(each, "int32") for each in ([text.size for text in texts], most))
        ids = (ctypes.c_void_p * len(texts))(*map(_address, texts))
        made, guessed = np.empty((len(texts), _GUESSES), "int32"), np.empty(len(texts), "int32")
        self._of.library.check(self._of.writer.guess(self._made, len(texts), ids, _address(counts), _address(most_of),
                                                     _address(made), _address(guessed)))
        return [np.append(text[-1:], row[:count]) for text, row, count in zip(texts, made, guessed)]

    def accept(self, i: int, sampler: _Sampler, rows: NDArray[np.float32]) -> List[int]:
        """The tokens of text number i that are drawn from the logits after the call's tokens, and fed."""
        ids, taken = np.empty(len(rows), "int32"), ctypes.c_int32()
        self._of.library.call(self._of.writer.guess_accept, self._made, i, sampler._open_handle(), _address(rows),
                              _address(ids), ctypes.byref(taken))
        return [int(each) for each in ids[:taken.value]]


def _no_source(sequences: List[int]) -> ValueError:
    return ValueError("sequence %s: has no source; encode() reads one" % " or ".join(map(str, sequences)))


class _State(_Owner):
    """The keys and values of some sequences, numbered from 0, which calls continue. It serves one thread at a time, and is
    closed at the end of a `with`, by close(), or with its last reference."""

    def __init__(self, model: Any, of: _Samplers, sequences: int, most: int) -> None:
        self._of, self._library, self._most, self.sequences = of, of.library, most, sequences
        self._number_of: Callable[[Optional[str]], int] = model._adapter
        self._source: Optional[_Table] = model._source
        self._with_source: Set[int] = set()  # the sequences that have had one: the library knows whether they still do
        holder = model._caller("state")
        self._held = holder.__enter__()
        self._end = lambda: holder.__exit__(None, None, None)
        for sequence in range(sequences):
            self.rewind(0, sequence)
            self.set_adapter(None, sequence)

    def _context(self) -> Any:
        self._check_open()
        return self._held.context

    def _sequence(self, sequence: int, name: str = "sequence") -> int:
        return _integer(name, sequence, 0, self.sequences - 1)

    def _numbers(self, sequences: Optional[ArrayLike], count: int) -> NDArray[np.int32]:
        """Different sequences for `count` lists of ids or sources; None: the first ones."""
        numbers = _ids("sequences", np.arange(count) if sequences is None else sequences, self.sequences)
        if numbers.size != count or len(set(numbers.tolist())) != count or not count:
            raise ValueError("sequences: a different sequence for each of 1 or more lists of ids is expected")
        return numbers

    def _extend(self, arrays: Sequence[NDArray[np.int32]], sequences: Optional[ArrayLike],
                all: bool) -> NDArray[np.float32]:
        """Adds ids as _ids gives them to sequences. Returns the rows of logits, one after the other."""
        all = _flag("all", all)
        numbers = self._numbers(sequences, len(arrays))
        for number, array in zip(numbers.tolist(), arrays):
            room = self._most - self.position(number)
            if not 1 <= array.size <= max(room, 1):
                raise ValueError("ids: are %d tokens, but 1 to %d are allowed: a sequence has at most %d"
                                 % (array.size, room, self._most))
            if self._source is not None and number not in self._with_source:
                raise _no_source([number])
            if not room:
                raise ValueError("sequence %d: has %d tokens, the most that a sequence has" % (number, self._most))
        of, counts, joined = self._of, np.array([each.size for each in arrays], "int32"), np.concatenate(arrays)
        logits = np.empty((joined.size if all else counts.size, of.vocabulary), "float32")
        status = of.writer.extend(self._context(), counts.size, _address(numbers), _address(counts), _address(joined), all,
                                  _address(logits))
        if status == 2 and self._source is not None:
            raise _no_source(numbers.tolist())
        of.library.check(status)
        return logits

    def extend(self, ids: Sequence[ArrayLike], sequences: Optional[ArrayLike] = None,
               all: bool = False) -> List[NDArray[np.float32]]:
        """Adds the tokens ids[i] to each of different sequences, by default to the first ones: prompts, single tokens and
        several tokens that were guessed are computed together. Returns for each sequence the logits [vocabulary] of its
        last token, or of all its tokens, [count][vocabulary]."""
        arrays = [_ids("ids[%d]" % i, each, self._of.vocabulary) for i, each in enumerate(_list("ids", ids))]
        logits = self._extend(arrays, sequences, all)
        return np.split(logits, np.cumsum([each.size for each in arrays])[:-1]) if all else list(logits)

    def prefill(self, ids: ArrayLike, sequence: int = 0, all: bool = False) -> NDArray[np.float32]:
        """Adds tokens to a sequence. Returns the logits [vocabulary] of the last one, or of all, [count][vocabulary]."""
        logits = self._extend([_ids("ids", ids, self._of.vocabulary)], [self._sequence(sequence)], all)
        return logits if all else logits.reshape(-1)

    def decode(self, ids: ArrayLike, sequences: Optional[ArrayLike] = None) -> NDArray[np.float32]:
        """Adds one token to each of different sequences, by default to the first ones. Returns their logits
        [count][vocabulary]."""
        array = _ids("ids", ids, self._of.vocabulary)
        return self._extend([array[i:i + 1] for i in range(array.size)], sequences, False)

    def encode(self, sources: Sequence[ArrayLike], sequences: Optional[ArrayLike] = None) -> None:
        """Reads sources[i] into different sequences, by default the first ones, which then begin anew: ids [rows], or
        [rows]... as the library's header has them, or images as Model.images gives them. The model has an encoder with
        one input. It reads them with the adapters of the sequences."""
        given: Dict[str, Any] = {} if self._source is None else {row.name: None for row in self._source.inputs}
        needed = [] if self._source is None else [row.name for row in self._source.inputs if not row.optional]
        if self._source is None or len(needed) != 1:
            raise TypeError("encode: the model has no encoder with one input")
        if _is_of_one_length(self._source):
            one = self._source.call({**given, needed[0]: sources})
            count, arrays = one.batch, list(one.arrays.values())
        else:
            call = _of_lists(self._source, {**given, needed[0]: _list("sources", sources)})
            count, arrays = len(call.lengths), [call.lengths, *call.arrays.values()]
        numbers = self._numbers(sequences, count)
        into = _open_structure(self._source)(count, *map(_address, arrays))
        self._of.library.check(self._of.writer.encode(self._context(), _address(numbers), ctypes.byref(into)))
        self._with_source.update(numbers.tolist())

    def position(self, sequence: int = 0) -> int:
        """The number of tokens that a sequence has."""
        return int(self._of.writer.position(self._context(), self._sequence(sequence)))

    def rewind(self, position: int, sequence: int = 0) -> None:
        """Forgets the tokens of a sequence from `position` on."""
        place = _integer("position", position, 0, self.position(sequence))
        self._of.library.check(self._of.writer.rewind(self._context(), self._sequence(sequence), place))

    def set_adapter(self, adapter: Optional[str], sequence: int = 0) -> None:
        """Gives a sequence without tokens an adapter, one of ADAPTERS, or none. rewind, copy, save and load keep it; a
        source that was read with another one is forgotten."""
        number, function = self._number_of(adapter), self._of.writer.set_adapter
        has_tokens = self.position(sequence) > 0
        if function is None:
            return
        if has_tokens:
            raise ValueError("sequence %d: has tokens; rewind(0, %d) comes before another adapter" % (sequence, sequence))
        self._of.library.check(function(self._context(), self._sequence(sequence), number))

    def copy(self, source: int, target: int) -> None:
        """Makes sequence `target` a copy of `source`."""
        self._of.library.check(self._of.writer.copy(self._context(), self._sequence(source, "source"),
                                                    self._sequence(target, "target")))
        (self._with_source.add if source in self._with_source else self._with_source.discard)(target)

    def _file(self, function: Any, path: Path, sequence: int) -> None:
        self._of.library.call(function, self._context(), self._sequence(sequence), _path("path", path))

    def save(self, path: Path, sequence: int = 0) -> None:
        """Writes a sequence to a file for the same build and weights. It has no token ids."""
        self._file(self._of.writer.save, path, sequence)

    def load(self, path: Path, sequence: int = 0) -> None:
        """Reads such a file in place of a sequence, which is unchanged if the file is refused."""
        self._file(self._of.writer.load, path, sequence)
        self._with_source.add(sequence)


class Beam(NamedTuple):
    """An answer of a beam search."""

    ids: NDArray[np.int32]  # [count]; a stop token is the last
    score: float  # the sum of the tokens' log-probabilities / count ** length_penalty


_BEAM_OPTIONS = ("beams", "length_penalty", "early_stopping", "no_repeat_ngram", "min_tokens", "forced_bos", "start")
_EARLY_STOPPING = {False: 0, True: 1, "never": 2}


class _Beams(_Owner):
    """The searches of a state, each at a place of its own."""

    def __init__(self, of: _Samplers, context: Any, options: _BeamOptions, tokens: int) -> None:
        self._of, self._library = of, of.library
        self._made = ctypes.c_void_p()
        of.library.call(of.writer.beam_create, ctypes.byref(self._made), context, ctypes.byref(options), tokens)
        self._end = functools.partial(of.writer.beam_destroy, self._made)
        self.places = int(of.writer.beam_places(self._made))

    def begin(self, place: int, ids: NDArray[np.int32], number: int, logits: Optional[NDArray[np.float32]]) -> None:
        """Begins the search of prompt `number`. logits: those after ids, which the place's first sequence has read."""
        self._library.call(self._of.writer.beam_begin, self._made, place, _address(ids), ids.size, _address(logits),
                           prefix="prompts[%d]: " % number)

    def step(self) -> None:
        self._library.call(self._of.writer.beam_step, self._made)

    def ended(self, place: int) -> bool:
        return bool(self._of.writer.beam_ended(self._made, place))

    def answers(self, place: int, most: int, number: int) -> List[Beam]:
        """The best answers to prompt `number`, at most `most`."""
        ids, count, score = ctypes.POINTER(ctypes.c_int32)(), ctypes.c_int32(), _double()
        text = ctypes.create_string_buffer(4096)
        found: List[Beam] = []
        while len(found) < most:
            status = self._of.writer.beam_answer(self._made, place, len(found), ctypes.byref(ids), ctypes.byref(count),
                                                 ctypes.byref(score), text, len(text))
            if status == 2 and found:
                break
            self._library.check(status, text.value and b"prompts[%d]: " % number + text.value)
            found.append(Beam(np.array(ids[:count.value], "int32"), score.value))
        return found


class _Generating(_Model):
    """The methods of a model that continues sequences."""

    _writer: _Writer
    _sequences: int
    _vocabulary: int
    _tokens = 256  # the most of an answer
    _length = 0  # the most of a prompt and its answer, in place of _tokens; 0: not stated
    _source: Optional[_Table] = None  # of the encoder's inputs; None: the model has none
    _first_ids: Tuple[int, ...] = ()  # the prompt of an answer to a source

    def _samplers(self) -> _Samplers:
        return _Samplers(self._library, self._writer, self._vocabulary)

    def state(self) -> _State:
        """A state whose sequences calls continue."""
        return _State(self, self._samplers(), self._sequences, self._table.seq)

    def sampler(self, *, greedy: Optional[bool] = None, temperature: Optional[float] = None,
                top_k: Optional[int] = None, top_p: Optional[float] = None, min_p: Optional[float] = None,
                repetition_penalty: Optional[float] = None, presence_penalty: float = 0,
                frequency_penalty: float = 0, seed: Optional[int] = None, bias: Optional[Mapping[int, float]] = None,
                allowed: Optional[Sequence[int]] = None, stop_tokens: Optional[Sequence[int]] = None,
                **chain: Any) -> _Sampler:
        """A sampler. Options that are None have the defaults of the model's folder; temperature, top_k, top_p, min_p and
        seed draw tokens. bias: number by token; allowed: the only tokens, if there are any. They mean what they mean in
        transformers (the header has the definitions). chain: llama.cpp's options by the names of the header, such as
        xtc_probability, dry_multiplier and sampler_order; dry_breakers is a list of lists of tokens."""
        return _Sampler(self._samplers(), greedy, temperature, top_k, top_p, min_p, repetition_penalty,
                        presence_penalty, frequency_penalty, seed, bias, allowed, stop_tokens, chain)

    def beam_search(self, prompts: Sequence[ArrayLike], tokens: Optional[int] = None, *, beams: Optional[int] = None,
                    n_best: int = 1, length_penalty: Optional[float] = None,
                    early_stopping: Optional[Union[bool, str]] = None, no_repeat_ngram: Optional[int] = None,
                    min_tokens: Optional[int] = None, forced_bos: Optional[int] = None,
                    repetition_penalty: Optional[float] = None, stop_tokens: Optional[Sequence[int]] = None,
                    start: Optional[int] = None, adapter: Optional[str] = None) -> List[List[Beam]]:
        """The n_best answers to each prompt that a search with `beams` beams finds, the best one first. Options that are
        None have the defaults of the model's folder; they mean what they mean in transformers (the header has the
        definitions). early_stopping: True, False or "never". start: the token that answers to sources start after (None:
        the usual ones). adapter: of all prompts. tokens: see generate()."""
        options = self._writer.beam_defaults()
        most = self._sequences
        given = {"no_repeat_ngram": no_repeat_ngram, "min_tokens": min_tokens}
        if beams is not None:
            options.beams = _integer("beams", beams, 1, most)
        for name, value in given.items():
            if value is not None:
                setattr(options, name, _integer(name, value, 0, 2**31 - 1))
        if min_tokens is not None:
            options.min_length = 0
        if forced_bos is not None:
            options.forced_bos = _integer("forced_bos", forced_bos, 0, self._vocabulary - 1)
        _set_numbers(options, {"length_penalty": length_penalty, "repetition_penalty": repetition_penalty})
        if early_stopping is not None:
            if not (isinstance(early_stopping, (bool, str)) and early_stopping in _EARLY_STOPPING):
                _refuse_value("early_stopping", early_stopping, "True, False or 'never'")
            options.early_stopping = _EARLY_STOPPING[early_stopping]
        if stop_tokens is not None:
            stops = _ids("stop_tokens", _list("stop_tokens", stop_tokens), self._vocabulary)
            options.stop_count, options.stop_tokens = len(stops), _address(stops)
        count = _integer("n_best", n_best, 1, options.beams)
        limit = 0 if tokens is None else _integer("tokens", tokens, 1, 2**31 - 1)
        read = self._read(prompts)
        first = self._first_ids if start is None else (_integer("start", start, 0, self._vocabulary - 1),)
        answers: List[List[Beam]] = [[] for _ in read]
        running: Dict[int, int] = {}  # the number of the prompt by place
        begun = 0
        with self.state() as state, _Beams(self._samplers(), state._context(), options, limit) as search:
            for sequence in range(state.sequences):
                state.set_adapter(adapter, sequence)
            while running or begun < len(read):
                free = [place for place in range(search.places) if place not in running][:len(read) - begun]
                taken = read[begun:begun + len(free)]
                places = [i * options.beams for i in free]
                for place, (ids, logits) in zip(free, self._read_prompts(state, taken, places, first)):
                    search.begin(place, ids, begun, logits)
                    running[place] = begun
                    begun += 1
                for place in [place for place in running if search.ended(place)]:
                    number = running.pop(place)
                    answers[number] = search.answers(place, count, number)
                search.step()
        return answers

    def _read(self, prompts: Sequence[ArrayLike]) -> List[NDArray[np.int32]]:
        """The ids of prompts, or of the sources that take their place; or sources that are arrays."""
        vocabulary = self._vocabulary
        if self._takes_arrays():
            return list(_list("prompts", prompts))
        if self._source is not None:
            vocabulary = (self._source.inputs[0].most or 0) + 1
        return [_ids("prompts[%d]" % i, each, vocabulary) for i, each in enumerate(_list("prompts", prompts))]

    def _takes_arrays(self) -> bool:
        """True if sources are no ids."""
        return self._source is not None and self._source.inputs[0].kind != "int32"

    def _read_prompts(self, state: _State, given: Sequence[NDArray[Any]], sequences: Sequence[int],
                      beginning: Tuple[int, ...]) -> List[Tuple[NDArray[np.int32], Optional[NDArray[np.float32]]]]:
        """The ids of prompts with the logits after them, or None for those that are not read yet. Sources are read
        together, and the tokens that answers begin with are the prompts; one of a wrong length is left to the library,
        which says so."""
        if not given or self._source is None:
            return [(ids, None) for ids in given]
        most = self._source.seq
        if not self._takes_arrays() and not all(1 <= ids.size <= most for ids in given):
            return [(ids, None) for ids in given]
        state.encode(given, sequences)
        first = np.array(beginning, "int32")
        return [(first, row) for row in state.extend([first] * len(given), sequences)]

    def _begin(self, state: _State, sampler: _Sampler, ids: NDArray[Any], sequence: int,
               adapter: Optional[str]) -> NDArray[np.float32]:
        """Reads a prompt or a source into a sequence, and returns the logits of an answer's first token."""
        state.rewind(0, sequence)
        state.set_adapter(adapter, sequence)
        prompt, logits = self._read_prompts(state, [ids], [sequence], self._first_ids)[0]
        sampler.feed(prompt)
        return state.prefill(prompt, sequence) if logits is None else logits

    def _searches(self, options: Mapping[str, Any]) -> bool:
        """True if options, or without any the model's folder, ask for beams."""
        return any(name in options for name in _BEAM_OPTIONS) or (not options and self._writer.beam_defaults().beams > 1)

    def generate(self, prompts: Sequence[ArrayLike], tokens: Optional[int] = None,
                 **options: Any) -> List[NDArray[np.int32]]:
        """The token ids that follow each prompt, int32 [count]; a stop token is the last. tokens: the most of an answer;
        None: max_new_tokens of the model's folder, or what its max_length leaves, or 256. options: those of sampler(), or
        of beam_search(), whose best answers they are then.

        As many prompts as the model has sequences are answered side by side. Prompt number i, from 0, has the seed
        `seed` + i, and its answer does not depend on the others. guess="prompt": tokens are guessed where a text
        repeats itself, and one call verifies them; the answers are the same. adapter: the name of one of ADAPTERS, or a
        list with one, or None, for each prompt.
        """
        return self._generate(prompts, tokens, options, lambda number, ids: False)

    def _generate(self, prompts: Sequence[ArrayLike], tokens: Optional[int], options: Mapping[str, Any],
                  is_end: Callable[[int, List[int]], bool]) -> List[NDArray[np.int32]]:
        """The same; is_end(number of the prompt, ids of its answer so far) may end an answer without beams."""
        options = dict(options)
        guess, adapter = options.pop("guess", None), options.pop("adapter", None)
        if guess not in (None, "prompt"):
            _refuse_value("guess", guess, "None or 'prompt'")
        if self._searches(options):
            if guess:
                raise ValueError("guess: does not go with beams")
            if adapter is not None and not isinstance(adapter, str):
                raise ValueError("adapter: with beams all prompts have one")
            return [each[0].ids for each in self.beam_search(prompts, tokens, adapter=adapter, **options)]
        room = self._table.seq  # the tokens of a sequence before the last one of its answer
        if tokens is None and self._length:
            tokens = room = min(room, self._length - 1)
        most = _integer("tokens", self._tokens if tokens is None else tokens, 1, None)
        read = self._read(prompts)
        longest = room if self._source is None else self._source.seq
        for i, each in enumerate(read):
            if not self._takes_arrays() and not 1 <= each.size <= longest:
                raise ValueError("prompts[%d]: has %d tokens, but 1 to %d are allowed" % (i, each.size, longest))
        names: List[Optional[str]] = [None] * len(read)
        numbers = self._adapters_of(adapter, len(read))
        if numbers is not None:
            names = [self._adapters[number - 1] if number else None for number in numbers.tolist()]
        free = [(sequence, self.sampler(**options)) for sequence in range(min(self._sequences, len(read)))]
        seed = free[0][1]._seed if free else 0
        answers: List[List[int]] = [[] for _ in read]
        running: List[Tuple[int, _Sampler, int]] = []  # with the number of the prompt
        begun = 0

        def take(sampler: _Sampler, number: int, logits: NDArray[np.float32]) -> None:
            answers[number].append(sampler.sample(logits))
            sampler.feed(answers[number][-1:], generated=True)

        def has_ended(sampler: _Sampler, number: int, position: int) -> bool:
            made = answers[number]
            return len(made) >= most or sampler.stops(made[-1]) or position >= room or is_end(number, made)

        def take_guessed(guesser: _Guesser) -> None:
            texts = [np.append(begun_with[number], np.array(answers[number], "int32")) for _, _, number in running]
            places = [(state.position(sequence), sequence) for sequence, _, _ in running]
            ids = guesser.guess(texts, [min(room - at - 1, most - len(answers[number]) - 1)
                                        for (at, _), (_, _, number) in zip(places, running)])
            rows = state.extend(ids, [sequence for _, sequence in places], all=True)
            for i, (_, sampler, number) in enumerate(running):
                drawn = guesser.accept(i, sampler, rows[i])
                at, sequence = places[i]
                state.rewind(at + len(drawn), sequence)
                for count, each in enumerate(drawn):
                    answers[number].append(each)
                    if has_ended(sampler, number, at + count + 1):
                        break

        begun_with: Dict[int, NDArray[np.int32]] = {}  # the tokens of a prompt, or those that an answer to a source begins with
        with self.state() as state, contextlib.ExitStack() as stack:
            guesser = stack.enter_context(_Guesser(self._samplers())) if guess else None
            while running or begun < len(read):
                while free and begun < len(read):
                    sequence, sampler = free.pop()
                    sampler.reset((seed + begun) % 2**64)
                    take(sampler, begun, self._begin(state, sampler, read[begun], sequence, names[begun]))
                    first = np.array(self._first_ids, "int32")
                    begun_with[begun] = read[begun] if self._source is None else first
                    running.append((sequence, sampler, begun))
                    begun += 1
                for place in list(running):
                    sequence, sampler, number = place
                    if has_ended(sampler, number, state.position(sequence)):
                        running.remove(place)
                        free.append((sequence, sampler))
                if running and guesser is not None:
                    take_guessed(guesser)
                elif running:
                    logits = state.decode([answers[number][-1] for _, _, number in running],
                                          [sequence for sequence, _, _ in running])
                    for row, (_, sampler, number) in zip(logits, running):
                        take(sampler, number, row)
        return [np.array(each, "int32") for each in answers]
