# text.py: gives a model texts in place of arrays, and has its tokenizer.
from __future__ import annotations

import ctypes
import functools
from typing import Any, Callable, NamedTuple, Optional, Sequence, Tuple, Type, TypeVar, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calls import Out, Outputs, _address, _array, _check_range, _Output, _outputs
from library import _addresses, _Caller, _Library, _Model, _Owner, _fields, _pointer, _Pool, _Pooled, _size
from values import _flag, _integer, _list, _refuse_value, _utf8

Text = Union[str, bytes, Tuple[Union[str, bytes], Union[str, bytes]]]


class _TextIn(ctypes.Structure):
    _fields_ = _fields(text=ctypes.c_char_p, length=_size, pair=ctypes.c_char_p, pair_length=_size)


class _Tokens(ctypes.Structure):
    _fields_ = _fields(length=_size, ids=_pointer, types=_pointer, places=_pointer, sources=_pointer, removed=_size)


class Tokens(NamedTuple):
    """The tokens of a text, special ones among them."""

    ids: NDArray[np.int32]  # [length]
    types: NDArray[np.int32]  # [length]
    places: NDArray[np.uint32]  # [length][4]: first byte, byte after the last; the same in characters
    sources: NDArray[np.uint8]  # [length]: 0 of the text, 1 of the pair, 2 a special token
    removed: int  # tokens that were cut off, at least


class _TextLibrary(_Library):
    """A library with a tokenizer."""

    def __init__(self, module: str, name: str, abi: int) -> None:
        super().__init__(module, name, abi)
        status, two = ctypes.c_int, (_pointer, _pointer)
        self.text_open = self.function("text_open", status, _pointer, ctypes.c_char_p, _size)
        self.text_close = self.function("text_close", None, _pointer)
        self.text_fault = self.function("text_fault", ctypes.c_char_p, _pointer)
        self.tokenize = self.function("tokenize", status, *two, _size, _pointer)
        self.decode = self.function("detokenize", status, *two, _size, ctypes.c_int, *two)
        self.forward_text = self.function("forward_text", status, *two, _pointer, _size, *two)
        # None: the model has no prompts or languages, or its answer is no embedding.
        self.text_prompt = self.optional("text_prompt", status, _pointer, ctypes.c_char_p)
        self.text_languages = self.optional("text_languages", status, _pointer, ctypes.c_char_p, ctypes.c_char_p, *two)
        self.text_truncation = self.optional("text_truncation", status, _pointer, ctypes.c_int)
        self.text_dimensions = self.optional("text_dimensions", status, _pointer, _size)
        self.text_adapter = self.optional("text_adapter", status, _pointer, ctypes.c_int32)

    def check_text(self, status: int, text: Any) -> None:
        """Raises the error of a status, with the tokenizer's own words."""
        self.check(status, self.text_fault(text) if status else b"")


_In = TypeVar("_In", bound=_TextIn)


def _text(name: str, value: Any, kind: Type[_In]) -> _In:
    """A text or a pair as the library takes it, in a structure that may have further fields."""
    def utf8(part: Any) -> bytes:
        if isinstance(part, str):
            return _utf8(name, part)
        if isinstance(part, bytes):
            return part
        _refuse_value(name, value, "a str, bytes or a tuple of two")

    if isinstance(value, tuple) and len(value) == 2:
        text, pair = utf8(value[0]), utf8(value[1])
        return kind(text, len(text), pair, len(pair))
    text = utf8(value)
    return kind(text, len(text), None, 0)


def _copy(address: Optional[int], shape: Tuple[int, ...], kind: str) -> NDArray[Any]:
    made = np.zeros(shape, kind)
    if made.size and address is not None:
        ctypes.memmove(made.ctypes.data, address, made.nbytes)
    return made


def _tokens(of: _Tokens) -> Tokens:
    n = of.length
    return Tokens(_copy(of.ids, (n,), "int32"), _copy(of.types, (n,), "int32"), _copy(of.places, (n, 4), "uint32"),
                  _copy(of.sources, (n,), "uint8"), of.removed)


class _TextCaller(_Owner):
    """A tokenizer with the memory of one call at a time."""

    def __init__(self, library: _TextLibrary) -> None:
        self._library: _TextLibrary = library
        self.text = ctypes.c_void_p()
        library.call(library.text_open, ctypes.byref(self.text))
        self._end = functools.partial(library.text_close, self.text)


class _ModelCaller(_TextCaller):
    """A tokenizer and a context."""

    def __init__(self, library: _TextLibrary, model: Any) -> None:
        super().__init__(library)
        caller, text = _Caller(library, model), self.text
        self.context = caller.context

        def end() -> None:
            caller.close()
            library.text_close(text)

        self._end = end


class _Encoder(_Pooled):
    """The methods that need a tokenizer and no weights."""

    _library: _TextLibrary
    _prompts: Tuple[str, ...] = ()  # names of prompts that a text may have in place of the usual one
    _tokens_type: Type[_Tokens] = _Tokens

    def _in(self, name: str, value: Any) -> _TextIn:
        """A text as the library takes it."""
        return _text(name, value, _TextIn)

    def _made(self, of: Any) -> Tokens:
        """The tokens that the library made."""
        return _tokens(of)

    def _choose_prompt(self, caller: Any, name: Optional[str]) -> None:
        """Sets the prompt of a call; None: the usual one."""
        choose = self._library.text_prompt
        if name is not None and name not in self._prompts:
            known = ", ".join(map(repr, self._prompts)) or "none"
            raise ValueError("prompt: there is no prompt %r; the model's are %s" % (name, known))
        if choose is not None:
            self._library.check_text(choose(caller.text, None if name is None else name.encode()), caller.text)

    def encode(self, text: Text, most: int = 0, prompt: Optional[str] = None) -> Tokens:
        """The tokens of a text, or of a tuple of two; cut to `most` (0: to SEQ). prompt: the name of the model's
        prompt that is put before it (None: the usual one)."""
        return self._encoded(self._in("text", text), _integer("most", most, 0, 2**31 - 1), prompt, None, None)[0]

    def _encoded(self, text: _TextIn, most: int, prompt: Optional[str], source: Optional[str],
                 target: Optional[str]) -> Tuple[Tokens, int, int]:
        """The tokens of a text, and those that an answer in the target's language starts after and with (-1: the usual
        ones)."""
        tokens, start, first, library = self._tokens_type(), ctypes.c_int32(-1), ctypes.c_int32(-1), self._library
        codes = [None if each is None else _utf8(name, each, may_end=False)
                 for name, each in (("source_language", source), ("target_language", target))]
        with self._caller() as caller:
            self._choose_prompt(caller, prompt)
            if library.text_languages is not None:
                status = library.text_languages(caller.text, *codes, ctypes.byref(start), ctypes.byref(first))
                library.check_text(status, caller.text)
            status = library.tokenize(caller.text, ctypes.byref(text), most, ctypes.byref(tokens))
            library.check_text(status, caller.text)
            return self._made(tokens), start.value, first.value

    def decode(self, ids: ArrayLike, skip_special: bool = True) -> str:
        """The text of ids from 0 on, int32 [count]; ids without a token vanish."""
        array = _array("ids", ids, "int32", ("count",)) if np.size(ids) else np.zeros(0, "int32")
        _check_range("ids", array, 0, 2**31 - 1)
        array = np.require(array, "int32", ["C", "A"])
        text, length = ctypes.c_void_p(), ctypes.c_size_t()
        with self._caller() as caller:
            status = self._library.decode(caller.text, _address(array), array.size, _flag("skip_special", skip_special),
                                          ctypes.byref(text), ctypes.byref(length))
            self._library.check_text(status, caller.text)
            found = ctypes.string_at(text, length.value) if length.value else b""
        return found.decode("utf-8", "replace")


class _Tokenizer(_Encoder):
    """A tokenizer alone."""

    def __init__(self) -> None:
        library = self._library
        self._pool = _Pool(library, "tokenizer", lambda: _TextCaller(library), lambda: None)


class _TextModel(_Encoder, _Model):
    """A model that takes text."""

    _text_outputs: Tuple[_Output, ...]  # "batch" is the number of texts

    def _maker(self, model: Any) -> Callable[[], Any]:
        library = self._library
        return lambda: _ModelCaller(library, model)

    _embedding: Tuple[str, int, int] = ("", 0, 0)  # the answer's output, its width, and the numbers usually kept

    def _kept(self, dimensions: Optional[int]) -> Tuple[Tuple[_Output, ...], int]:
        """The outputs of a call that keeps the first `dimensions` numbers of embeddings, and that number."""
        name, width, usual = self._embedding
        if dimensions is not None and not name:
            raise ValueError("dimensions: is for models whose answer is an embedding")
        count = usual if dimensions is None else _integer("dimensions", dimensions, 1, width)
        return tuple(_Output(each.name, each.kind, (*each.sizes[:-1], count) if each.name == name else each.sizes)
                     for each in self._text_outputs), count

    def _placed(self, texts: Sequence[Any]) -> Tuple[Any, Any]:
        """Texts as the library takes them, and what must be there as long."""
        read = [self._in("texts[%d]" % i, each) for i, each in enumerate(_list("texts", texts))]
        kind: Any = type(read[0]) if read else _TextIn
        return (kind * len(read))(*read), read

    def forward_text(self, texts: Sequence[Text], out: Optional[Out] = None, prompt: Optional[str] = None,
                     dimensions: Optional[int] = None, adapter: Optional[str] = None,
                     truncation: str = "longest_first") -> Tuple[Outputs, NDArray[np.int32]]:
        """Runs the model on texts; each is a str, or a tuple of two.

        Returns the outputs by name, and how many tokens each text has, int32 [texts]. `out` is as in forward. batch is
        the number of texts; arrays with rows for tokens have SEQ of them, 0 after a text's own. prompt: the name of the
        model's prompt that is put before each text (None: the usual one). dimensions: numbers of an embedding that are
        kept, from the first (None: the usual number). adapter: of all texts, one of ADAPTERS.
        truncation: "only_first" cuts only a pair's first text, in models that say if one text follows from another.
        """
        of, kept = self._kept(dimensions)
        cut, cuts_first = self._library.text_truncation, truncation == "only_first"
        if truncation != "longest_first" and not (cut and cuts_first):
            raise ValueError("truncation: is %r, but %s is allowed" % (
                truncation, "'longest_first' or 'only_first'" if cut else "'longest_first'"))
        into, _kept = self._placed(texts)
        count, choose = len(into), self._library.text_dimensions
        number, adapt = self._adapter(adapter), self._library.text_adapter
        made = _outputs(out, of, count, self._table.seq, [])
        lengths = np.zeros(count, "int32")
        onto = _addresses(of, made)
        if count:
            with self._caller() as caller:
                self._choose_prompt(caller, prompt)
                if choose is not None:
                    self._library.check_text(choose(caller.text, kept), caller.text)
                if adapt is not None:
                    self._library.check_text(adapt(caller.text, number), caller.text)
                if cut is not None:
                    cut(caller.text, cuts_first)
                status = self._library.forward_text(caller.context, caller.text, into, count, ctypes.byref(onto),
                                                    _address(lengths))
                if cut is not None:
                    cut(caller.text, 0)
                self._library.check_text(status, caller.text)
        return made, lengths
