"""Changes a value a little: one item, letter or step, as EvalPlus (2305.01210) changes inputs by their type."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from sandbox_service.strengthen.kinds import Fixed, Items, Kind, Mapping, Real, Text, Whole, make


def changed(value: Any, kind: Kind, chance: random.Random) -> Any:
    """Return a value of the kind that differs little from another one.

    Args:
        value: Of the kind.
        kind: Its kind.
        chance: Random numbers.
    """
    if isinstance(kind, Whole) and type(value) is int:
        near = value + chance.choice([-1, 1])
        return near if kind.low <= near <= kind.high and chance.random() < 0.7 else make(kind, "edges", chance)
    if isinstance(kind, Real) and isinstance(value, int | float):
        near = value + chance.choice([-1, 1]) * 10**-kind.decimals
        return round(near, kind.decimals) if kind.low <= near <= kind.high else make(kind, "edges", chance)
    if isinstance(kind, Text) and isinstance(value, str) and not kind.choice:
        return "".join(_rearranged(list(value), kind.low, kind.high, lambda: chance.choice(kind.alphabet), chance))
    if isinstance(kind, Items) and isinstance(value, kind.type):
        return _changed_items(value, kind, chance)
    if isinstance(kind, Fixed) and len(value) == len(kind.items):
        place = chance.randrange(len(value))
        return kind.type(
            changed(each, kind.items[at], chance) if at == place else each for at, each in enumerate(value)
        )
    if isinstance(kind, Mapping) and value:
        found = dict(value)
        key = chance.choice(list(found))
        if chance.random() < 0.3 and len(found) > kind.low:
            del found[key]
        else:
            found[key] = changed(found[key], kind.value, chance)
        return found
    return make(kind, "edges", chance)


def _changed_items(value: Any, kind: Items, chance: random.Random) -> Any:
    items = list(value)
    if items and chance.random() < 0.4:
        place = chance.randrange(len(items))
        items[place] = changed(items[place], kind.item, chance)
    else:
        items = _rearranged(items, kind.low, kind.high, lambda: make(kind.item, "wide", chance), chance)
    if kind.is_distinct and len(set(items)) < len(items):
        return value
    return kind.type(sorted(items) if kind.is_sorted else items)


def _rearranged(items: list[Any], low: int, high: int, new: Callable[[], Any], chance: random.Random) -> list[Any]:
    """Items of which one is left out, repeated, added, replaced, exchanged with another one, or all are reversed."""
    place = chance.randrange(len(items)) if items else 0
    other = chance.randrange(len(items)) if items else 0
    ways: list[list[Any]] = []
    if len(items) > low:
        ways.append(items[:place] + items[place + 1 :])
    if low < high and len(items) < high + 1:
        ways.append([*items[:place], new(), *items[place:]])
        ways.append(items[: place + 1] + items[place:])
    if items:
        ways.append([*items[:place], new(), *items[place + 1 :]])
        ways.append([*items[:place], items[other], *items[place + 1 :]])
        exchanged = list(items)
        exchanged[place], exchanged[other] = items[other], items[place]
        ways += [exchanged, items[::-1]]
    return chance.choice(ways) if ways else items
