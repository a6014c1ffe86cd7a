# calls.py: checks the arrays of a call against a model's table of inputs and outputs, and makes arrays for its outputs.
# A size in a table is a number, or "batch", "seq" or "seq + N", which the call decides.
from __future__ import annotations

from typing import Any, Dict, List, Mapping, NamedTuple, NoReturn, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

Outputs = Dict[str, NDArray[Any]]
Out = Mapping[str, Optional[NDArray[Any]]]

_Sizes = Tuple[Union[int, str], ...]


class _Input(NamedTuple):
    name: str  # of the parameter
    kind: str  # float32 or int32
    sizes: _Sizes
    least: Optional[int]  # smallest value; None: any
    most: Optional[int]  # largest value
    optional: bool


class _Output(NamedTuple):
    name: str
    kind: str
    sizes: _Sizes


class _Call(NamedTuple):
    arrays: Dict[str, Optional[NDArray[Any]]]  # by parameter, as the library takes them; None: left out
    batch: int
    seq: int


def _resolved(size: Union[int, str], batch: int, seq: int) -> int:
    """The number that a size is in a call."""
    if isinstance(size, int):
        return size
    name, _, more = size.partition(" + ")
    return {"batch": batch, "seq": seq}[name] + int(more or 0)


def _shown(sizes: Sequence[Any]) -> str:
    return "".join("[%s]" % size for size in sizes) or "one number"


def _refuse(name: str, array: NDArray[Any], kind: str, sizes: Sequence[Any], more: str = "") -> NoReturn:
    raise ValueError("%s: is %s %s, but %s %s is expected%s"
                     % (name, array.dtype, _shown(array.shape), kind, _shown(sizes), more))


def _array(name: str, value: Any, kind: str, sizes: Sequence[Any]) -> NDArray[Any]:
    """An array of a type that can become the expected one, of the expected rank."""
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError("%s: is not an array, but %s %s is expected" % (name, kind, _shown(sizes))) from None
    if np.any(getattr(value, "_mask", False)):
        raise ValueError("%s: has masked elements, which are not supported" % name)
    fits = array.dtype.kind in ("f" if kind == "float32" else "iub") and array.dtype.itemsize <= 8
    if not fits or array.ndim != len(sizes):
        _refuse(name, array, kind, sizes)
    return array


def _check_range(name: str, array: NDArray[Any], least: int, most: int) -> None:
    for reduce in (np.minimum.reduce, np.maximum.reduce) if array.size else ():
        value = int(reduce(array, axis=None))
        if not least <= value <= most:
            where = ", ".join(str(i) for i in np.argwhere(array == value)[0])
            raise ValueError("%s[%s]: is %d, but %d to %d is allowed" % (name, where, value, least, most))


def _address(array: Optional[NDArray[Any]]) -> Optional[int]:
    return None if array is None else array.ctypes.data


def _outputs(out: Optional[Out], of: Sequence[_Output], batch: int, seq: int,
             inputs: Sequence[Optional[NDArray[Any]]]) -> Outputs:
    """The arrays that take the outputs that are wanted."""
    names = [each.name for each in of]
    wanted: Out = dict.fromkeys(names) if out is None else out
    for name in wanted:
        if name not in names:
            raise ValueError("out: %r is not an output; outputs are %s" % (name, ", ".join(names)))
    made: Outputs = {}
    for name, kind, sizes in of:
        if name not in wanted:
            continue
        expected = tuple(_resolved(size, batch, seq) for size in sizes)
        array = wanted[name]
        if array is None:
            array = np.zeros(expected, kind)
        elif not isinstance(array, np.ndarray):
            raise ValueError("out[%r]: is not a NumPy array" % name)
        elif array.dtype != np.dtype(kind) or array.shape != expected:
            _refuse("out[%r]" % name, array, kind, expected)
        elif not (array.flags.c_contiguous and array.flags.writeable and array.flags.aligned):
            raise ValueError("out[%r]: must be writeable, aligned and in C order" % name)
        for other in [*inputs, *made.values()]:
            if other is not None and np.may_share_memory(array, other):
                raise ValueError("out[%r]: must not overlap another array of the call" % name)
        made[name] = array
    return made


class _Table(NamedTuple):
    """The inputs, outputs and sizes of a model."""

    inputs: Tuple[_Input, ...]
    outputs: Tuple[_Output, ...]
    batch: int
    seq: int
    least_seq: Optional[int]  # smallest seq of a call; None: all calls have one size

    def call(self, given: Mapping[str, Any], *more: _Input) -> _Call:
        """The arrays of a call, checked; more: inputs that the library does not take."""
        rows, made = self.inputs + more, {}
        sized: Dict[str, int] = {}
        for row in rows:
            if given[row.name] is None and row.optional:
                continue
            made[row.name] = array = _array(row.name, given[row.name], row.kind, row.sizes)
            for size, came in zip(row.sizes, array.shape):
                if size == "batch" or size == "seq":
                    sized.setdefault(str(size), came)
        batch, seq = sized.get("batch", self.batch), sized.get("seq", self.seq)
        found: Dict[str, Optional[NDArray[Any]]] = {row.name: None for row in rows}
        for row in rows:
            if row.name in made:
                found[row.name] = self._checked(row, made[row.name], batch, seq)
        return _Call(found, batch, seq)

    def _checked(self, row: _Input, array: NDArray[Any], batch: int, seq: int) -> NDArray[Any]:
        """An input as the library takes it, if its shape and values are allowed."""
        expected = tuple(_resolved(size, batch, seq) for size in row.sizes)
        if array.shape != expected:
            _refuse(row.name, array, row.kind, expected)
        if self.least_seq is not None and (batch < 1 or not self.least_seq <= seq <= self.seq):
            _refuse(row.name, array, row.kind, row.sizes,
                    ", with batch 1 or more and seq from %d to %d" % (self.least_seq, self.seq))
        if row.least is not None and row.most is not None:
            _check_range(row.name, array, row.least, row.most)
        with np.errstate(over="ignore"):
            return np.require(array, row.kind, ["C", "A"])

    def made(self, out: Optional[Out], call: _Call) -> Outputs:
        """The arrays that take the outputs of a call."""
        return _outputs(out, self.outputs, call.batch, call.seq, list(call.arrays.values()))
