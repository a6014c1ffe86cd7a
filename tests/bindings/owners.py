"""The classes of a model's module that own memory of the library, and the values that go to it: a walk over all of them.

owners.py MODULE FOLDER   of the weights; the module is found by PYTHONPATH
"""

import copy
import ctypes
import gc
import importlib
import inspect
import pickle
import sys

import numpy as np
from refuses import refuses

module, folder = importlib.import_module(sys.argv[1]), sys.argv[2]
shared = sys.modules[module.Model.__mro__[1].__module__]  # what all models' modules share
modules = module.__name__, shared.__name__
model = module.Model(folder)
public = {"model": model}
if hasattr(module, "Tokenizer"):
    public["tokenizer"] = module.Tokenizer()
    public["tokenizer"].encode("a")
    model.encode("a")
if hasattr(model, "state"):
    public["state"] = model.state()
    public["sampler"] = model.sampler()

GOOD = {"text": "a", "texts": ["a"], "ids": [1], "logits": np.zeros(getattr(model, "_vocabulary", 1)), "token": 1,
        "path": "/nowhere/state", "position": 0, "source": 0, "target": 1, "features": np.zeros((32, 128, 40)),
        "messages": [{"role": "user", "content": "a"}], "weights": folder, "adapter": None}


def methods(owner):
    """The public methods of an object by name, with valid arguments."""
    for name, method in inspect.getmembers(owner, callable):
        has_source = name != "encode" or getattr(owner, "_source", owner) is not None  # states without one refuse it
        if not name.startswith("_") and name not in ("close", "from_memory", "images") and has_source:
            named = inspect.signature(method).parameters.values()
            needed = {each.name for each in named if each.default is each.empty and each.kind != each.VAR_KEYWORD}
            given = {key: GOOD.get(key, [[0]]) for key in needed - {"prompts"}}
            if name == "extend":
                given["ids"] = [[1]]
            if "prompts" in needed:
                given["prompts"] = ["a"] if name == "generate_text" else [[1]]
            yield name, method, given


# Values that parameters with these hints do not take.
WRONG = {
    "Path": ["a\0b", b"a\0b", 5, "a\ud800"],
    "bool": ["x", 1, np.int64(0), [True]],
    "float": ["1", 10**400, [1]],
    "int": [2**64, 2**64 + 1, -(2**63) - 1, -1, 1.5, "1"],
    "Union[bool, str]": ["x", 1, 5, None.__class__],
    "str": ["a\0b", 5, "a\ud800"],
    "Text": [5, ("a",), ("a", 5), "a\udcff", ("a", "\ud800")],
    "Mapping[int, float]": [5, {2**64: 1.0}, {1.5: 1.0}, {1: "1"}],
    "ArrayLike": [5, "a", [2**70], {1: 1}],
    "Sequence": [5, "", b"a", [5.5]],
}


def wrong(name, hint):
    hint = hint[len("Optional["):-1] if hint.startswith("Optional[") else hint
    values = WRONG[hint if hint in WRONG else hint.partition("[")[0]]
    return values[2:] if name == "tokens" else values  # an answer may have any number of tokens


def checks_values(function, name, given, hint, count):
    for value in wrong(name, hint):
        try:
            function(**{**given, name: value})
        except (TypeError, ValueError) as error:
            assert str(error).startswith(name) and "\n" not in str(error), (function, name, value, error)
            count += 1
        else:
            raise AssertionError((function, name, value))
    return count


# Each value that a method takes is refused in words that name it, in place of being cut.
refused = checks_values(module.Model, "weights", {}, "Path", 0)
for owner in public.values():
    for name, method, given in methods(owner):
        for each in inspect.signature(method).parameters.values():
            if each.kind != each.VAR_KEYWORD and each.name != "out":
                refused = checks_values(method, each.name, given, each.annotation, refused)
assert refused >= (80 if "state" in public else 20 if "tokenizer" in public else 5), refused

for name, method, given in methods(model):
    if name == "forward":
        method(**given)

# Every object with a pointer into the library owns it; every class of owners is met here.
met = set()
for each in gc.get_objects():
    if type(each).__module__ in modules and not isinstance(each, (type, ctypes.Structure)):
        if isinstance(each, shared._Owner):
            met.add(each)
        else:
            held = [value for value in getattr(each, "__dict__", {}).values() if isinstance(value, ctypes.c_void_p)]
            assert not held, each
values = [each for each in [*vars(module).values(), *vars(shared).values()] if isinstance(each, type)]
owners = [each for each in values if issubclass(each, shared._Owner)]
used = [type(each) for each in met] + [above for each in met for above in type(each).__mro__]
unused = {"_PageEncoder", "_PageModel", "_PageTokenizer", "_PictureModel", "_PatchModel", "_SoundModel", "_CtcModel", "_SpeechModel", "_Chat", "_GeneratingText",
          "_SpanModel"}
unused |= {"_Beams", "_Guesser"}  # are only there during a call
unused |= {each.__name__ for each in owners if issubclass(each, shared._Pipeline)}  # they share a model's pool
if "tokenizer" not in public:
    unused |= {"_TextCaller", "_ModelCaller", "_Tokenizer", "_TextModel", "_Encoder"}
if "state" not in public:
    unused |= {"_State", "_Sampler", "_Generating"}
assert all(each in used or each.__name__ in unused for each in owners), owners
for each in values:
    if each.__module__ in modules and each not in owners:
        assert not {"close", "destroy", "__del__"} & set(vars(each)), each

# An owner is not copied; it is closed once, and then its methods say so.
for owner in met:
    for copied in copy.copy, copy.deepcopy, pickle.dumps:
        refuses(TypeError, "cannot be copied or pickled, as it owns memory of lib%s.so" % model._library.name, copied,
                owner)
for word in [word for word in ("state", "sampler", "tokenizer", "model") if word in public]:
    with public[word] as owner:
        pass
    owner.close()
    for name, method, given in methods(owner):
        if word == "model" and name in ("sampler", "state"):
            continue
        refuses(ValueError, "the %s is closed" % word, method, **given)
for owner in met:
    owner.close()
del met, owner, public, model
gc.collect()
