"""Limits that a statement gives by another number of the input, such as `a_i ≤ n`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sandbox_service.strengthen.form import Form, Item, Numbers, Repeat, whole
from sandbox_service.strengthen.ranges import Range


def over_limit(form: Form, text: str, ranges: Mapping[int, Range]) -> set[int]:
    """Return the slots of which a number of an input exceeds its limit.

    Args:
        form: The form of the input.
        text: The input.
        ranges: Of the slots, some with limits.
    """
    return set(_over(form.items, form.parse(text), {}, ranges))


def _over(items: Sequence[Item], values: Sequence[Any], numbers: Numbers, ranges: Mapping[int, Range]) -> Iterator[int]:
    for item, value in zip(items, values, strict=True):
        if isinstance(item, Repeat):
            for turn in value:
                yield from _over(item.body, turn, numbers, ranges)
            continue
        rest = [(item.rest.slot, token) for token in value.rest] if item.rest else []
        for slot, token in [*zip(item.slots, value.tokens, strict=True), *rest]:
            number = whole(token)
            most = ranges[slot].most(numbers) if slot in ranges else None
            if number is not None and most is not None and number > most:
                yield slot
            if number is not None:
                numbers[slot] = number
