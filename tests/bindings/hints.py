"""The type hints of a model's module: every public function has them, and they mean something.

hints.py MODULE...   each found by PYTHONPATH
"""

import importlib
import inspect
import sys
import typing

SPECIAL = ("__init__", "__enter__", "__exit__")


def functions(module):
    """The public functions of a module and of its public classes, by name."""
    for name, value in vars(module).items():
        if name.startswith("_") or getattr(value, "__module__", None) != module.__name__:
            continue
        if inspect.isfunction(value):
            yield name, value
        elif inspect.isclass(value) and not issubclass(value, tuple):
            for member in [each for each in dir(value) if not each.startswith("_") or each in SPECIAL]:
                function = getattr(value, member)
                assert callable(function), "%s.%s" % (name, member)
                yield "%s.%s" % (name, member), function
        elif inspect.isclass(value):
            assert set(typing.get_type_hints(value)) == set(value._fields), name


for word in sys.argv[1:]:
    found = []
    for name, function in functions(importlib.import_module(word)):
        hints = typing.get_type_hints(function)     # raises if a name in one of them is not defined
        hints = {each: hints[each] for each in hints if each not in ("self", "cls")}
        named = [each for each in inspect.signature(function).parameters if each != "self"]
        assert sorted(hints) == sorted(named + ["return"]), (word, name, sorted(hints), named)
        found.append(name)
    print(word, *sorted(found))
