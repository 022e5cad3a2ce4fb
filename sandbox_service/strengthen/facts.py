"""Facts about the tokens of a form, learnt from the given inputs: kinds, ranges, order, and ties to lengths.

A fact holds in all inputs. `is_certain` says that chance alone hardly explains it: with several references an uncertain
fact may be dropped, since an input that breaks a rule of the problem is likely to make them differ.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal

from sandbox_service.strengthen.form import Form, Item, Length, Line, Numbers, Repeat, Value, whole

Kind = Literal["int", "real", "word"]
Order = Literal["", "ascending", "rising", "descending", "falling"]

LEAST_INPUTS, LEAST_AT_BOUND = 8, 3  # with so many inputs, of which so many have the greatest number, it is a bound
CHANCE = 0.05  # a fact that chance gives more rarely is certain
MOST_PARTS = (4, 3, 2)  # equal parts of words
LEAST_PART = 3  # letters of such a part
MOST_WORDS = 12  # a vocabulary with more words is none
Block = tuple[list[tuple[str, ...]], Numbers]  # the lines of a repeated part, and the numbers before it
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
        at_most: A slot whose number is never exceeded.
        length_of: A slot with the length of each word.
        repeats: So many equal parts that each word has, but for one letter; 1 for no such parts.
        order: Of the items of each list.
        distinct: No list has an item twice.
        permutation: Each list has the numbers from 1 on.
        parents: No item exceeds its place, from 1 on, as where trees name the parent of each further node.
        certain: Names of the facts that chance does not explain; `high` if the greatest number is a bound.
    """

    kind: Kind
    low: int = 0
    high: int = 0
    decimals: int = 0
    alphabet: str = ""
    words: tuple[str, ...] = ()
    at_most: int | None = None
    length_of: Length | None = None
    repeats: int = 1
    order: Order = ""
    distinct: bool = False
    permutation: bool = False
    parents: bool = False
    certain: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation of two numbers in the same line that always holds: <, <= or !=. `is_certain`: by more than chance."""

    left: int
    sign: Literal["<", "<=", "!="]
    right: int
    is_certain: bool = True


@dataclass(frozen=True, slots=True)
class Rows:
    """Facts of the lines of a repeated part, by the slot that such a line begins with.

    Attributes:
        distinct: No line comes twice, in either order of its first two tokens.
        tree: The first two tokens of the lines are the edges of a tree.
        nodes: The slot with the number of nodes, if the first two tokens are nodes.
        connected: They are the edges of a connected graph.
        is_certain: Chance does not explain that it is connected.
    """

    distinct: bool
    tree: bool
    nodes: int | None = None
    connected: bool = False
    is_certain: bool = True


@dataclass(frozen=True)
class Facts:
    """The facts of all slots, the relations between them, the slots that are lengths, and facts of repeated lines."""

    slots: dict[int, SlotFacts]
    relations: tuple[Relation, ...]
    lengths: frozenset[int]
    rows: dict[int, Rows]


def facts_of(form: Form, inputs: Sequence[str]) -> Facts:
    """Return the facts that hold in all inputs, which have the form."""
    seen: dict[int, Seen] = {}
    pairs: dict[tuple[int, int], list[tuple[int, int]]] = {}
    blocks: dict[tuple[int, ...], list[Block]] = {}
    for text in inputs:
        _collect(form.items, form.parse(text), {}, seen, pairs, blocks)
    slots = {slot: _facts(each) for slot, each in seen.items()}
    rows = {ends[0]: _rows(each, [slots.get(end) for end in ends]) for ends, each in blocks.items()}
    lengths = {*_lengths(form.items), *(each.length_of.slot for each in slots.values() if each.length_of)}
    lengths |= {each.nodes for each in rows.values() if each.nodes is not None}
    return Facts(slots, tuple(_relations(pairs)), frozenset(lengths), rows)


def without_ranges(facts: Facts) -> Facts:
    """Return the facts without least and greatest numbers, and without a word on which of them are certain."""
    slots = {slot: replace(each, low=0, high=0, certain=frozenset()) for slot, each in facts.slots.items()}
    relations = tuple(replace(each, is_certain=True) for each in facts.relations)
    rows = {slot: replace(each, is_certain=True) for slot, each in facts.rows.items()}
    return replace(facts, slots=slots, relations=relations, rows=rows)


def _rows(blocks: Sequence[Block], ends: Sequence[SlotFacts | None]) -> Rows:
    """The facts of the lines in these blocks. `ends`: those of their first two tokens."""
    lines = [rows for rows, _ in blocks]
    are_distinct = _are_distinct(lines)
    if all(_parts(rows, len(rows) + 1) == 1 for rows in lines):
        return Rows(are_distinct, tree=True)
    slots = [slot for slot in blocks[0][1] if all(_are_connected(rows, numbers.get(slot)) for rows, numbers in blocks)]
    if slots:
        chance = math.prod(_chance_of_connection(numbers[slots[0]], len(rows)) for rows, numbers in blocks)
        return Rows(are_distinct, tree=False, nodes=slots[0], connected=True, is_certain=chance < CHANCE)
    bounds = {None if end is None else end.at_most for end in ends}
    return Rows(are_distinct, tree=False, nodes=bounds.pop() if len(bounds) == 1 else None)


def _are_distinct(blocks: Sequence[Sequence[tuple[str, ...]]]) -> bool:
    if not any(len(block) > 2 for block in blocks):
        return False
    return all(len({frozenset(row[:2]) for row in block}) == len(block) for block in blocks)


def _are_connected(rows: Sequence[tuple[str, ...]], nodes: int | None) -> bool:
    return nodes is not None and 1 < nodes <= len(rows) + 1 and _parts(rows, nodes) == 1


def _chance_of_connection(nodes: int, edges: int) -> float:
    """The chance that random edges leave no node alone, which is about that of connecting all (Erdős and Rényi)."""
    return math.exp(-nodes * math.exp(-2 * edges / nodes))


def _parts(rows: Sequence[tuple[str, ...]], nodes: int) -> int:
    """Return how many parts rows as edges leave of the nodes from 1 on; 0 if a row names no two of them."""
    parents: dict[str, str] = {str(node): str(node) for node in range(1, nodes + 1)}

    def root(node: str) -> str:
        while parents[node] != node:
            parents[node] = parents[parents[node]]
            node = parents[node]
        return node

    for row in rows:
        if row[0] not in parents or row[1] not in parents or row[0] == row[1]:
            return 0
        parents[root(row[0])] = root(row[1])
    return sum(node == parent for node, parent in parents.items())


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
            if len(item.body) == 1 and isinstance(first, Line) and len(first.slots) >= 2 and first.rest is None:
                rows = [tuple(turn[0].tokens) for turn in value]
                blocks.setdefault(first.slots[:2], []).append((rows, dict(numbers)))
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
    parents = (
        seen.is_list and all(number <= place for each in lists for place, number in enumerate(each, 1)) and low > 0
    )
    if _is_bound(seen, low, high):
        certain.add("high")
    at_most = _at_most(seen)
    if at_most is not None and _meets(seen, at_most):
        certain.add("at_most")
    return SlotFacts(
        "int", low, high, at_most=at_most, order=order, distinct=distinct, permutation=permutation,
        parents=parents, certain=frozenset(certain),
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
    is_few = len(distinct) <= MOST_WORDS and len(tokens) >= 2 * len(distinct)
    is_vocabulary = is_few and max(sizes) > 1 and length_of is None
    return SlotFacts(
        "word",
        min(sizes),
        max(sizes),
        alphabet="".join(sorted({letter for token in tokens for letter in token})) or "a",
        words=tuple(distinct) if is_vocabulary else (),
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
