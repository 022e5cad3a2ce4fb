"""Finds the form of a problem's inputs: the first form, the likeliest ones first, that parses all of them.

All inputs are read at the same time, line by line. At each line the search tries the items that fit all inputs: a part
that is repeated, a list whose length is an earlier number, a line of single tokens. A repeated part is found from its
first turn and must parse all further turns. Forms with few items are tried first. A list of pairs would fit any graph:
lists whose length nothing says are tried only where no other form is found. The number of tries is bounded; without a
form the caller changes tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from sandbox_service.strengthen.form import (
    Form,
    Item,
    Length,
    Line,
    Lines,
    MisfitError,
    Numbers,
    Repeat,
    Rest,
    lines_of,
    parse_items,
)

MOST_TRIES = 6_000
MOST_ITEMS = 9
MOST_DEPTH = 3
MOST_TOKENS = 12  # single tokens of a line
MOST_HEADS = 2  # single tokens before a list
LEARNT_BYTES = 2_000  # longer inputs are parsed, but not searched
LEARNT_INPUTS = 10


@dataclass(frozen=True, slots=True)
class _Place:
    """A place in one input, with the numbers read before it."""

    lines: Lines
    at: int
    numbers: Numbers

    @property
    def left(self) -> int:
        return len(self.lines) - self.at


Found = tuple[tuple[Item, ...], list[_Place], int]  # items, the places after them, and how many items are left
_Option = tuple[Item, list[_Place], int]


class _TooManyTriesError(Exception):
    """The search has used its budget."""


def form_of(inputs: Sequence[str], *, has_free: bool | None = None) -> Form | None:
    """Return the form of all these inputs, or None if none is found.

    Args:
        inputs: All of them.
        has_free: Lists may have a length that nothing says; None for both, first without such lists.
    """
    if has_free is None:
        return form_of(inputs, has_free=False) or form_of(inputs, has_free=True)
    by_size = sorted(inputs, key=len)
    short = [each for each in by_size if len(each) <= LEARNT_BYTES] or by_size[:2]
    places = [_Place(lines_of(each), 0, {}) for each in short[-LEARNT_INPUTS:]]
    if not places or any(place.left == 0 for place in places):
        return None
    return _found(_Search(has_free=has_free), places, inputs)


def _found(search: _Search, places: list[_Place], inputs: Sequence[str]) -> Form | None:
    try:
        for items in search.whole_inputs(places):
            form = Form(items)
            if all(form.fits(each) for each in inputs):
                return form
    except (_TooManyTriesError, RecursionError):
        return None
    return None


class _Search:
    """A search. With `has_free`, lists and repeated parts may have a length that nothing says."""

    def __init__(self, *, has_free: bool) -> None:
        self._has_free = has_free
        self._slots = count()
        self._tries = 0
        self._line_of: dict[int, int] = {}  # the first slot of each slot's line

    def whole_inputs(self, places: list[_Place]) -> Iterator[tuple[Item, ...]]:
        """Yield items that read all inputs to their ends, the fewest items first."""
        for size in range(1, MOST_ITEMS + 1):
            for items, after, left in self._sequences(places, 0, size):
                if left == 0 and all(place.left == 0 for place in after):
                    yield items

    def _sequences(self, places: list[_Place], depth: int, size: int) -> Iterator[Found]:
        """Yield sequences of at most this many items that fit, a shorter one before those that it begins."""
        if size == 0 or all(place.left == 0 for place in places):
            return
        for item, after, left in self._items(places, depth, size):
            self._tries += 1
            if self._tries > MOST_TRIES:
                raise _TooManyTriesError
            yield (item,), after, left
            for more, end, rest in self._sequences(after, depth, left):
                yield (item, *more), end, rest

    def _items(self, places: list[_Place], depth: int, size: int) -> Iterator[_Option]:
        lengths = self._lengths(places)
        repeats = [each for each in lengths if not each.offset and each.factor == 1]
        plain: list[Length] = []
        others: list[Length] = []
        for each in repeats:
            counts = [each.of(place.numbers) or 0 for place in places]
            (plain if max(counts) > 1 else others).append(each)
        others += [each for each in lengths if each.offset and each.factor == 1]
        others += [each for each in lengths if each.factor > 1]
        if depth < MOST_DEPTH:
            for length in plain:
                yield from self._repeats(length, places, depth, size)
        has_ended = any(place.left == 0 for place in places)  # what is left in an input is repeated no times
        for item, after in () if has_ended else self._lines(places, lengths):
            yield item, after, size - 1
        if depth < MOST_DEPTH:
            for length in others:
                yield from self._repeats(length, places, depth, size)
        if self._has_free and depth == 0 and not has_ended:
            yield from self._repeats(None, places, depth, size)
            for item, after in self._free(places):
                yield item, after, size - 1

    def _lengths(self, places: Sequence[_Place]) -> list[Length]:
        """Lengths that the numbers read so far may give, the likeliest first: the first number of the last line."""
        known = [slot for slot in places[0].numbers if all(slot in place.numbers for place in places)]
        known.sort(key=lambda slot: (-self._line_of[slot], slot))
        found = [Length(slot) for slot in known]
        found += [Length(slot, 1, offset) for offset in (-1, 1) for slot in known]
        found += [Length(slot, 2, offset) for offset in (0, -1, 1) for slot in known]
        return [each for each in found if all(each.of(place.numbers) is not None for place in places)]

    # --- repeated parts

    def _repeats(self, length: Length | None, places: list[_Place], depth: int, size: int) -> Iterator[_Option]:
        if length is None and places[0].left <= MOST_ITEMS and len({place.left for place in places}) == 1:
            return  # as many lines in all inputs: hardly a list that ends with the input
        counts = [length.of(place.numbers) if length else 1 for place in places]
        if any(each is None or each > place.left for each, place in zip(counts, places, strict=True)) or not any(
            counts
        ):
            return
        first = [
            _Place(place.lines, place.at, dict(place.numbers))
            for place, turns in zip(places, counts, strict=True)
            if turns
        ]
        inner = MOST_DEPTH if length is None else depth + 1
        for body, _, left in self._sequences(first, inner, size - 1):
            item = Repeat(length, body)
            after = _after(item, places)
            if after is not None:
                yield item, after, left

    # --- lines

    def _lines(self, places: list[_Place], lengths: Sequence[Length]) -> Iterator[tuple[Item, list[_Place]]]:
        sizes = [len(place.lines[place.at]) for place in places]
        varies = len(set(sizes)) > 1
        are_pairs = not varies and sizes[0] == 2
        if are_pairs:  # likelier than lists of two
            yield from self._fitting(Line(self._new_slots(2)), places)
        for length in lengths:
            if [length.of(place.numbers) for place in places] != sizes or max(sizes) < 2:
                continue
            if varies or not (length.offset or length.factor > 1):
                yield from self._fitting(Line((), Rest(next(self._slots), length)), places)
        if varies:
            yield from self._headed(places, sizes)
        elif sizes[0] <= MOST_TOKENS and not are_pairs:
            yield from self._fitting(Line(self._new_slots(sizes[0])), places)

    def _new_slots(self, many: int) -> tuple[int, ...]:
        slots = tuple(next(self._slots) for _ in range(many))
        for slot in slots:
            self._line_of[slot] = slots[0]
        return slots

    def _headed(self, places: list[_Place], sizes: Sequence[int]) -> Iterator[tuple[Item, list[_Place]]]:
        """Lines whose first tokens say how many follow."""
        for heads in range(1, min(MOST_HEADS, *sizes) + 1):
            slots = self._new_slots(heads)
            for place_of_length in range(heads):
                rest = Rest(next(self._slots), Length(slots[place_of_length]))
                yield from self._fitting(Line(slots, rest), places)

    def _free(self, places: list[_Place]) -> Iterator[tuple[Item, list[_Place]]]:
        """A list of any length, where nothing says how long it is."""
        sizes = {len(place.lines[place.at]) for place in places}
        if len(sizes) > 1 or max(sizes) > MOST_TOKENS:
            yield from self._fitting(Line((), Rest(next(self._slots), None)), places)

    def _fitting(self, line: Line, places: list[_Place]) -> Iterator[tuple[Item, list[_Place]]]:
        after = _after(line, places)
        if after is not None:
            yield line, after


def _after(item: Item, places: Sequence[_Place]) -> list[_Place] | None:
    """The places after an item, or None if it does not fit everywhere."""
    found = []
    for place in places:
        numbers = dict(place.numbers)
        try:
            _, at = parse_items((item,), place.lines, place.at, numbers)
        except MisfitError:
            return None
        found.append(_Place(place.lines, at, numbers))
    return found
