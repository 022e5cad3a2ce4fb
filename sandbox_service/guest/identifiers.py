"""Recognises names that the interpreter gives a meaning, such as `__len__`."""

from __future__ import annotations


def is_dunder(name: str) -> bool:
    """Return True for a name that the interpreter gives a meaning, such as `__len__`.

    Args:
        name: an identifier.
    """
    return name.startswith("__") and name.endswith("__")


def is_class_name(name: str) -> bool:
    """Return True for a name written like a class name, with a capital first letter.

    Args:
        name: an identifier.
    """
    return name.lstrip("_")[:1].isupper()
