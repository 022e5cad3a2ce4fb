"""Inputs that are enumerated and not left to chance: the least ones, the greatest ones, and those of special numbers.

Of special numbers there are the ends of a range, the numbers beside them, the greatest power, square, prime and product
of primes, and powers with every exponent. Where an input is one or two numbers, each of them is special while the other
one is least, small, the same, or greatest. Where it is a number of such lines, these cases share inputs. Elsewhere a
number beside a list is special, or the items of a short list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sandbox_service.strengthen.facts import Facts, Relation, SlotFacts
from sandbox_service.strengthen.form import Form, Line, Repeat, lines_in
from sandbox_service.strengthen.inputs import Maker
from sandbox_service.strengthen.plans import Plan
from sandbox_service.strengthen.ranges import Range
from sandbox_service.strengthen.special_numbers import greatest, powers

MOST_NUMBERS, MOST_BESIDE = 45, 6  # inputs of special numbers, if these are all of an input, and otherwise
MOST_CASES, CASES, ALONE = 160, 20, 8  # such lines in all, in one input, and those that are alone first
SMALL = 6  # small numbers beside special ones
SHORT = 3  # items of short lists
LEAST_SPAN = 100  # of a range with special numbers

LEAST_PLANS = (Plan("least", "least", "low"), Plan("least", "least", "high"), Plan("one", "one", "low"))
GREATEST_PLANS = (Plan("one", "some", "high"), Plan("one", "many", "high"), Plan("one", "largest", "high"))
_PLANS = (Plan("one", "few", "wide"), Plan("one", "few", "special"), Plan("one", "least", "high"))


@dataclass(frozen=True, slots=True)
class Special:
    """A plan, and by slot the first numbers."""

    plan: Plan
    numbers: Mapping[int, Sequence[int]]


def specials(form: Form, maker: Maker) -> list[Special]:
    """Return plans of inputs with special numbers.

    Args:
        form: The form of the inputs.
        maker: Has their facts, ranges, and relations.
    """
    facts, ranges = maker.facts, maker.ranges
    if (alone := _alone(form, maker)) is not None:
        return [_of_one(each) for each in _combined(alone, ranges, maker.relations)[:MOST_NUMBERS]]
    if (cases := _cases(form)) is not None:
        head, line = cases
        slots = _plain(line.slots, facts, ranges)
        most = min(ranges[head].high, CASES)
        return list(_packed(head, _combined(slots, ranges, maker.relations)[:MOST_CASES], most)) if slots else []
    return [*_beside(form, facts, ranges), *_short_lists(form, facts, ranges)]


def _alone(form: Form, maker: Maker) -> list[int] | None:
    """The slots of an input that is a few numbers; None if it has anything else."""
    if not all(isinstance(item, Line) and item.rest is None for item in form.items):
        return None
    slots = [slot for line in lines_in(form.items) for slot in line.slots]
    return slots if _plain(slots, maker.facts, maker.ranges) == slots else []


def _plain(slots: Sequence[int], facts: Facts, ranges: Mapping[int, Range]) -> list[int]:
    """The slots of wide ranges whose numbers are no lengths and no names of nodes."""
    return [
        slot
        for slot in slots
        if slot not in facts.lengths and slot in ranges and _is_plain(facts.slots[slot], ranges[slot])
    ]


def _is_plain(facts: SlotFacts, allowed: Range) -> bool:
    is_structure = facts.permutation or facts.links or facts.parents
    return facts.kind == "int" and not is_structure and allowed.high - allowed.low >= LEAST_SPAN


def _cases(form: Form) -> tuple[int, Line] | None:
    """The slot with the number of cases and their line, where an input is a number of lines of numbers."""
    if len(form.items) != 2:
        return None
    head, cases = form.items
    if not (isinstance(head, Line) and isinstance(cases, Repeat) and len(cases.body) == 1 and cases.length):
        return None
    line = cases.body[0]
    is_plain = len(head.slots) == 1 and head.rest is None and cases.length.factor == 1 and not cases.length.offset
    return (head.slots[0], line) if is_plain and isinstance(line, Line) and line.rest is None else None


def _of_one(numbers: Mapping[int, int]) -> Special:
    return Special(Plan("one", "least", "special"), {slot: [number] for slot, number in numbers.items()})


def _packed(head: int, cases: Sequence[Mapping[int, int]], most: int) -> Iterator[Special]:
    """Inputs with one of the first cases, and then inputs with many."""
    packs = [cases[at : at + 1] for at in range(min(ALONE, len(cases)))]
    packs += [cases[at : at + most] for at in range(0, len(cases), max(most, 1))]
    for pack in packs:
        numbers = {slot: [case[slot] for case in pack] for slot in pack[0]}
        yield Special(Plan("one", "least", "special"), {head: [len(pack)], **numbers})


def _combined(slots: Sequence[int], ranges: Mapping[int, Range], relations: Sequence[Relation]) -> list[dict[int, int]]:
    """Special numbers of the slots: one of these while the others are least, small, the same, or greatest."""
    best = {slot: greatest(ranges[slot].low, ranges[slot].high) for slot in slots}
    every = {slot: powers(ranges[slot].low, ranges[slot].high) for slot in slots}
    found: list[dict[int, int]] = []
    for numbers, besides in ((best, (_least, _same, _small, _most)), (every, (_least, _small))):
        for beside in besides if len(slots) > 1 else (_least,):
            for place in range(max(map(len, numbers.values()), default=0)):
                for slot in slots:
                    if place < len(numbers[slot]):
                        number = numbers[slot][place]
                        others = {each: beside(ranges[each], number, place) for each in slots}
                        found.append({**others, slot: number})
    inside = [each for each in relations if each.left in slots and each.right in slots]
    found = [each for each in found if all(_is_mended(each, relation) for relation in inside)]
    return [dict(each) for each in dict.fromkeys(tuple(sorted(each.items())) for each in found)]


def _is_mended(numbers: dict[int, int], relation: Relation) -> bool:
    """Exchange two numbers in the wrong order; return whether their relation holds then."""
    left, right = numbers[relation.left], numbers[relation.right]
    if relation.sign != "!=" and left > right:
        numbers[relation.left], numbers[relation.right] = right, left
    return left != right or relation.sign == "<="


def _least(allowed: Range, _: int, __: int) -> int:
    return allowed.low


def _small(allowed: Range, _: int, place: int) -> int:
    return min(allowed.low + 1 + place % SMALL, allowed.high)


def _same(allowed: Range, number: int, _: int) -> int:
    return min(max(number, allowed.low), allowed.high)


def _most(allowed: Range, _: int, __: int) -> int:
    return allowed.high


def _beside(form: Form, facts: Facts, ranges: Mapping[int, Range]) -> Iterator[Special]:
    """Inputs whose numbers beside lists are special, one after the other."""
    lines = [item for item in form.items if isinstance(item, Line)]
    slots = _plain([slot for line in lines for slot in line.slots], facts, ranges)
    found = [{slot: [number]} for slot in slots for number in greatest(ranges[slot].low, ranges[slot].high)]
    step = max(len(found) // MOST_BESIDE, 1)
    for place, numbers in enumerate(found[::step][:MOST_BESIDE]):
        yield Special(_PLANS[place % len(_PLANS)], numbers)


def _short_lists(form: Form, facts: Facts, ranges: Mapping[int, Range]) -> Iterator[Special]:
    """Inputs with few items, of which the first ones are special."""
    beside = {slot for item in form.items if isinstance(item, Line) for slot in item.slots}
    lines = list(lines_in(form.items))
    inside = [slot for line in lines for slot in line.slots if slot not in beside]
    inside += [line.rest.slot for line in lines if line.rest]
    items = [slot for slot in _plain(inside, facts, ranges) if ranges[slot].limit is None]
    best = {slot: greatest(ranges[slot].low, ranges[slot].high) for slot in items}
    sizes = [item.rest.length.slot for item in form.items if isinstance(item, Line) and item.rest and item.rest.length]
    for place in range(MOST_BESIDE if items else 0):
        numbers = {slot: [each[(place + at) % len(each)] for at in range(SHORT)] for slot, each in best.items()}
        yield Special(_PLANS[place % len(_PLANS)], {**{slot: [1 + place % SHORT] for slot in sizes}, **numbers})
