# ranks.py - opens a model that is divided among ranks of MPI, in each process of mpi4py.
import ctypes
from typing import Any

from library import _Library, _pointer, _size


def _handle(communicator: Any) -> Any:
    """A communicator of mpi4py as C passes it: MPI libraries have a pointer or a number."""
    from mpi4py import MPI
    if communicator is None:
        communicator = MPI.COMM_WORLD
    if not isinstance(communicator, MPI.Comm):
        raise TypeError("communicator: is %s, but one of mpi4py is expected" % type(communicator).__name__)
    is_number = MPI._sizeof(MPI.Comm) == ctypes.sizeof(ctypes.c_int)
    return (ctypes.c_int if is_number else ctypes.c_void_p).from_address(MPI._addressof(communicator))


def _opens_on_ranks(library: _Library, communicator: Any) -> Any:
    """The function that opens a model on the ranks of a communicator."""
    handle = _handle(communicator)
    function = library.function("open_ranks", ctypes.c_int, type(handle), ctypes.c_char_p, _pointer,
                                ctypes.c_char_p, _size)
    return lambda *rest: function(handle, *rest)
