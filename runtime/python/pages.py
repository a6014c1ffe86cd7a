# pages.py: gives a model words with the places that they have on a page, and the page's picture.
from __future__ import annotations

import ctypes
from typing import Any, NamedTuple, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calls import _address, _array, _check_range, _refuse
from library import _fields, _pointer, _size
from pictures import _pixels
from text import Text, Tokens, _copy, _Encoder, _text, _TextIn, _TextModel, _Tokenizer, _Tokens
from values import _list, _refuse_value


class Page(NamedTuple):
    """The words of a page, which stand in place of a text. Words are what white space divides."""

    text: Text  # the words; or a tuple: a question, and the words
    boxes: ArrayLike  # int32 [words][4]: left, upper, right and lower side, in thousandths of the page
    picture: Optional[ArrayLike] = None  # of the page, uint8 [height, width, 3]; None: the model reads none


class PageTokens(Tokens):
    """The tokens of a page. The places of a word's tokens are that of the word."""

    boxes: NDArray[np.int32]  # [length][4]


class _PageFacts(NamedTuple):
    """What a model reads of pages: the parameters of forward that take boxes, lengths and pictures; "": none."""

    boxes: str
    most: int  # the largest side of a box
    lengths: str
    picture: str


class _PageIn(_TextIn):
    _fields_ = _fields(boxes=_pointer, box_count=_size)
    kept: Any = None  # what the addresses are of


class _PicturedIn(_PageIn):
    _fields_ = _fields(image=_pointer)


class _PageTokens(_Tokens):
    _fields_ = _fields(boxes=_pointer)


class _PageEncoder(_Encoder):
    """The methods of a model of pages that need no weights."""

    _page: _PageFacts
    _tokens_type = _PageTokens

    def _in(self, name: str, value: Any) -> _PageIn:
        kind = _PicturedIn if self._page.picture else _PageIn
        made: _PageIn = _text(name, value.text if isinstance(value, Page) else value, kind)
        if isinstance(value, Page):
            given = value.boxes if _list(name + ".boxes", value.boxes) else np.zeros((0, 4), "int32")
            boxes = _array(name + ".boxes", given, "int32", ("words", 4))
            if boxes.shape[1] != 4:
                _refuse(name + ".boxes", boxes, "int32", ("words", 4))
            _check_range(name + ".boxes", boxes, 0, self._page.most)
            made.kept = np.require(boxes, "int32", ["C", "A"])
            made.boxes, made.box_count = _address(made.kept), len(boxes)
            if value.picture is not None:
                _pixels(name + ".picture", value.picture)
        return made

    def _made(self, of: Any) -> Tokens:
        made = PageTokens(*super()._made(of))
        made.boxes = _copy(of.boxes, (of.length, 4), "int32")
        return made


class _PageTokenizer(_PageEncoder, _Tokenizer):
    """The tokenizer of a model of pages, without the model."""


class _PageModel(_PageEncoder, _TextModel):
    """A model of pages, each of which is a Page, or a text whose words are all in the upper left corner."""

    def _images(self, texts: Sequence[Any]) -> Optional[NDArray[np.float32]]:
        """The images of the pages' pictures; None: the model reads none."""
        pictures = [each.picture if isinstance(each, Page) else None for each in texts]
        for i, each in enumerate(pictures):
            if (each is None) == bool(self._page.picture):
                raise ValueError("texts[%d]: %s" % (i, "has no picture of its page, which the model reads, too"
                                                    if each is None else "has a picture, but the model reads none"))
        of: Any = self
        return of.images(pictures) if self._page.picture else None

    def _placed(self, texts: Sequence[Any]) -> Tuple[Any, Any]:
        if isinstance(texts, Page):
            _refuse_value("texts", texts, "a list")
        listed = _list("texts", texts)
        into, read = super()._placed(listed)
        images = self._images(listed)
        for i, each in enumerate(into if images is not None else ()):
            each.image = _address(images[i])  # type: ignore[index]
        return into, (read, images)
