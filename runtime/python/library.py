# library.py: opens a model's shared library, and owns its memory: weights, and contexts for calls that run at a time.
from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import sys
import threading
from typing import Any, Callable, Iterator, List, NoReturn, Optional, Sequence, Tuple, Type, TypeVar, Union

import numpy as np
from numpy.typing import NDArray

from calls import Out, Outputs, _address, _Call, _Output, _Table
from values import Path, _integer, _list, _path

# The adapter of all sequences of a call, or of each; None: it has none.
Adapter = Union[None, str, Sequence[Optional[str]]]

_Kept = TypeVar("_Kept", bound="_Owner")
_Made = TypeVar("_Made", bound="_Model")

_pointer, _size = ctypes.c_void_p, ctypes.c_size_t
_errors = {2: ValueError, 3: ValueError, 4: OSError, 5: MemoryError}


def _fields(**fields: Any) -> List[Tuple[str, Any]]:
    """The fields of a structure, in their order."""
    return list(fields.items())


class _Library:
    """The functions of a model's library, which is next to the module."""

    def __init__(self, module: str, name: str, abi: int) -> None:
        forms = {"win32": "%s.dll", "cygwin": "%s.dll", "darwin": "lib%s.dylib"}
        self.name, self.file = name, forms.get(sys.platform, "lib%s.so") % name
        path = os.path.join(os.path.dirname(os.path.abspath(module)), self.file)
        if not os.path.isfile(path):  # of a package in a zip file, too, from which no system loads a library
            raise ImportError("%s: there is no such file; the module needs it next to it, and not in a zip file" % path)
        self._library = ctypes.CDLL(path)
        found = self.function("abi", ctypes.c_int)()
        if found != abi:
            raise ImportError("%s has ABI %d, but %s is for %d: build the model anew"
                              % (self.file, found, os.path.basename(module), abi))
        message = ctypes.c_char_p, _size
        self.open = self.function("open", ctypes.c_int, ctypes.c_char_p, _pointer, *message)
        self.open_memory = self.function("open_memory", ctypes.c_int, ctypes.c_char_p, _size, _pointer, *message)
        self.create = self.function("create", ctypes.c_int, _pointer, _pointer)
        self.forward = self.function("forward", ctypes.c_int, _pointer, _pointer, _pointer)
        self.destroy = self.function("destroy", None, _pointer)
        self.close = self.function("close", None, _pointer)
        self.strerror = self.function("strerror", ctypes.c_char_p, ctypes.c_int)
        self.version = self.function("version", ctypes.c_char_p)
        # None: the model is for one thread.
        self.set_threads = self.optional("set_threads", ctypes.c_int, _pointer, ctypes.c_int)

    def function(self, name: str, result: Any, *arguments: Any) -> Any:
        function = getattr(self._library, "%s_%s" % (self.name, name), None)
        if function is None:
            raise ImportError("%s has no function %s_%s: it is of another build; build the model anew"
                              % (self.file, self.name, name))
        function.restype, function.argtypes = result, arguments
        return function

    def optional(self, name: str, result: Any, *arguments: Any) -> Any:
        """The function, or None if the model does not have it."""
        there = hasattr(self._library, "%s_%s" % (self.name, name))
        return self.function(name, result, *arguments) if there else None

    def check(self, status: int, text: bytes = b"") -> None:
        """Raises the error of a status, with the library's own text if there is one."""
        if status != 0:
            said: bytes = text or self.strerror(status)
            raise _errors.get(status, RuntimeError)(said.decode("utf-8", "replace"))

    def call(self, function: Any, *arguments: Any, prefix: str = "") -> None:
        """Calls a function whose last arguments are a buffer for its text and the size of that. prefix: of the text."""
        text = ctypes.create_string_buffer(4096)
        status = function(*arguments, text, len(text))
        self.check(status, text.value and prefix.encode() + text.value)


@functools.lru_cache(maxsize=None)
def _structure(table: _Table) -> Type[ctypes.Structure]:
    """The library's structure of inputs, which has an address for each."""
    fields = [("_" + row.name, ctypes.c_void_p) for row in table.inputs]
    return type("_In", (ctypes.Structure,), {"_fields_": fields})


def _addresses(of: Sequence[_Output], made: Outputs) -> Any:
    """The library's structure of outputs, which has an address for each."""
    return (ctypes.c_void_p * len(of))(*(_address(made.get(row.name)) for row in of))


class _Owner:
    """The owner of memory of the library, which is freed once: at the end of a `with`, by close(), or with the last
    reference. It cannot be copied, or two objects would free the same memory."""

    _library: _Library
    _end: Optional[Callable[[], Any]] = None  # frees the memory; None: it is closed

    def close(self) -> None:
        """Frees the memory; nothing, if it is closed already."""
        end = self.__dict__.pop("_end", None)
        if end is not None:
            end()

    def _check_open(self) -> None:
        if self._end is None:
            raise ValueError("the %s is closed" % type(self).__name__.strip("_").lower())

    def __enter__(self: _Kept) -> _Kept:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("a %s cannot be copied or pickled, as it owns memory of %s: share it, or open another one"
                        % (type(self).__name__.strip("_"), self._library.file))


class _Pool(_Owner):
    """The memory of an open object of the library, for as many calls as ran at a time."""

    def __init__(self, library: _Library, what: str, make: Callable[[], Any], end: Callable[[], Any]) -> None:
        self._library, self._what, self._make = library, what, make
        self._lock = threading.Lock()
        self._running: List[str] = []  # what each caller is: "call", or "state", which is open until it is closed
        self._free: List[Any] = []
        self._end = end

    def close(self) -> None:
        if self._end is None:
            return
        with self._lock:
            if "call" in self._running:
                raise RuntimeError("a call of the %s is running" % self._what)
            if self._running:
                raise RuntimeError("a %s of the %s is open" % (self._running[0], self._what))
            while self._free:
                self._free.pop().close()
            super().close()

    def __del__(self) -> None:
        if not self._running:  # at the interpreter's end, a state may still have it
            self.close()

    @contextlib.contextmanager
    def caller(self, word: str = "call") -> Iterator[Any]:
        """Memory of one call, for as long as it runs, or of a state."""
        with self._lock:
            if self._end is None:
                raise ValueError("the %s is closed" % self._what)
            self._running.append(word)
            caller = self._free.pop() if self._free else None
        try:
            if caller is None:
                caller = self._make()
            yield caller
        finally:
            with self._lock:
                self._running.remove(word)
                if caller is not None:
                    self._free.append(caller)


class _Pooled(_Owner):
    """An object whose memory a pool owns: it is freed when neither the object nor a state has the pool any more."""

    _pool: Optional[_Pool] = None

    def close(self) -> None:
        """Frees the memory. RuntimeError while a call runs or a state is open; nothing, if it is closed already."""
        if self._pool is not None:
            self._pool.close()

    def __del__(self) -> None:
        pass

    def _caller(self, word: str = "call") -> Any:
        if self._pool is None:
            raise ValueError("the %s is closed" % type(self).__name__.lower())
        return self._pool.caller(word)


class _Caller(_Owner):
    """The memory of one call at a time."""

    def __init__(self, library: _Library, model: Any) -> None:
        self._library, self.context = library, ctypes.c_void_p()
        library.check(library.create(model, ctypes.byref(self.context)))
        self._end = functools.partial(library.destroy, self.context)


class _Model(_Pooled):
    """The methods of a model that do not depend on its inputs."""

    _table: _Table
    _most_threads = 1  # that share a call
    _adapters: Tuple[str, ...] = ()  # names of those that a sequence may have, whose numbers begin with 1

    def _adapter(self, name: Optional[str]) -> int:
        """The number of an adapter; None: 0."""
        if name is not None and name not in self._adapters:
            raise ValueError("adapter: there is no adapter %r; the model's are %s"
                             % (name, ", ".join(map(repr, self._adapters)) or "none"))
        return 0 if name is None else self._adapters.index(name) + 1

    def _adapters_of(self, adapter: Adapter, count: int) -> Optional[NDArray[np.int32]]:
        """The adapters of sequences, as the library takes them."""
        if adapter is None:
            return None
        names = [adapter] * count if isinstance(adapter, str) else list(_list("adapter", adapter))
        if len(names) != count:
            raise ValueError("adapter: has %d names, but there are %d sequences" % (len(names), count))
        return np.array([self._adapter(each) for each in names], "int32")

    def _open_with(self, function: Any, weights: Optional[Path], threads: Optional[int]) -> None:
        """Opens a checkpoint; None: the weights that are linked in. threads: None: those of the library."""
        self._start(threads, function, None if weights is None else _path("weights", weights))

    @classmethod
    def from_memory(cls: Type[_Made], weights: bytes, threads: Optional[int] = None) -> _Made:
        """A model from the bytes of such a file, which are not needed afterwards. threads: as of Model()."""
        if not isinstance(weights, bytes):
            raise TypeError("weights: is %s, but bytes are expected" % type(weights).__name__)
        return cls.__new__(cls)._start(threads, cls._library.open_memory, weights, len(weights))

    def _start(self: _Made, threads: Optional[int], function: Any, *weights: Any) -> _Made:
        library, model = self._library, ctypes.c_void_p()
        shared_by = None if threads is None else _integer("threads", threads, 1, self._most_threads)
        library.call(function, *weights, ctypes.byref(model))
        if shared_by is not None and library.set_threads is not None:
            library.check(library.set_threads(model, shared_by))
        self._pool = _Pool(library, "model", self._maker(model), lambda: library.close(model))
        return self

    def _maker(self, model: Any) -> Callable[[], Any]:
        """A function that makes the memory of a call."""
        library = self._library
        return lambda: _Caller(library, model)

    def _run(self, call: _Call, out: Optional[Out], adapter: Adapter = None) -> Outputs:
        if adapter is not None:
            call.arrays["adapters"] = self._adapters_of(adapter, call.batch)
        made = self._table.made(out, call)
        into = _structure(self._table)(*(_address(call.arrays[row.name]) for row in self._table.inputs))
        onto = _addresses(self._table.outputs, made)
        with self._caller() as caller:
            self._library.check(self._library.forward(caller.context, ctypes.byref(into), ctypes.byref(onto)))
        return made
