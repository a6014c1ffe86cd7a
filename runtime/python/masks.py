# masks.py: takes an attention_mask in place of the number of tokens of each sequence.
from __future__ import annotations

from typing import Any, Mapping

import numpy as np
from numpy.typing import NDArray

from calls import _Call, _Input, _Table


def _counted(mask: NDArray[Any]) -> NDArray[Any]:
    """The ones of each row; ValueError if a row is not one or more ones and then zeros."""
    late = np.argwhere(np.diff(mask, axis=1) > 0)
    if len(late):
        raise ValueError("attention_mask[%d, %d]: is 1 after a 0, but this model takes ones and then zeros: "
                         "padding on the right" % (late[0][0], late[0][1] + 1))
    empty = np.flatnonzero(~mask.any(axis=1))
    if len(empty):
        raise ValueError("attention_mask[%d]: has no 1, but a sequence has 1 token or more" % empty[0])
    return np.asarray(mask.sum(axis=1, dtype="int32"))


def _masked_call(table: _Table, given: Mapping[str, Any], lengths: str) -> _Call:
    """A call in which an attention_mask may be given in place of the parameter called `lengths`."""
    if (given[lengths] is None) == (given["attention_mask"] is None):
        raise TypeError("%s, attention_mask: one of the two is expected" % lengths)
    call = table.call(given, _Input("attention_mask", "int32", (table.batch, table.seq), 0, 1, True))
    mask = call.arrays.pop("attention_mask")
    if mask is not None:
        call.arrays[lengths] = _counted(mask)
    return call
