"""Encodes exceptions as data, and makes exceptions from such data."""

from __future__ import annotations

import builtins
from typing import Any

from codec import ATOMS, BARE_INT, Json, NotPlainError
from shared_classes import SharedClasses

ERRORS: dict[str, type[Exception]] = {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, Exception) and kind.__name__ != "ExceptionGroup"
}
"""Exceptions that are sent by name: builtin classes that derive from Exception."""

TEXT = 1_000
"""Maximum length of a text within an exception, in characters."""


def describe_error(error: BaseException) -> Json:
    """Return an exception as data.

    Args:
        error: the exception.

    Returns:
        The names of its classes, the nearest first, and its arguments, or its text if the arguments cannot be sent.
    """
    names = [kind.__name__ for kind in type(error).__mro__]
    arguments = list(error.args)
    if len(arguments) > 4 or not all(_short(argument) for argument in arguments):
        arguments = [str(error)[:TEXT]]
    return [names, arguments]


def _short(value: Any) -> bool:
    if type(value) is int:
        return -BARE_INT < value < BARE_INT
    return type(value) in ATOMS and (type(value) is not str or len(value) <= TEXT)


def read_error(json: Json) -> tuple[list[str], list[Any]]:
    """Return the class names and the arguments of `describe_error`'s data.

    Args:
        json: the data, from the other side.

    Raises:
        NotPlainError: the data is malformed.
    """
    names, arguments = json[:2]
    if type(names) is not list or type(arguments) is not list:
        raise NotPlainError("malformed message")
    if not names or not all(type(name) is str for name in names) or not all(_short(item) for item in arguments):
        raise NotPlainError("malformed message")
    return names, arguments


def read_own_error(json: Json) -> tuple[list[str], list[Any], str | None, int | None]:
    """Return an exception of the candidate's; one of its own classes also has a text and a number.

    Args:
        json: the data, from the candidate.

    Returns:
        The class names, the arguments, the text and the number of the object.

    Raises:
        NotPlainError: the data is malformed.
    """
    names, arguments = read_error(json)
    text, number = json[2:] if len(json) > 2 else (None, None)
    if (text, number) != (None, None) and (type(text) is not str or type(number) is not int):
        raise NotPlainError("malformed message")
    return names, arguments, text, number


def error_text(names: list[str], arguments: list[Any]) -> str:
    """Return a candidate's exception as text, as Python would print it.

    Args:
        names: the names of its classes, the nearest first.
        arguments: its arguments.
    """
    text = ", ".join(map(str, arguments))
    return f"{names[0]}: {text}" if text else names[0]


def make_error(names: list[str], arguments: list[Any], classes: SharedClasses) -> Exception:
    """Return an exception of the nearest class that is known here.

    A StopIteration, which would end a test's loop early, becomes a RuntimeError.

    Args:
        names: class names, the nearest first.
        arguments: the exception's arguments.
        classes: the prelude's classes.
    """
    for name in names:
        kind = classes.errors.get(name) or ERRORS.get(name)
        if kind is None:
            continue
        if issubclass(kind, (StopIteration, StopAsyncIteration)):
            return RuntimeError(f"{name} raised by the candidate")
        try:
            return kind(*arguments)
        except (TypeError, ValueError, LookupError):
            break
    return Exception(": ".join([names[0], *map(str, arguments)]))
