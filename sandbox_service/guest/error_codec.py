"""Encodes exceptions as data, and makes exceptions from such data.

A class is sent by its name, with the module before it if the class is a library's (`json.decoder:JSONDecodeError`). The
other side uses its own class of that name, if it has imported the module.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from codec import ATOMS, BARE_INT, ERRORS, Json, NotPlainError
from shared_classes import SharedClasses

TEXT = 1_000
"""Maximum length of a text within an exception, in characters."""
ATTRIBUTES = 16
"""Maximum number of attributes of a library's exception."""
MODULE = "solution"
"""Module name of a submission whose functions are called."""
OWN_MODULES = (MODULE, "__main__")
"""Module names of the classes of a submission and of its prelude."""
_NOT_QUALIFIED = (*OWN_MODULES, "builtins", "leetcode")

LIBRARIES = (
    sys.stdlib_module_names | {"numpy", "scipy", "pandas", "sympy", "networkx"}
) - {"unittest", "doctest", "bdb", "pdb"}  # fmt: skip
"""Packages whose exceptions are sent. A test framework takes those of its own for a skipped test, or a passed one."""


_NO_CLASSES = SharedClasses({})


class Described(NamedTuple):
    """An exception as data; `text` and `number` of the object only for classes of the candidate's own."""

    names: list[str]
    arguments: list[Any]
    text: str | None = None
    number: int | None = None
    attributes: dict[str, Any] | None = None


def class_key(kind: type) -> str:
    """Return the name by which an exception class is sent.

    Args:
        kind: the class.
    """
    return kind.__name__ if kind.__module__ in _NOT_QUALIFIED else f"{kind.__module__}:{kind.__name__}"


def describe_error(error: BaseException) -> Json:
    """Return an exception as data.

    Args:
        error: the exception.

    Returns:
        The names of its classes, the nearest first, and its arguments, or its text if the arguments cannot be sent;
        for a library's exception also its attributes.
    """
    names = [class_key(kind) for kind in type(error).__mro__]
    arguments = list(error.args)
    if len(arguments) > 4 or not all(_short(argument) for argument in arguments):
        arguments = [text_of(error)]
    if ":" not in names[0]:
        return [names, arguments]
    attributes = {name: value for name, value in vars(error).items() if _is_attribute(name) and _short(value)}
    return [names, arguments, None, None, dict(list(attributes.items())[:ATTRIBUTES])]


def text_of(error: BaseException) -> str:
    """Return the text of an exception, empty if its class fails to give one.

    Args:
        error: the exception.
    """
    try:
        return str(error)[:TEXT]
    except Exception:  # the submission's own `__str__` fails: the exception itself is still reported
        return ""


def _is_attribute(name: object) -> bool:
    return type(name) is str and name.isidentifier() and not name.startswith("_")


def _short(value: Any) -> bool:
    if type(value) is int:
        return -BARE_INT < value < BARE_INT
    return type(value) in ATOMS and (type(value) is not str or len(value) <= TEXT)


def read_error(json: Json) -> Described:
    """Return an exception from `describe_error`'s data, to which the candidate adds text and number.

    Args:
        json: the data, from the other side.

    Raises:
        NotPlainError: the data is malformed.
    """
    if type(json) is not list or not 2 <= len(json) <= len(Described._fields):
        raise NotPlainError("malformed message")
    found = Described(*json)
    if type(found.names) is not list or type(found.arguments) is not list or not found.names:
        raise NotPlainError("malformed message")
    if not all(type(name) is str for name in found.names) or not all(map(_short, found.arguments)):
        raise NotPlainError("malformed message")
    if (found.text, found.number) != (None, None) and (type(found.text) is not str or type(found.number) is not int):
        raise NotPlainError("malformed message")
    attributes = {} if found.attributes is None else found.attributes
    if (
        type(attributes) is not dict
        or not all(map(_is_attribute, attributes))
        or not all(map(_short, attributes.values()))
    ):
        raise NotPlainError("malformed message")
    return found


def error_text(error: Described) -> str:
    """Return a candidate's exception as text, as Python would print it.

    Args:
        error: the exception.
    """
    name, text = _bare(error.names[0]), ", ".join(map(str, error.arguments))
    return f"{name}: {text}" if text else name


def _bare(key: str) -> str:
    return key.rpartition(":")[2]


def known_class(key: str, classes: SharedClasses) -> type[Exception] | None:
    """Return this side's class for the key of an exception class: the prelude's, a builtin or a library's; or None.

    Args:
        key: see `class_key`.
        classes: the prelude's classes.
    """
    return classes.errors.get(key) or ERRORS.get(key) or _library_class(key)


def _library_class(key: str) -> type[Exception] | None:
    module, _, name = key.partition(":")
    if module.partition(".")[0] not in LIBRARIES or module not in sys.modules:
        return None
    kind = vars(sys.modules[module]).get(name)
    return kind if isinstance(kind, type) and issubclass(kind, Exception) else None


def is_sent(kind: type[Exception]) -> bool:
    """Return True for a class of exceptions that are sent as values: a builtin or a library's.

    Args:
        kind: the class.
    """
    return known_class(class_key(kind), _NO_CLASSES) is kind


def make_error(error: Described, classes: SharedClasses) -> Exception:
    """Return an exception of the nearest class that is known here.

    A StopIteration, which would end a test's loop early, becomes a RuntimeError.

    Args:
        error: the exception as data.
        classes: the prelude's classes.
    """
    for name in error.names:
        kind = known_class(name, classes)
        if kind is None:
            continue
        if issubclass(kind, (StopIteration, StopAsyncIteration)):
            return RuntimeError(f"{name} raised by the candidate")
        made = _instance(kind, error.arguments)
        if made is not None:
            vars(made).update(error.attributes or {})
            return made
    return Exception(": ".join([_bare(error.names[0]), *map(str, error.arguments)]))


def _instance(kind: type[Exception], arguments: list[Any]) -> Exception | None:
    """Return an exception of a class; None if it cannot be made. Some classes get other arguments than they keep."""
    makers: tuple[Callable[..., Exception], ...] = (kind, partial(kind.__new__, kind))
    for make in makers:
        try:
            return make(*arguments)
        except (TypeError, ValueError, LookupError, AttributeError):
            continue
    return None
