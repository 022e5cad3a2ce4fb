"""Describes values, differences between values, and their places, for the reason of a wrong answer."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sandbox_service.judging.value_kinds import KINDS, LARGE_BITS, Unordered

SHOWN_CHARACTERS = 40
SHOWN_STEPS = 8
# Path to a value: its parent's path, the format of the last step, and the step.
Path = tuple["Path", str, object] | None


def length_difference(got: Collection[object], expected: Collection[object]) -> str:
    """Return the reason for two collections of different length.

    Args:
        got: the submission's collection.
        expected: the expected collection.
    """
    return f"got {len(got)} elements, expected {len(expected)}"


def difference(got: object, expected: object) -> str:
    """Return the reason for two values that differ.

    Args:
        got: the submission's value.
        expected: the expected value.
    """
    return f"got {shown(got)}, expected {shown(expected)}"


def shown(value: Any) -> str:
    """Return a short text for a value; its methods are not called.

    Args:
        value: any value.
    """
    kind = KINDS.get(type(value))
    if kind is None:
        return f"a value of type {type(value).__name__!r}"
    if kind in ("list", "dict"):
        return f"a {'set' if type(value) is Unordered else type(value).__name__} of {len(value)}"
    if type(value) is int and value.bit_length() > LARGE_BITS:
        return f"an integer of {value.bit_length()} bits"
    if kind == "text":
        return repr(value) if len(value) <= SHOWN_CHARACTERS else f"{value[:SHOWN_CHARACTERS]!r}…"
    text = str(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"


def location(path: Path) -> str:
    """Return the last steps of a path as text, or nothing at the top.

    Args:
        path: the path to a value.
    """
    steps: list[str] = []
    while path is not None and len(steps) < SHOWN_STEPS:
        parent, form, step = path
        steps.append(form.format(step if isinstance(step, int) else str(step)[:SHOWN_CHARACTERS]))
        path = parent
    if not steps:
        return ""
    return f"at {'' if path is None else '…'}{''.join(reversed(steps))}: "
