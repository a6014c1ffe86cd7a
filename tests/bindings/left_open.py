"""left_open.py - the interpreter ends while a model and its state are open, and says nothing. Arguments: module, weights."""
import importlib
import sys

model = importlib.import_module(sys.argv[1]).Model(sys.argv[2])
state = model.state()


def user():
    """Refers to the state, so that the collector ends both, in any order."""
    return state
