"""The operations that a tester may request on an object of the candidate, by name, and descriptions of objects as data.

Runs in the candidate's box; nothing here is a defence.
"""

from __future__ import annotations

import copy
import math
import operator
import sys
import types
from collections.abc import Callable
from typing import Any

from error_codec import MODULE, OWN_MODULES, class_key


def name_as_module(namespace: dict[str, Any]) -> None:
    """Name the main module as an imported one, and make it importable under that name.

    The part of a submission under `if __name__ == "__main__"` is for stdin tests: it may read input or exit. `pickle`,
    `dataclasses` and `typing` find the module of a class by its name.

    Args:
        namespace: the submission's globals.
    """
    namespace["__name__"] = MODULE
    sys.modules[MODULE] = sys.modules["__main__"]


SPECIAL: dict[str, Callable[..., Any]] = {
    "bool": bool,
    "len": len,
    "str": str,
    "repr": repr,
    "hash": hash,
    "format": format,
    "iter": iter,
    "next": next,
    "reversed": reversed,
    "aiter": lambda value: aiter(value),
    "int": lambda value: int(type(value).__int__(value)),
    "index": operator.index,
    "float": lambda value: float(type(value).__float__(value)),
    "complex": complex,
    "item": operator.getitem,
    "setitem": lambda value, pair: operator.setitem(value, *pair),
    "delitem": operator.delitem,
    "copy": lambda value: copy.copy(value),
    "deepcopy": lambda value: copy.deepcopy(value),
    "dir": dir,
    "class": type,
    "enter": lambda value: type(value).__enter__(value),
}
"""Requests on one object, with at most one value."""


def _reflected(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda value, other: function(other, value)


_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    name: getattr(operator, f"__{name}__")
    for name in (
        "add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "lshift", "rshift", "and", "xor", "or",
    )
} | {"divmod": divmod, "pow": pow}  # fmt: skip

OPERATORS: dict[str, Callable[..., Any]] = (
    _BINARY
    | {f"r{name}": _reflected(function) for name, function in _BINARY.items()}
    | {f"i{name}": getattr(operator, f"__i{name}__") for name in _BINARY if name != "divmod"}
    | {name: getattr(operator, name) for name in ("eq", "lt", "le", "gt", "ge", "contains", "neg", "pos", "invert")}
    | {"abs": abs, "round": round, "trunc": math.trunc, "floor": math.floor, "ceil": math.ceil}
    | {"isinstance": lambda kind, value: isinstance(value, kind), "issubclass": lambda a, b: issubclass(b, a)}
)
"""Operators, with at most one operand."""


# --- classes that extend plain ones ----------------------------------------------------------------------------------

CONTENT: dict[type, Callable[[Any], Any]] = {
    int: lambda value: int.__add__(value, 0),
    float: float.__pos__,
    str: str.__str__,
    bytes: lambda value: bytes.__getitem__(value, slice(None)),
    tuple: lambda value: tuple.__getitem__(value, slice(None)),
    list: lambda value: list.__getitem__(value, slice(None)),
    dict: dict.copy,
    set: lambda value: set(set.__iter__(value)),
    frozenset: lambda value: frozenset(frozenset.__iter__(value)),
}
"""For each plain class, the function that returns the plain content of an instance of a subclass."""

_COMPARES = frozenset(("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__contains__"))


def plain_base(kind: type) -> type | None:
    """Return the plain class that a class extends without comparison methods of its own, or None.

    Args:
        kind: the class.
    """
    for place, base in enumerate(kind.__mro__):
        if base in CONTENT:
            own = [each for each in kind.__mro__[:place] if each.__module__ not in _LIBRARY_BASES]
            return None if any(not _COMPARES.isdisjoint(vars(each)) for each in own) else base
        if base.__module__ == "collections":
            return None
    return None


_LIBRARY_BASES = ("enum", "builtins")


def is_member(kind: type) -> bool:
    """Return True if the class is an enumeration.

    Args:
        kind: the class.
    """
    return type(kind).__module__ == "enum" or any(base.__module__ == "enum" for base in kind.__mro__)


_SAYS_NOTHING = frozenset(
    (
        "__module__", "__doc__", "__dict__", "__weakref__", "__qualname__", "__slots__", "__init__", "__new__",
        "__repr__", "__str__", "__format__", "__annotations__", "__firstlineno__", "__static_attributes__",
    )
)  # fmt: skip


def behaves(kind: type, base: type) -> bool:
    """Return True if instances have methods or attributes that the plain class lacks.

    Args:
        kind: the class.
        base: the plain class that it extends.
    """
    return any(not _SAYS_NOTHING.issuperset(vars(each)) for each in kind.__mro__[: kind.__mro__.index(base)])


# --- descriptions ----------------------------------------------------------------------------------------------------


def bases(value: type) -> list[list[Any]]:
    """Return the program's own classes among an exception class's bases.

    Args:
        value: the exception class.

    Returns:
        Pairs of a class's name and the keys of its bases, the most general class first.
    """
    own = [each for each in reversed(value.__mro__) if each.__module__ in OWN_MODULES]
    return [[each.__name__, [class_key(base) for base in each.__bases__]] for each in own]


def signature(value: Any) -> list[Any]:
    """Return the signature of a callable as data.

    Args:
        value: the callable.

    Returns:
        The parameters (name, kind, default, annotation) and the return annotation.
    """
    import inspect

    found = inspect.signature(value)
    parameters = [
        [each.name, int(each.kind), *_given(each.default), *_given(each.annotation)]
        for each in found.parameters.values()
    ]
    return [parameters, *_given(found.return_annotation)]


def _given(value: Any) -> tuple[bool, Any]:
    import inspect

    if value is inspect.Parameter.empty:
        return False, None
    plain = isinstance(value, (type, str, int, float, type(None), list, tuple, dict, set, types.FunctionType))
    return True, value if plain else repr(value)
