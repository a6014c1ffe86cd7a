# values.py: checks single values before they go to the library: ctypes takes integers modulo a power of two, and a text
# up to its first NUL.
from __future__ import annotations

import ctypes
import operator
import os
from typing import Any, List, NoReturn, Optional, Union

import numpy as np

Path = Union[str, bytes, "os.PathLike[str]"]


def _refuse_value(name: str, value: Any, expected: str) -> NoReturn:
    raise ValueError("%s: %s, but %s is expected" % (name, " ".join(ascii(value).split())[:200], expected)) from None


def _integer(name: str, value: Any, least: int, most: Optional[int]) -> int:
    """An integer from `least` to `most`; None: to any."""
    try:
        number = operator.index(value)
    except TypeError:
        _refuse_value(name, value, "an integer")
    if number < least or (most is not None and number > most):
        raise ValueError("%s: is %d, but %d %s is allowed" % (name, number, least,
                                                              "or more" if most is None else "to %d" % most))
    return number


def _flag(name: str, value: Any) -> bool:
    """True or False, also NumPy's."""
    if not isinstance(value, (bool, np.bool_)):
        _refuse_value(name, value, "True or False")
    return bool(value)


def _number(name: str, value: Any) -> float:
    """A number; the library says which are allowed."""
    try:
        return ctypes.c_double(value).value
    except (TypeError, OverflowError):
        _refuse_value(name, value, "a number")


def _utf8(name: str, value: Any, may_end: bool = True) -> bytes:
    """A text as UTF-8; may_end: NUL is allowed, as the library gets the length."""
    if not isinstance(value, str) or (not may_end and "\0" in value):
        _refuse_value(name, value, "a str" if may_end else "a str without NUL")
    try:
        return value.encode("utf-8")
    except UnicodeEncodeError:
        _refuse_value(name, value, "a str without lone surrogates")


def _path(name: str, value: Any) -> bytes:
    """A path as the system has it."""
    try:
        path = os.fsencode(value)
    except (TypeError, UnicodeError):
        _refuse_value(name, value, "a path")
    if b"\0" in path:
        _refuse_value(name, value, "a path without NUL")
    return path


def _list(name: str, values: Any) -> List[Any]:
    """The items of a list or another sequence, which is not a text."""
    if isinstance(values, (str, bytes)):
        _refuse_value(name, values, "a list")
    try:
        return list(values)
    except TypeError:
        _refuse_value(name, values, "a list")
