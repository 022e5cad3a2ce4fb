"""Tells whether plain values can belong to one type of a statically typed language.

C++ and Rust have no plain type of several kinds of values. A test program that needs one (`std::any`, an enum) needs
the program's own types, which a driver does not have. Its calls alone say so: the submission has no part in this.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sandbox_service.languages.assertions.conditions import Check

LANGUAGES = frozenset({"cpp", "rust"})


def are_typed(checks: Sequence[Check]) -> bool:
    """Return whether each parameter, and each result, can have one type in all calls.

    Args:
        checks: the calls of a test program.
    """
    return all(_have_one_type(values) for values in _places(checks).values())


def _places(checks: Iterable[Check]) -> dict[tuple[object, ...], list[Any]]:
    """Return the values at each place: a parameter of a function with so many of them, or its result."""
    places: dict[tuple[object, ...], list[Any]] = {}
    for check in checks:
        name, count = check.call.name, len(check.call.args)
        for index, value in enumerate((*check.call.args, check.expected)):
            places.setdefault((name, count, index), []).append(value)
    return places


def _have_one_type(values: Iterable[Any]) -> bool:
    present = [value for value in values if not _is_of_several_types(value)]
    kinds = {_kind(value) for value in present}
    if len(kinds) > 1:
        return False
    if kinds == {list}:
        return _is_one_list(present)
    if kinds == {dict}:
        return _have_one_type(each for value in present for each in value.values())
    return True


def _is_one_list(lists: list[list[Any]]) -> bool:
    """Return whether lists can be of one item type, or tuples of one type."""
    if _have_one_type(item for each in lists for item in each):
        return True
    return len({len(each) for each in lists}) == 1 and all(map(_have_one_type, zip(*lists, strict=True)))


def _is_of_several_types(value: Any) -> bool:
    """Return whether a literal fits several types: null, empty brackets, and a character, which may be a number."""
    return value is None or value == [] or (isinstance(value, str) and len(value) == 1)


def _kind(value: Any) -> type:
    """Return the kind of a value. Truth values and numbers convert to each other."""
    return float if isinstance(value, bool | int | float) else type(value)
