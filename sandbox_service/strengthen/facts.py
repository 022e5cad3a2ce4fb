"""Facts about the tokens of a form, learnt from the given inputs: kinds, ranges, order, and ties to lengths.

A fact holds in all inputs. `is_certain` says that chance alone hardly explains it: with several references an uncertain
fact may be dropped, since an input that breaks a rule of the problem is likely to make them differ.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal

from sandbox_service.strengthen.form import Form, Item, Length, Line, Numbers, Repeat, Value, whole
from sandbox_service.strengthen.links import Links, beside_roots, links_of
from sandbox_service.strengthen.rows import CHANCE, Block, Rows, may_be_nodes, rows_of

Kind = Literal["int", "real", "word"]
Order = Literal["", "ascending", "rising", "descending", "falling"]

LEAST_INPUTS, LEAST_AT_BOUND = 8, 3  # with so many inputs, of which so many have the greatest number, it is a bound
MOST_PARTS = (4, 3, 2)  # equal parts of words
LEAST_PART = 3  # letters of such a part
MOST_WORDS = 12  # a vocabulary with more words is none
_REAL = re.compile(r"-?\d+\.\d+")


@dataclass(frozen=True)
class Seen:
    """Observations of a slot: lists of tokens (single tokens are lists of one), each with the numbers around it."""

    lists: list[tuple[list[str], Numbers]] = field(default_factory=list)
    is_list: bool = False

    @property
    def tokens(self) -> list[str]:
        """All tokens."""
        return [token for tokens, _ in self.lists for token in tokens]


@dataclass(frozen=True)
class SlotFacts:
    """The facts of one slot.

    Attributes:
        kind: Of all tokens.
        low, high: Least and greatest number; lengths of words.
        decimals: Of real numbers.
        alphabet: Letters of words.
        words: All words, if they are few and come again.
        given: All words, if they are few.
        at_most: A slot whose number is never exceeded.
        is_below: … and never reached.
        length_of: A slot with the length of each word.
        repeats: So many equal parts that each word has, but for one letter; 1 for no such parts.
        order: Of the items of each list.
        distinct: No list has an item twice.
        permutation: Each list has the numbers from 1 on.
        parents: No item exceeds its place, from 1 on, as where trees name the parent of each further node. Numbers at
            one place of a repeated line are such a list, too.
        links: Each item names the parent of the node at its place.
        has_marker: -1 stands for no number: all others are positive.
        certain: Names of the facts that chance does not explain; `high` if the greatest number is a bound.
    """

    kind: Kind
    low: int = 0
    high: int = 0
    decimals: int = 0
    alphabet: str = ""
    words: tuple[str, ...] = ()
    given: tuple[str, ...] = field(default=(), compare=False)
    at_most: int | None = None
    is_below: bool = False
    length_of: Length | None = None
    repeats: int = 1
    order: Order = ""
    distinct: bool = False
    permutation: bool = False
    parents: bool = False
    links: Links | None = None
    has_marker: bool = False
    certain: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation of two numbers in the same line that always holds: <, <= or !=. `is_certain`: by more than chance."""

    left: int
    sign: Literal["<", "<=", "!="]
    right: int
    is_certain: bool = True


@dataclass(frozen=True)
class Facts:
    """The facts of all slots, the relations between them, the slots that are lengths, and facts of repeated lines."""

    slots: dict[int, SlotFacts]
    relations: tuple[Relation, ...]
    lengths: frozenset[int]
    rows: dict[int, Rows]

    @property
    def has_trees(self) -> bool:
        """Return whether lines are the edges of trees or of connected graphs, or numbers name parents."""
        are_edges = any(each.tree or each.connected for each in self.rows.values())
        return are_edges or any(each.links or each.parents for each in self.slots.values())


def facts_of(form: Form, inputs: Sequence[str], limits: Mapping[int, int] | None = None) -> Facts:
    """Return the facts that hold in all inputs, which have the form. Limits of the statement are `at_most`."""
    seen: dict[int, Seen] = {}
    pairs: dict[tuple[int, int], list[tuple[int, int]]] = {}
    blocks: dict[tuple[int, ...], list[Block]] = {}
    for text in inputs:
        _collect(form.items, form.parse(text), {}, seen, pairs, blocks)
    slots = {slot: _facts(each) for slot, each in seen.items()}
    slots |= {slot: replace(slots[slot], at_most=limit, is_below=False) for slot, limit in (limits or {}).items()}
    bounds = {slot: each.at_most for slot, each in slots.items()}
    rows = {line[0]: rows_of(each, [bounds.get(end) for end in line[:2]]) for line, each in blocks.items()}
    for line, each in blocks.items():
        if may_be_nodes(each, rows[line[0]]):
            slots.update(_columns(line, [lines for lines, _ in each], slots))
    lengths = {*_lengths(form.items), *(each.length_of.slot for each in slots.values() if each.length_of)}
    lengths |= {each.nodes for each in rows.values() if each.nodes is not None}
    return Facts(slots, tuple(_relations(pairs)), frozenset(lengths), rows)


def _columns(
    line: Sequence[int], blocks: Sequence[Sequence[tuple[str, ...]]], slots: dict[int, SlotFacts]
) -> Iterator[tuple[int, SlotFacts]]:
    """The facts of the slots of a repeated line whose numbers are links."""
    for place, slot in enumerate(line):
        if slot in slots and slots[slot].kind == "int":
            filled = [rows for rows in blocks if rows]
            columns = [[int(row[place]) for row in rows] for rows in filled]
            links = links_of(columns)
            links = beside_roots(filled, place, links) if links else None
            yield slot, replace(slots[slot], links=links, parents=_are_parents(columns))


def _are_parents(lists: Sequence[Sequence[int]]) -> bool:
    if not lists or not all(0 < number <= place for each in lists for place, number in enumerate(each, 1)):
        return False
    high = max(number for each in lists for number in each)
    return math.prod(min(place / high, 1) for each in lists for place in range(1, len(each) + 1)) < CHANCE


def sums_of(form: Form, text: str) -> dict[int, int]:
    """Return the sum of the numbers of each slot of repeated parts in an input.

    Args:
        form: The form of the input.
        text: The input.
    """
    seen: dict[int, Seen] = {}
    values = zip(form.items, form.parse(text), strict=True)
    inside = [(item, value) for item, value in values if isinstance(item, Repeat)]
    _collect([item for item, _ in inside], [value for _, value in inside], {}, seen, {}, {})
    numbers = {slot: [whole(token) for token in each.tokens] for slot, each in seen.items()}
    return {slot: sum(each or 0 for each in found) for slot, found in numbers.items()}


def numbers_of(form: Form, text: str) -> dict[int, list[int]]:
    """Return the whole numbers of an input by slot.

    Args:
        form: The form of the input.
        text: The input.
    """
    seen: dict[int, Seen] = {}
    _collect(form.items, form.parse(text), {}, seen, {}, {})
    numbers = {slot: [whole(token) for token in each.tokens] for slot, each in seen.items()}
    return {slot: [each for each in found if each is not None] for slot, found in numbers.items()}


def without_ranges(facts: Facts) -> Facts:
    """Return the facts without least and greatest numbers, and without a word on which of them are certain."""
    slots = {slot: replace(each, low=0, high=0, certain=frozenset()) for slot, each in facts.slots.items()}
    relations = tuple(replace(each, is_certain=True) for each in facts.relations)
    rows = {slot: replace(each, is_certain=True) for slot, each in facts.rows.items()}
    return replace(facts, slots=slots, relations=relations, rows=rows)


def of_given_words(facts: Facts) -> Facts:
    """Return the facts with the given words as the only ones, where they are few: they may be names of the problem."""
    return replace(facts, slots={slot: replace(each, words=each.given) for slot, each in facts.slots.items()})


def _lengths(items: Sequence[Item]) -> Iterator[int]:
    for item in items:
        if isinstance(item, Repeat):
            if item.length:
                yield item.length.slot
            yield from _lengths(item.body)
        elif item.rest is not None and item.rest.length is not None:
            yield item.rest.length.slot


def _collect(
    items: Sequence[Item],
    values: Sequence[Any],
    numbers: Numbers,
    seen: dict[int, Seen],
    pairs: dict[tuple[int, int], list[tuple[int, int]]],
    blocks: dict[tuple[int, ...], list[Block]],
) -> None:
    for item, value in zip(items, values, strict=True):
        if isinstance(item, Repeat):
            first = item.body[0]
            if len(item.body) == 1 and isinstance(first, Line) and first.slots and first.rest is None:
                rows = [tuple(turn[0].tokens) for turn in value]
                blocks.setdefault(first.slots, []).append((rows, dict(numbers)))
            for each in value:
                _collect(item.body, each, numbers, seen, pairs, blocks)
        else:
            _collect_line(item, value, numbers, seen, pairs)


def _collect_line(
    line: Line,
    value: Value,
    numbers: Numbers,
    seen: dict[int, Seen],
    pairs: dict[tuple[int, int], list[tuple[int, int]]],
) -> None:
    for slot, token in zip(line.slots, value.tokens, strict=True):
        number = whole(token)
        before = dict(numbers)
        if number is None:
            numbers.pop(slot, None)
        else:
            for other in line.slots[: line.slots.index(slot)]:
                if other in numbers:
                    pairs.setdefault((other, slot), []).append((numbers[other], number))
            numbers[slot] = number
        seen.setdefault(slot, Seen()).lists.append(([token], before))
    if line.rest is not None:
        seen.setdefault(line.rest.slot, Seen(is_list=True)).lists.append((value.rest, dict(numbers)))


def _facts(seen: Seen) -> SlotFacts:
    tokens = seen.tokens
    numbers = [whole(token) for token in tokens]
    if tokens and all(number is not None for number in numbers):
        return _numbers(seen, [number for number in numbers if number is not None])
    if tokens and all(whole(token) is not None or _REAL.fullmatch(token) for token in tokens):
        return _reals(tokens)
    return _words(seen, tokens)


def _numbers(seen: Seen, numbers: Sequence[int]) -> SlotFacts:
    low, high = min(numbers), max(numbers)
    certain: set[str] = set()
    lists = [[int(token) for token in tokens] for tokens, _ in seen.lists]
    order: Order = ""
    distinct = permutation = False
    if seen.is_list:
        order = _order(lists)
        chance = math.prod(1 / math.factorial(min(len(each), 12)) for each in lists)
        if order and chance < CHANCE:
            certain.add("order")
        distinct = all(len(set(each)) == len(each) for each in lists) and any(len(each) > 1 for each in lists)
        pairs = sum(len(each) * (len(each) - 1) / 2 for each in lists)
        if distinct and math.exp(-pairs / (high - low + 1)) < CHANCE:
            certain.add("distinct")
        permutation = distinct and all(sorted(each) == list(range(1, len(each) + 1)) for each in lists)
        if permutation:
            certain |= {"permutation", "distinct"}
    parents = seen.is_list and all(0 < number <= place for each in lists for place, number in enumerate(each, 1))
    links = links_of([each for each in lists if each]) if seen.is_list else None
    if _is_bound(seen, low, high):
        certain.add("high")
    at_most = _at_most(seen)
    if at_most is not None and _meets(seen, at_most):
        certain.add("at_most")
    has_marker = low == -1 and high > 0 and 0 not in numbers
    if has_marker and (1 - 1 / (high + 2)) ** len(numbers) < CHANCE:
        certain.add("marker")
    return SlotFacts(
        "int", low, high, at_most=at_most, is_below=_is_below(seen, at_most), order=order, distinct=distinct,
        permutation=permutation, parents=parents, links=links, has_marker=has_marker, certain=frozenset(certain),
    )  # fmt: skip


def _is_bound(seen: Seen, low: int, high: int) -> bool:
    """Return whether so many inputs have the greatest number that it is the problem's bound, and not chance."""
    if seen.is_list or low == high or len(seen.lists) < LEAST_INPUTS:
        return False
    return sum(int(tokens[0]) == high for tokens, _ in seen.lists if tokens) >= LEAST_AT_BOUND


def _order(lists: Sequence[Sequence[int]]) -> Order:
    if not any(len(each) > 2 for each in lists):
        return ""
    pairs = [pair for each in lists for pair in pairwise(each)]
    if all(left < right for left, right in pairs):
        return "rising"
    if all(left <= right for left, right in pairs):
        return "ascending"
    if all(left > right for left, right in pairs):
        return "falling"
    return "descending" if all(left >= right for left, right in pairs) else ""


def _at_most(seen: Seen) -> int | None:
    """The slot with the least numbers, among those that are never exceeded."""
    lists = [(max(map(int, tokens)), numbers) for tokens, numbers in seen.lists if tokens]
    if not lists or min(int(token) for token in seen.tokens) < 0:
        return None
    slots = [slot for slot in lists[0][1] if all(slot in numbers and most <= numbers[slot] for most, numbers in lists)]
    return min(slots, key=lambda slot: sum(numbers[slot] for _, numbers in lists), default=None)


def _is_below(seen: Seen, slot: int | None) -> bool:
    if slot is None:
        return False
    return all(max(map(int, tokens)) < numbers[slot] for tokens, numbers in seen.lists if tokens)


def _meets(seen: Seen, slot: int) -> bool:
    """Return whether the bound is reached often enough to be one."""
    reached = sum(max(map(int, tokens)) == numbers[slot] for tokens, numbers in seen.lists if tokens)
    return reached >= 2 and 3 * reached >= len(seen.lists)


def _reals(tokens: Sequence[str]) -> SlotFacts:
    values = [float(token) for token in tokens]
    decimals = max(len(token.partition(".")[2]) for token in tokens)
    return SlotFacts("real", math.floor(min(values)), math.ceil(max(values)), decimals=decimals)


def _words(seen: Seen, tokens: Sequence[str]) -> SlotFacts:
    sizes = [len(token) for token in tokens] or [1]
    distinct = sorted(set(tokens))
    length_of = None if seen.is_list else _length_of(seen)
    is_few = len(distinct) <= MOST_WORDS and max(sizes) > 1 and length_of is None
    is_vocabulary = is_few and len(tokens) >= 2 * len(distinct)
    return SlotFacts(
        "word",
        min(sizes),
        max(sizes),
        alphabet="".join(sorted({letter for token in tokens for letter in token})) or "a",
        words=tuple(distinct) if is_vocabulary else (),
        given=tuple(distinct) if is_few else (),
        length_of=length_of,
        repeats=_repeats(tokens),
        certain=frozenset({"repeats"}),
    )


def _repeats(tokens: Sequence[str]) -> int:
    """The number of equal parts of each word, but for one letter, if the parts are long enough to be no chance."""
    for times in MOST_PARTS:
        if tokens and all(len(each) >= LEAST_PART * times and _has_parts(each, times) for each in tokens):
            return times
    return 1


def _has_parts(word: str, times: int) -> bool:
    if len(word) % times:
        return False
    size = len(word) // times
    places = [Counter(word[at::size]).most_common(1)[0][1] for at in range(size)]
    return sum(times - count for count in places) <= 1 and len(set(word)) > 1


def _length_of(seen: Seen) -> Length | None:
    """The number that says how long each word is."""
    sizes = [(len(tokens[0]), numbers) for tokens, numbers in seen.lists]
    if all(size == 1 for size, _ in sizes):
        return None  # letters: any number may happen to be 1
    for offset in (0, -1, 1):
        for slot in reversed(sizes[0][1]):
            length = Length(slot, 1, offset)
            if all(length.of(numbers) == size for size, numbers in sizes):
                return length
    return None


def _relations(pairs: dict[tuple[int, int], list[tuple[int, int]]]) -> Iterator[Relation]:
    for (left, right), values in pairs.items():
        is_certain = 0.5 ** len(values) < CHANCE
        if any(a == b for a, b in values):
            if all(a <= b for a, b in values):
                yield Relation(left, "<=", right, is_certain)
            elif all(a >= b for a, b in values):
                yield Relation(right, "<=", left, is_certain)
        elif all(a < b for a, b in values):
            yield Relation(left, "<", right, is_certain)
        elif all(a > b for a, b in values):
            yield Relation(right, "<", left, is_certain)
        else:
            yield Relation(left, "!=", right, is_certain)
