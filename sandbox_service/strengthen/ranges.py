"""Ranges of the numbers of a form: those seen, those of the statement, and how far beyond them inputs may go.

A statement's bounds are used where their number and the values seen leave no doubt which slot they are of. Beyond what
was seen, ranges grow only where at least three references judge the result: two of them often agree on an input that
breaks a rule of the problem. Signs never change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sandbox_service.strengthen.facts import Facts
from sandbox_service.strengthen.form import Form, Item, Repeat
from sandbox_service.validation.notation import plain

WIDER = 10  # how much greater than any number seen
LEAST_HIGH = 20  # … and at least this great
SURE_HIGH = 100_000  # numbers this great show their bound

NUMBER = r"-?\s?(?:\d{1,3}(?: \d{3})+(?!\d)|\d[\d,]*)(?:\s*[·⋅*×]\s*10)?(?:\s*\^\s*\{?\d+\}?)?(?:\s*[-−–+]\s*1(?!\d))?"
_RELATION = r"(?:≤|<=|<)"
_NAME = r"[A-Za-z](?:_?\{?[a-z0-9]{1,3}\}?)?"
_BOUND = re.compile(
    rf"(?P<low>{NUMBER})\s*(?P<from>{_RELATION})\s*(?P<names>{_NAME}(?:\s*(?:,|{_RELATION})\s*{_NAME})*)"
    rf"\s*(?P<to>{_RELATION})\s*(?P<high>{NUMBER})"
)
_POWER = re.compile(r"(-?)(?:(\d+)[·⋅*×])?(\d+)\^\{?(\d{1,2})\}?([-−–+]1)?")


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
    stated, bounds = _stated(form, facts, statement), bounds_in(statement)
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
        found[slot] = stated.get(slot) or _within(bounds, wider, seen)
    return found


def _within(bounds: Sequence[tuple[str, int, int]], wider: Range, seen: Range) -> Range:
    """Return the part of `wider` between the least and the greatest number that a bound allows or that was seen."""
    if not bounds:
        return wider
    low, high = min(low for _, low, _ in bounds), max(high for _, _, high in bounds)
    return Range(max(wider.low, min(low, seen.low)), min(wider.high, max(high, seen.high)))


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
    for each in _BOUND.finditer(plain(statement)):
        low, high = number_in(each["low"]), number_in(each["high"])
        if low is None or high is None:
            continue
        low, high = low + (each["from"] == "<"), high - (each["to"] == "<")
        if low > high:
            continue
        for name in re.findall(_NAME, re.sub(_RELATION, ",", each["names"])):
            found.setdefault(name[0], (name, low, high))
    return list(found.values())


def _stated(form: Form, facts: Facts, statement: str) -> dict[int, Range]:
    """Return the statement's bounds by slot, if there is one for each slot with numbers, and none is broken."""
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
            return dict(_common(wanted, bounds, facts))
    if slots and bounds:  # only the first is certain: statements begin with it
        _, low, high = bounds[0]
        if low <= facts.slots[slots[0]].low and facts.slots[slots[0]].high <= high:
            return {slots[0]: Range(low, high, True)}
    return {}


def _common(slots: Sequence[int], bounds: Sequence[tuple[str, int, int]], facts: Facts) -> Iterator[tuple[int, Range]]:
    """Yield the ranges that are both seen and stated, where given inputs break the bounds, as in some data sets."""
    for slot, (_, low, high) in zip(slots, bounds, strict=True):
        seen = facts.slots[slot]
        low, high = max(low, seen.low), min(high, seen.high)
        if low <= high:
            yield slot, Range(low, high)


def _in_order(items: Sequence[Item]) -> list[int]:
    found: list[int] = []
    for item in items:
        if isinstance(item, Repeat):
            found += _in_order(item.body)
        else:
            found += [*item.slots, *([item.rest.slot] if item.rest else [])]
    return found


def number_in(text: str) -> int | None:
    """Return the number that a statement writes, such as `2 ⋅ 10^5` or `2^{25} - 1`, or None if it is none.

    Args:
        text: Digits, perhaps with commas, a factor, an exponent, and one more or less.
    """
    plain = re.sub(r"[\s,]", "", text)
    if power := _POWER.fullmatch(plain):
        sign, factor, base, exponent, by = power.groups()
        if int(base) > 10:
            return None
        found: int = int(factor or 1) * int(base) ** int(exponent)
        return (-found if sign else found) + (0 if not by else 1 if by[0] == "+" else -1)
    return int(plain) if re.fullmatch(r"-?\d{1,19}", plain) else None
