"""Ranges of the numbers of a form: those seen, those of the statement, and how far beyond them inputs may go.

A statement's bounds are used where their number and the values seen leave no doubt which slot they are of. Beyond what
was seen, ranges grow only where at least three references judge the result: two of them often agree on an input that
breaks a rule of the problem. Signs never change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sandbox_service.strengthen.bounds import Bound, bounds_in, input_bounds_in
from sandbox_service.strengthen.facts import Facts, SlotFacts
from sandbox_service.strengthen.form import Form, Item, Numbers, Repeat

WIDER = 10  # how much greater than any number seen
LEAST_HIGH = 20  # … and at least this great
SURE_HIGH = 100_000  # numbers this great show their bound


@dataclass(frozen=True, slots=True)
class Range:
    """Least and greatest number of a slot.

    Attributes:
        low: The least number.
        high: The greatest number.
        is_stated: The statement gives them.
        limit: A slot whose number, times `factor` and plus `by`, is never exceeded, as the statement says.
        factor, by: Of the limit.
    """

    low: int
    high: int
    is_stated: bool = False
    limit: int | None = None
    factor: int = 1
    by: int = 0

    def most(self, numbers: Numbers) -> int | None:
        """Return the greatest number after these by slot, or None if the limit is not among them."""
        return self.factor * numbers[self.limit] + self.by if self.limit in numbers else None


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


def _stated(form: Form, facts: Facts, statement: str) -> dict[int, Range]:
    """Return the statement's bounds by slot, if there is one for each slot with numbers, and none is broken."""
    slots = [slot for slot in _in_order(form.items) if facts.slots[slot].kind == "int"]
    every = input_bounds_in(statement)
    if len(every) == len(slots):
        return _of_all(slots, every, facts)
    free = [slot for slot in slots if facts.slots[slot].at_most not in slots or slot in facts.lengths]
    bounds = [Range(low, high, True) for _, low, high in bounds_in(statement)]
    for wanted in (slots, free):
        if len(wanted) == len(bounds):
            if all(_fits(each, facts.slots[slot]) for slot, each in zip(wanted, bounds, strict=True)):
                return dict(zip(wanted, bounds, strict=True))
            return dict(_common(wanted, bounds, facts))
    if slots and bounds and _fits(bounds[0], facts.slots[slots[0]]):  # only this is certain: statements begin with it
        return {slots[0]: bounds[0]}
    return {}


def _of_all(slots: Sequence[int], bounds: Sequence[Bound], facts: Facts) -> dict[int, Range]:
    """The ranges of all slots with numbers, in the order of the statement, but those without a greatest number."""
    by_key = {bound.key: slot for slot, bound in zip(slots, bounds, strict=True)}
    found = {}
    for slot, bound in zip(slots, bounds, strict=True):
        if bound.high is not None:
            low, limit = _with_marker(bound.low, facts.slots[slot]), by_key.get(bound.limit)
            found[slot] = Range(low, bound.high, True, limit, bound.factor, bound.by)
    if all(_fits(each, facts.slots[slot]) for slot, each in found.items()):
        return found
    return dict(_common(list(found), list(found.values()), facts))


def _with_marker(low: int, facts: SlotFacts) -> int:
    """The least number, or that which stands for none, as beside the root of a tree."""
    root = facts.links.root if facts.links else -1 if facts.has_marker else low
    return min(low, root)


def _fits(allowed: Range, facts: SlotFacts) -> bool:
    return allowed.low <= facts.low and facts.high <= allowed.high


def _common(slots: Sequence[int], allowed: Sequence[Range], facts: Facts) -> Iterator[tuple[int, Range]]:
    """Yield the ranges that are both seen and stated, where given inputs break the bounds, as in some data sets."""
    for slot, each in zip(slots, allowed, strict=True):
        seen = facts.slots[slot]
        low, high = max(each.low, seen.low), min(each.high, seen.high)
        if low <= high:
            yield slot, replace(each, low=low, high=high, is_stated=False)


def _in_order(items: Sequence[Item]) -> list[int]:
    found: list[int] = []
    for item in items:
        if isinstance(item, Repeat):
            found += _in_order(item.body)
        else:
            found += [*item.slots, *([item.rest.slot] if item.rest else [])]
    return found
