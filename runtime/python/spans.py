# spans.py: finds the spans of texts that have labels, which come with each call.
from __future__ import annotations

import ctypes
from typing import List, NamedTuple, Sequence

from library import _fields, _pointer, _size
from text import Text, _TextLibrary, _TextModel
from values import _flag, _list, _number, _refuse_value, _utf8


class _Span(ctypes.Structure):
    _fields_ = _fields(byte_begin=ctypes.c_uint32, byte_end=ctypes.c_uint32, begin=ctypes.c_uint32, end=ctypes.c_uint32,
                       label=ctypes.c_int32, score=ctypes.c_float)


class _SpanOptions(ctypes.Structure):
    _fields_ = _fields(threshold=ctypes.c_float, nested=ctypes.c_int, several=ctypes.c_int)


class Span(NamedTuple):
    """A part of a text that has a label: characters [begin, end)."""

    begin: int
    end: int
    label: int  # its number among those that were given
    score: float


class _SpanLibrary(_TextLibrary):
    """The library of a model that finds spans of labels."""

    def __init__(self, module: str, name: str, abi: int) -> None:
        super().__init__(module, name, abi)
        self.text_labels = self.function("text_labels", ctypes.c_int, _pointer, _pointer, _size)
        self.text_spans = self.function("text_spans", ctypes.c_int, *[_pointer] * 6)


class _SpanModel(_TextModel):
    """A model that finds spans of labels."""

    _library: _SpanLibrary

    def spans(self, texts: Sequence[Text], labels: Sequence[str], threshold: float = 0.5, nested: bool = False,
              multi_label: bool = False) -> List[List[Span]]:
        """The spans of each text that have one of the labels, by their first words.

        Their scores are above the threshold. The best of spans that overlap is given; nested: spans within others, too;
        multi_label: a span may have several labels.
        """
        library, made = self._library, []
        names = [_utf8("labels[%d]" % i, each, may_end=False) for i, each in enumerate(_list("labels", labels))]
        limit = _number("threshold", threshold)
        if not 0 <= limit <= 1:
            _refuse_value("threshold", threshold, "0 to 1")
        options = _SpanOptions(limit, _flag("nested", nested), _flag("multi_label", multi_label))
        read = [self._in("texts[%d]" % i, each) for i, each in enumerate(_list("texts", texts))]
        found, count = ctypes.POINTER(_Span)(), ctypes.c_size_t()
        with self._caller() as caller:
            status = library.text_labels(caller.text, (ctypes.c_char_p * len(names))(*names), len(names))
            library.check_text(status, caller.text)
            for each in read:
                status = library.text_spans(caller.context, caller.text, ctypes.byref(each), ctypes.byref(options),
                                            ctypes.byref(found), ctypes.byref(count))
                library.check_text(status, caller.text)
                made.append([Span(one.begin, one.end, one.label, one.score) for one in found[:count.value]])
        return made
