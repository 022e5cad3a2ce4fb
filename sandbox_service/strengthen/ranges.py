"""Ranges of the numbers of a form: those seen, those of the statement, and how far beyond them inputs may go.

A statement's bounds are used where their number and the values seen leave no doubt which slot they are of. Beyond what
was seen, ranges grow only where at least three references judge the result: two of them often agree on an input that
breaks a rule of the problem. Signs never change.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sandbox_service.strengthen.facts import Facts
from sandbox_service.strengthen.form import Form, Item, Repeat

WIDER = 10  # how much greater than any number seen
LEAST_HIGH = 20  # … and at least this great
SURE_HIGH = 100_000  # numbers this great show their bound

_NUMBER = r"-?\d[\d,]*(?:\s*[·⋅*×]\s*10)?(?:\s*\^\s*\{?\d+\}?)?"
_RELATION = r"(?:≤|<=|\\leq?q?\b|<)"
_NAME = r"[A-Za-z](?:_?\{?[a-z0-9]{1,3}\}?)?"
_BOUND = re.compile(rf"(?P<low>{_NUMBER})\s*{_RELATION}\s*(?P<names>{_NAME}(?:\s*(?:,|{_RELATION})\s*{_NAME})*)\s*{_RELATION}\s*(?P<high>{_NUMBER})")  # fmt: skip  # noqa: E501
_POWER = re.compile(r"(?:(\d+)[·⋅*×])?(\d+)\^\{?(\d{1,2})\}?")


@dataclass(frozen=True, slots=True)
class Range:
    """Least and greatest number of a slot."""

    low: int
    high: int
    is_stated: bool = False


def ranges_of(
    form: Form, facts: Facts, statement: str, *, is_wide: bool, most: int = 0, longest: int = 0
) -> dict[int, Range]:
    """Return the range of each slot with numbers; of words, of their length.

    Args:
        form: The form of the inputs.
        facts: Its facts.
        statement: Text of the problem.
        is_wide: Numbers go beyond those seen.
        most: If they do, numbers whose bound nothing says go up to this.
        longest: If they do, lengths whose bound nothing says go up to this.
    """
    stated = _stated(form, facts, statement)
    found: dict[int, Range] = {}
    for slot, each in facts.slots.items():
        seen = Range(each.low, each.high)
        is_fixed = not is_wide or each.kind == "real" or (each.kind == "word" and each.low == each.high)
        wider = seen if is_fixed else _wider(seen)
        is_length = slot in facts.lengths or each.kind == "word"
        if most > wider.high > 1 and not is_fixed and not is_length:
            wider = Range(wider.low if wider.low >= 0 else -most, most)
        if longest > wider.high and not is_fixed and is_length:
            wider = Range(wider.low, longest)
        if "high" in each.certain:
            wider = Range(wider.low, each.high)
        found[slot] = stated.get(slot) or wider
    return found


def _wider(seen: Range) -> Range:
    low = min(seen.low, 1) if seen.low >= 1 else seen.low
    if seen.low < 0:
        low = -max(-seen.low, seen.high) * (WIDER if -seen.low < SURE_HIGH else 1)
    high = seen.high if seen.high >= SURE_HIGH else max(seen.high * WIDER, LEAST_HIGH)
    is_flag = seen.low == 0 and seen.high == 1
    return Range(low, seen.high if is_flag else high)


def bounds_in(statement: str) -> list[tuple[str, int, int]]:
    """Return name, least and greatest value of the variables whose bounds a statement gives, in its order."""
    found: dict[str, tuple[str, int, int]] = {}
    for each in _BOUND.finditer(statement):
        low, high = _number(each["low"]), _number(each["high"])
        if low is None or high is None or low > high:
            continue
        for name in re.findall(_NAME, re.sub(_RELATION, ",", each["names"])):
            found.setdefault(name[0], (name, low, high))
    return list(found.values())


def _stated(form: Form, facts: Facts, statement: str) -> dict[int, Range]:
    """The statement's bounds by slot, if there is one for each slot with numbers, and none is broken."""
    slots = [slot for slot in _in_order(form.items) if facts.slots[slot].kind == "int"]
    free = [slot for slot in slots if facts.slots[slot].at_most not in slots or slot in facts.lengths]
    bounds = bounds_in(statement)
    for wanted in (slots, free):
        if len(wanted) == len(bounds):
            fits = all(
                low <= facts.slots[slot].low and facts.slots[slot].high <= high
                for slot, (_, low, high) in zip(wanted, bounds, strict=True)
            )
            if fits:
                return {slot: Range(low, high, True) for slot, (_, low, high) in zip(wanted, bounds, strict=True)}
    if slots and bounds:  # only the first is certain: statements begin with it
        _, low, high = bounds[0]
        if low <= facts.slots[slots[0]].low and facts.slots[slots[0]].high <= high:
            return {slots[0]: Range(low, high, True)}
    return {}


def _in_order(items: Sequence[Item]) -> list[int]:
    found: list[int] = []
    for item in items:
        if isinstance(item, Repeat):
            found += _in_order(item.body)
        else:
            found += [*item.slots, *([item.rest.slot] if item.rest else [])]
    return found


def _number(text: str) -> int | None:
    plain = re.sub(r"[\s,]", "", text)
    if power := _POWER.fullmatch(plain):
        return int(power[1] or 1) * int(power[2]) ** int(power[3]) if int(power[2]) <= 10 else None
    return int(plain) if re.fullmatch(r"-?\d{1,19}", plain) else None
