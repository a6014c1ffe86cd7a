# parts.py - the files of runtime/python, without a library: sizes, refusals, masks, the pool, errors of statuses.
# Usage: PYTHONPATH=runtime/python:tests/bindings parts.py
import copy
import ctypes
import pathlib
import types

import numpy as np
from refuses import refuses

import calls
import chat
import library
import masks
import tasks
import text
import values

FLOATS = calls._Input("x", "float32", ("batch", "seq", 2), None, None, False)
COUNTS = calls._Input("counts", "int32", ("batch",), 1, 8, True)
PAST = calls._Input("past", "float32", ("batch", "seq + 3"), None, None, True)
SUM = calls._Output("sum", "float32", ("batch", "seq"))
BEST = calls._Output("best", "int32", ("batch",))
grows = calls._Table((FLOATS, COUNTS, PAST), (SUM, BEST), 4, 8, 2)
fixed = calls._Table((calls._Input("ids", "int32", (2, 5), 0, 6, False), COUNTS), (calls._Output("y", "float32", (2,)),),
                     2, 5, None)


def grown(batch, seq, **more):
    return grows.call({"x": np.ones((batch, seq, 2)), "counts": None, "past": None, **more})


# Values that C would take cut, or modulo a power of two.
for number in 0, 9, np.int64(9), True:
    assert values._integer("n", number, 0, 9) == number
assert values._integer("n", 2**70, 1, None) == 2**70
refuses(ValueError, "n: is -1, but 0 to 9 is allowed", values._integer, "n", -1, 0, 9)
refuses(ValueError, "n: is 10, but 0 to 9 is allowed", values._integer, "n", 10, 0, 9)
refuses(ValueError, "n: is 0, but 1 or more is allowed", values._integer, "n", 0, 1, None)
refuses(ValueError, "n: 1.5, but an integer is expected", values._integer, "n", 1.5, 0, 9)
refuses(ValueError, "n: array([ 1, 2, 3,", values._integer, "n", np.arange(1, 99), 0, 9)
assert [values._number("x", number) for number in (1, np.float32(0.5), -np.inf)] == [1.0, 0.5, -np.inf]
refuses(ValueError, "x: '1', but a number is expected", values._number, "x", "1")
refuses(ValueError, "x: 1000", values._number, "x", 10**400)
assert values._utf8("t", "a\0\U0001f600") == b"a\0\xf0\x9f\x98\x80"
refuses(ValueError, "t: 'a\\ud800', but a str without lone surrogates is expected", values._utf8, "t", "a\ud800")
for flag in True, False, np.True_, np.False_:
    assert values._flag("f", flag) is bool(flag)
for wrong in "x", 1, 0, None, np.int64(1):
    refuses(ValueError, "but True or False is expected", values._flag, "f", wrong)
refuses(ValueError, "t: 'a\\x00', but a str without NUL is expected", values._utf8, "t", "a\0", may_end=False)
refuses(ValueError, "t: b'a', but a str is expected", values._utf8, "t", b"a")
assert values._path("p", pathlib.Path("a/b")) == values._path("p", b"a/b") == b"a/b"
for path in "a\0", b"\0":
    refuses(ValueError, "but a path without NUL is expected", values._path, "p", path)
for path in None, 5, "\ud800":
    refuses(ValueError, "but a path is expected", values._path, "p", path)
assert values._list("l", (1, 2)) == values._list("l", iter([1, 2])) == [1, 2]
for wrong in "ab", b"ab", 5, None:
    refuses(ValueError, "but a list is expected", values._list, "l", wrong)

# A chat: fields of messages that are None are missing, flags that are None are not.
made = chat._ChatCall([{"role": "user", "content": None, "name": None, "n": 7}], False, None,
                      {"enable_thinking": None, "tools": None, "documents": None, "x": "y"})
assert [made.options.flags[i].name for i in range(made.options.flag_count)] == [b"enable_thinking", b"x"]
assert made.options.flags[0].kind == 3 and made.messages[0].more_count == 1 and made.messages[0].content is None

# Sizes: a call's first array decides them.
assert calls._resolved("seq + 3", 2, 5) == 8 and calls._resolved("batch", 2, 5) == 2 and calls._resolved(7, 2, 5) == 7
call = grown(7, 3, counts=[1, 2, 3, 3, 3, 3, 3], past=np.zeros((7, 6)))
assert (call.batch, call.seq) == (7, 3) and list(call.arrays) == ["x", "counts", "past"]
assert [call.arrays[name].dtype for name in call.arrays] == [np.float32, np.int32, np.float32]
assert grown(1, 2).arrays["past"] is None
refuses(ValueError, "past: is float64 [7][5], but float32 [7][6] is expected", grown, 7, 3, past=np.zeros((7, 5)))
refuses(ValueError, "x: is float64 [1][9][2], but float32 [batch][seq][2] is expected, with batch 1 or more and seq from "
        "2 to 8", grown, 1, 9)
refuses(ValueError, "seq from 2 to 8", grown, 1, 1)
refuses(ValueError, "batch 1 or more", grown, 0, 3)
refuses(ValueError, "counts[1]: is 9, but 1 to 8 is allowed", grown, 2, 3, counts=[1, 9])
refuses(ValueError, "x: is object one number, but float32 [batch][seq][2] is expected", grows.call,
        {"x": None, "counts": None, "past": None})
refuses(ValueError, "ids[1, 2]: is 7, but 0 to 6 is allowed", fixed.call,
        {"ids": [[0] * 5, [0, 6, 7, 7, 0]], "counts": None})
refuses(ValueError, "ids: is int64 [3][5], but int32 [2][5] is expected", fixed.call,
        {"ids": np.zeros((3, 5), int), "counts": None})
strided = grows.call({"x": np.ones((2, 4, 4))[:, :, ::2], "counts": None, "past": None}).arrays["x"]
assert strided.flags.c_contiguous and strided.flags.aligned

# Outputs: those that are wanted, with the sizes of the call.
made = grows.made(None, call)
assert {name: (made[name].shape, str(made[name].dtype)) for name in made} == {
    "sum": ((7, 3), "float32"), "best": ((7,), "int32")}
mine = np.zeros((7, 3), "float32")
answer = grows.made({"sum": mine}, call)
assert list(answer) == ["sum"] and answer["sum"] is mine
refuses(ValueError, "out: 'worst' is not an output; outputs are sum, best", grows.made, {"worst": None}, call)
refuses(ValueError, "out['best']: is float32 [7][3], but int32 [7] is expected", grows.made, {"best": mine}, call)
shared = call.arrays["past"].reshape(-1)[:21].reshape(7, 3)
refuses(ValueError, "out['sum']: must not overlap another array of the call", grows.made, {"sum": shared}, call)

# Structures: an array that is left out has no address.
structure = library._structure(grows)
assert [name for name, _ in structure._fields_] == ["_x", "_counts", "_past"]
assert [name for name, _ in library._structure(fixed)._fields_] == ["_ids", "_counts"]
addresses = library._addresses(grows.outputs, {"best": made["best"]})
assert list(addresses) == [None, made["best"].ctypes.data] and ctypes.sizeof(addresses) == 2 * ctypes.sizeof(ctypes.c_void_p)

# An attention_mask becomes the number of ones of each row.
masked = calls._Table((calls._Input("ids", "int32", (2, 3), 0, 6, False), COUNTS), (BEST,), 2, 3, None)
ids = np.zeros((2, 3), int)


def with_mask(mask, counts=None, table=masked):
    return masks._masked_call(table, {"ids": ids, "counts": counts, "attention_mask": mask}, "counts")


assert list(with_mask([[1, 1, 0], [1, 1, 1]]).arrays["counts"]) == [2, 3]
assert list(with_mask(None, [1, 2]).arrays["counts"]) == [1, 2]
assert list(with_mask(np.ones((2, 3), bool)).arrays) == ["ids", "counts"]
refuses(ValueError, "attention_mask[1, 2]: is 1 after a 0", with_mask, [[1, 1, 1], [1, 0, 1]])
refuses(ValueError, "attention_mask[1]: has no 1", with_mask, [[1, 1, 1], [0, 0, 0]])
refuses(ValueError, "attention_mask[0, 1]: is 2, but 0 to 1", with_mask, [[1, 2, 1], [1, 0, 0]])
refuses(ValueError, "attention_mask: is int64 [2][2], but int32 [2][3] is expected", with_mask, [[1, 1], [1, 1]])
refuses(TypeError, "counts, attention_mask: one of the two is expected", with_mask, None)
refuses(TypeError, "counts, attention_mask: one of the two is expected", with_mask, [[1, 1, 1]] * 2, [1, 1])
ids = np.zeros((2, 5), int)
refuses(ValueError, "attention_mask: is int64 [2][4], but int32 [2][5] is expected", with_mask, [[1] * 4] * 2, None, fixed)

# The pool: memory of a call is made once and used again, and nothing is freed while a call runs.
events = []


class Caller:
    def close(self):
        events.append("destroy")


def make():
    events.append("make")
    return Caller()


pool = library._Pool(types.SimpleNamespace(file="libmade.so"), "model", make, lambda: events.append("end"))
with pool.caller() as first:
    refuses(RuntimeError, "a call of the model is running", pool.close)
    with pool.caller() as second:
        assert first is not second
with pool.caller() as again:
    assert again is first or again is second
with pool.caller("state"):
    refuses(RuntimeError, "a state of the model is open", pool.close)
assert events == ["make", "make"]
pool.close()
pool.close()
assert events == ["make", "make", "destroy", "destroy", "end"]
refuses(ValueError, "the model is closed", pool.caller().__enter__)
refuses(TypeError, "a Pool cannot be copied or pickled, as it owns memory of libmade.so", pool.__reduce_ex__, 2)

# An owner frees its memory once, whoever closes it and however often.
owner = library._Owner()
owner._library, owner._end = types.SimpleNamespace(file="libmade.so"), lambda: events.append("freed")
owner._check_open()
refuses(TypeError, "a Owner cannot be copied or pickled", copy.copy, owner)
with owner:
    pass
owner.close()
refuses(ValueError, "the owner is closed", owner._check_open)
del owner
assert events[5:] == ["freed"]
owner = library._Owner()
owner._end = lambda: events.append("left")
del owner
assert events[6:] == ["left"]


def fail():
    raise MemoryError("none")


# A context that cannot be made counts as no running call.
failing = library._Pool(types.SimpleNamespace(file=""), "model", fail, lambda: None)
refuses(MemoryError, "none", failing.caller().__enter__)
failing.close()

# Statuses become errors, with the library's text unless the call has one.
opened = library._Library.__new__(library._Library)
opened.strerror = lambda status: b"status %d" % status
opened.check(0)
refuses(ValueError, "status 3", opened.check, 3)
refuses(OSError, "not there", opened.check, 4, b"not there")
refuses(MemoryError, "status 5", opened.check, 5)
refuses(RuntimeError, "status 6", opened.check, 6)
opened.name, opened.file, opened._library = "m", "libm.so", types.SimpleNamespace()
refuses(ImportError, "/none.whl/libm.so: there is no such file; the module needs it next to it, and not in a zip file",
        library._Library, "/none.whl/m.py", "m", 1)
refuses(ImportError, "libm.so has no function m_open: it is of another build", opened.function, "open", None)

# Texts are UTF-8 with their lengths, so that they may have a NUL.
pair = text._text("text", ("a\0ä", b"b"), text._TextIn)
assert (pair.length, pair.pair_length, pair.pair) == (4, 1, b"b")
assert text._text("text", "\uffff", text._TextIn).length == 3 and text._text("text", "", text._TextIn).pair is None
refuses(ValueError, "texts[1]: ('a', 'b', 'c'), but a str, bytes or a tuple of two is expected", text._text, "texts[1]",
        ("a", "b", "c"), text._TextIn)
source = np.arange(4, dtype="uint32")
copied = text._copy(source.ctypes.data, (2, 2), "uint32")
assert copied.tolist() == [[0, 1], [2, 3]] and not np.shares_memory(copied, source)
assert text._copy(None, (0,), "int32").shape == (0,)
