# sequences.py: checks the arrays of a call of a model of any length, and runs it: sequences of different lengths, whose
# rows follow each other. Padding of the caller's arrays is left out.
from __future__ import annotations

import ctypes
import functools
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Type

import numpy as np
from numpy.typing import NDArray

from calls import Out, Outputs, _address, _array, _check_range, _Input, _Output, _outputs, _refuse, _resolved, _Table
from library import Adapter, _addresses, _Model
from masks import _counted
from values import _list


class _Rows(NamedTuple):
    arrays: Dict[str, Optional[NDArray[Any]]]  # by parameter, [rows]...; None: left out
    lengths: NDArray[np.int32]  # [sequences]
    shape: Tuple[int, ...]  # of outputs with a row for each token, as the caller has them: (rows,) or (batch, seq)
    kept: Optional[NDArray[np.bool_]]  # [batch][seq], the rows that are no padding; None: there is no padding


def _has_rows(row: Any) -> bool:
    """True for an input or output with a row for each token."""
    return tuple(row.sizes[:2]) == ("batch", "seq")


def _given(table: _Table, given: Mapping[str, Any]) -> List[_Input]:
    return [row for row in table.inputs if given[row.name] is not None or not row.optional]


def _required(row: _Input, name: str, array: NDArray[Any]) -> NDArray[Any]:
    """The array as the library takes it, if its values are allowed."""
    if row.least is not None and row.most is not None:
        _check_range(name, array, row.least, row.most)
    with np.errstate(over="ignore"):
        return np.require(array, row.kind, ["C", "A"])


def _others(table: _Table, given: Mapping[str, Any]) -> Dict[str, Optional[NDArray[Any]]]:
    """The inputs that do not depend on the sequences; None for the others."""
    found: Dict[str, Optional[NDArray[Any]]] = {row.name: None for row in table.inputs}
    for row in _given(table, given):
        if not _has_rows(row):
            array = _array(row.name, given[row.name], row.kind, row.sizes)
            if array.shape != row.sizes:
                _refuse(row.name, array, row.kind, row.sizes)
            found[row.name] = _required(row, row.name, array)
    return found


def _listed(table: _Table, row: _Input, value: Any) -> List[NDArray[Any]]:
    """The arrays of a list, one a sequence."""
    made: List[NDArray[Any]] = []
    for i, part in enumerate(_list(row.name, value)):
        name, sizes = "%s[%d]" % (row.name, i), row.sizes[1:]
        array = _array(name, part, row.kind, sizes)
        if array.shape[1:] != sizes[1:] or not (table.least_seq or 1) <= len(array) <= table.seq:
            _refuse(name, array, row.kind, sizes, ", with seq from %d to %d" % (table.least_seq or 1, table.seq))
        made.append(_required(row, name, array))
    if not made:
        raise ValueError("%s: has no sequence, but 1 or more are expected" % row.name)
    return made


def _of_lists(table: _Table, given: Mapping[str, Any]) -> _Rows:
    """A call whose inputs have a list of arrays, one a sequence."""
    found, first, lengths = _others(table, given), "", np.zeros(0, "int32")
    for row in _given(table, given):
        if not _has_rows(row):
            continue
        arrays = _listed(table, row, given[row.name])
        own = np.array([len(array) for array in arrays], "int32")
        if not first:
            first, lengths = row.name, own
        if len(own) != len(lengths):
            raise ValueError("%s: has %d sequences, but %s has %d" % (row.name, len(own), first, len(lengths)))
        for i in np.flatnonzero(own != lengths)[:1]:
            raise ValueError("%s[%d]: has %d rows, but %s[%d] has %d"
                             % (row.name, i, own[i], first, i, lengths[i]))
        found[row.name] = np.concatenate(arrays)
    return _Rows(found, lengths, (int(lengths.sum()),), None)


def _lengths(table: _Table, lengths: Any, most: int, size: str) -> NDArray[np.int32]:
    counts = _array("lengths", lengths, "int32", (size,))
    if not counts.size:
        raise ValueError("lengths: has no sequence, but 1 or more are expected")
    _check_range("lengths", counts, table.least_seq or 1, most)
    return np.require(counts, "int32", ["C", "A"])


def _concatenated(table: _Table, given: Mapping[str, Any], lengths: Any) -> _Rows:
    """A call whose inputs have the rows of all sequences, one after the other."""
    counts = _lengths(table, lengths, table.seq, "sequences")
    found, rows = _others(table, given), int(counts.sum(dtype="int64"))
    for row in _given(table, given):
        if not _has_rows(row):
            continue
        array = _array(row.name, given[row.name], row.kind, ("rows",) + row.sizes[2:])
        if array.shape != (rows,) + row.sizes[2:]:
            _refuse(row.name, array, row.kind, (rows,) + row.sizes[2:], ", with the rows that lengths has")
        found[row.name] = _required(row, row.name, array)
    return _Rows(found, counts, (rows,), None)


def _batched(table: _Table, given: Mapping[str, Any], lengths: Any, mask: Any) -> _Rows:
    """A call whose inputs are [batch][seq]; with lengths or a mask, padding follows the rows of each sequence."""
    call = table.call({**given, "attention_mask": mask}, _Input("attention_mask", "int32", ("batch", "seq"), 0, 1, True))
    found, shape = call.arrays, (call.batch, call.seq)
    ones = found.pop("attention_mask")
    if lengths is None and ones is None:
        return _Rows(found, np.full(call.batch, call.seq, "int32"), shape, None)
    counts = _lengths(table, lengths, call.seq, "batch") if ones is None else _counted(ones)
    if len(counts) != call.batch:
        raise ValueError("lengths: is for %d sequences, but there are %d" % (len(counts), call.batch))
    kept = np.arange(call.seq) < counts[:, None]
    for row in table.inputs:
        array = found[row.name]
        if array is not None and _has_rows(row):
            found[row.name] = array[kept]
    return _Rows(found, counts, shape, kept)


def _rank(value: Any) -> int:
    """The dimensions of an array; -1 for lists of different lengths."""
    try:
        return np.ndim(value)
    except ValueError:
        return -1


def _rows_of(table: _Table, given: Mapping[str, Any], lengths: Any, mask: Any) -> _Rows:
    """The arrays of a call in one of its forms, checked."""
    if lengths is not None and mask is not None:
        raise TypeError("lengths, attention_mask: one of the two is expected")
    first = next(row for row in table.inputs if _has_rows(row))
    is_flat = lengths is not None and _rank(given[first.name]) == len(first.sizes) - 1
    if mask is None and is_flat:
        return _concatenated(table, given, lengths)
    lists = [row.name for row in table.inputs if _has_rows(row) and isinstance(given[row.name], (list, tuple))]
    if mask is None and lengths is None and lists:
        return _of_lists(table, given)
    return _batched(table, given, lengths, mask)


def _sized(of: Sequence[_Output], call: _Rows, shape: Tuple[int, ...]) -> List[_Output]:
    """The outputs with the sizes of a call; shape: of those with a row for each token."""
    made: List[_Output] = []
    for row in of:
        sizes = shape + row.sizes[2:] if _has_rows(row) else (len(call.lengths),) + row.sizes[1:]
        made.append(_Output(row.name, row.kind, sizes))
    return made


def _is_of_one_length(table: _Table) -> bool:
    """True if all sequences have the same rows, so that calls take no lengths."""
    return table.least_seq == table.seq


@functools.lru_cache(maxsize=None)
def _open_structure(table: _Table) -> Type[ctypes.Structure]:
    """The library's structure of inputs: the number of sequences, their lengths, and the arrays' addresses."""
    fields: List[Tuple[str, Any]] = [("sequences", ctypes.c_int64)]
    fields += [] if _is_of_one_length(table) else [("lengths", ctypes.c_void_p)]
    fields += [("_" + row.name, ctypes.c_void_p) for row in table.inputs]
    return type("_In", (ctypes.Structure,), {"_fields_": fields})


def _without_padding(table: _Table, call: _Rows, made: Outputs) -> Outputs:
    """The arrays that the library writes: those of the caller, or new ones without the padding that the caller's have."""
    if call.kept is None:
        return made
    rows = _sized(table.outputs, call, (int(call.lengths.sum(dtype="int64")),))
    return {row.name: np.empty([_resolved(size, 0, 0) for size in row.sizes], row.kind) if _has_rows(of) else made[row.name]
            for row, of in zip(rows, table.outputs) if row.name in made}


def _run_sequences(model: _Model, given: Mapping[str, Any], lengths: Any, mask: Any, out: Optional[Out],
                   adapter: Adapter = None) -> Outputs:
    table, library = model._table, model._library
    call = _rows_of(table, given, lengths, mask)
    if adapter is not None:
        call.arrays["adapters"] = model._adapters_of(adapter, len(call.lengths))
    made = _outputs(out, _sized(table.outputs, call, call.shape), 0, 0, list(call.arrays.values()))
    written = _without_padding(table, call, made)
    into = _open_structure(table)(len(call.lengths), _address(call.lengths),
                     *(_address(call.arrays[row.name]) for row in table.inputs))
    onto = _addresses(table.outputs, written)
    with model._caller() as caller:
        library.check(library.forward(caller.context, ctypes.byref(into), ctypes.byref(onto)))
    for name, array in written.items():
        if array is not made[name]:
            made[name].fill(0)
            made[name][call.kept] = array
    return made
