"""Makes inputs of a form: lists of several shapes, one element, sizes up to the largest, random ones.

Each input follows from a number and a seed alone. With `is_strict` every fact about the given inputs is kept;
otherwise only those that chance does not explain.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from sandbox_service.strengthen.edge_lines import ShapedGraphs, are_different, distinct_lines, edge_lines
from sandbox_service.strengthen.facts import Facts, Relation, SlotFacts
from sandbox_service.strengthen.form import Form, Item, Line, Numbers, Repeat, Value, case_slots, column_slots, whole
from sandbox_service.strengthen.graph_sizes import GraphSizes
from sandbox_service.strengthen.graphs import Graph
from sandbox_service.strengthen.links import made_links
from sandbox_service.strengthen.patterns import LISTS, arranged, distinct_numbers, log_uniform
from sandbox_service.strengthen.plans import MOST, Plan
from sandbox_service.strengthen.ranges import Range
from sandbox_service.strengthen.rows import Rows
from sandbox_service.strengthen.special_numbers import prime_below, special
from sandbox_service.strengthen.trees import by_parent, connected, edges
from sandbox_service.strengthen.words import widened, word_of

TRIES = 12
FREE_LENGTH = 12  # tokens of a list whose length nothing says
NEAR_SHARE = 0.4  # of lengths are those of an earlier one, or one more or less, where this is possible
SCALE = 100  # times as great: no number of the same kind
AGAIN = {"low": "narrow", "high": "edges"}  # patterns of numbers whose relation the first ones break


class UnmadeError(Exception):
    """No input of this plan keeps the facts, or it is too large."""


class Maker:
    """Makes inputs of one form."""

    def __init__(
        self,
        form: Form,
        facts: Facts,
        ranges: dict[int, Range],
        *,
        is_strict: bool,
        most_bytes: int = 100_000,
        letters: bool = False,
        kept: Mapping[Line, Sequence[Value]] | None = None,
        graphs: Sequence[Graph] = (),
    ) -> None:
        """Make inputs with these facts.

        Args:
            form: What the inputs look like.
            facts: What holds in all of them.
            ranges: From and to which number, by slot.
            is_strict: Keep uncertain facts too.
            most_bytes: Size of the largest input.
            letters: Words have all letters of an alphabet of which some were seen.
            kept: Lines of the form that have one of these values.
            graphs: Edge lists whose graphs have shapes.
        """
        self.form, self._facts, self.ranges = form, facts, ranges
        self._is_strict = is_strict
        self._most_bytes = most_bytes
        self._letters = letters
        self.relations = [
            each for each in facts.relations if each.is_certain or (is_strict and not _is_of_scale(each, ranges, facts))
        ]
        self.kept = kept or {}
        self._cases = frozenset(case_slots(form.items))
        self._columns = frozenset(column_slots(form.items))
        self._sizes = GraphSizes(form.items, facts, ranges)
        self.graphs = {each.edges: each for each in graphs}

    def make(self, plan: Plan, chance: random.Random, numbers: Mapping[int, Sequence[int]] | None = None) -> str:
        """Return an input.

        Args:
            plan: Sizes and pattern.
            chance: Random numbers.
            numbers: By slot, its first numbers, or the nearest ones that are allowed.

        Raises:
            UnmadeError: There is none of this plan.
        """
        making = _Making(self, plan, chance, self._most_bytes, numbers or {})
        text = self.form.text(making.items(self.form.items, {}))
        if not self.form.fits(text):
            raise UnmadeError("the input does not have the form")
        return text

    def holds(self, facts: SlotFacts, name: str) -> bool:
        """Return whether the fact of this name is to be kept."""
        return self._is_strict or name in facts.certain

    @property
    def facts(self) -> Facts:
        """The facts of the form."""
        return self._facts

    def alphabet_of(self, facts: SlotFacts) -> str:
        """Return the letters of a slot's words."""
        return widened(facts.alphabet) if self._letters else facts.alphabet

    def range_of(self, slot: int, numbers: Numbers) -> Range:
        """Return the numbers that a slot may have after these."""
        each, facts = self.ranges[slot], self._facts.slots[slot]
        low, high = self._sizes.within(slot, each, numbers, self.keeps_connected)
        is_count = each.low >= 0  # no number that may be negative is bound by a count: chance explains that
        if (stated := each.most(numbers)) is not None:
            high = min(high, stated)
        elif is_count and facts.at_most in numbers and self.holds(facts, "at_most"):
            high = min(high, numbers[facts.at_most] - (facts.is_below and self._is_strict))
        if low > high:
            raise UnmadeError("no number is allowed here")
        return Range(low, high)

    def allows(self, slot: int, numbers: Numbers) -> bool:
        """Return whether the number of a slot is within its range and its limit."""
        allowed, number = self.ranges.get(slot), numbers.get(slot)
        if allowed is None or number is None:
            return True
        most = allowed.most(numbers)
        return allowed.low <= number <= (allowed.high if most is None else min(allowed.high, most))

    def keeps_connected(self, rows: Rows) -> bool:
        """Return whether lines are to be the edges of a connected graph."""
        return rows.connected and (self._is_strict or rows.is_certain)

    def keeps_different(self, rows: Rows) -> bool:
        """Return whether no line is to come twice."""
        return rows.different and self._is_strict

    def is_cases(self, slot: int, chance: random.Random) -> bool:
        """Return whether a slot says how many cases there are, each with lengths of its own.

        Lines of one token may be cases, or the items of a list: chance decides.
        """
        return slot in self._cases and (slot not in self._columns or chance.random() < 0.5)


def _is_of_scale(relation: Relation, ranges: Mapping[int, Range], facts: Facts) -> bool:
    """Return whether one number is so much greater than the other one in all inputs that no rule need be the reason.

    The statement has to give the range of each by itself.
    """
    stated = [ranges.get(slot) for slot in (relation.left, relation.right)]
    if not all(each is not None and each.is_stated and each.limit is None for each in stated):
        return False
    sizes = [(facts.slots[slot].low, facts.slots[slot].high) for slot in (relation.left, relation.right)]
    (_, smaller), (greater, _) = sorted(sizes)
    return greater > SCALE * max(smaller, 1)


class _Making:
    """One input in the making."""

    def __init__(
        self, maker: Maker, plan: Plan, chance: random.Random, most_bytes: int, numbers: Mapping[int, Sequence[int]]
    ) -> None:
        self._maker, self._plan, self._chance = maker, plan, chance
        self._first = {slot: iter(each) for slot, each in numbers.items()}
        self._left = most_bytes
        self._shaped = ShapedGraphs(maker.graphs, plan, chance)

    def items(self, items: Sequence[Item], numbers: Numbers) -> list[Any]:
        return [self._line(item, numbers) if isinstance(item, Line) else self._repeat(item, numbers) for item in items]

    def _spend(self, tokens: Sequence[str]) -> None:
        self._left -= sum(map(len, tokens)) + len(tokens) + 1
        if self._left < 0:
            raise UnmadeError("too large")

    # --- repeated parts

    def _repeat(self, item: Repeat, numbers: Numbers) -> list[Any]:
        count = item.length.of(numbers) if item.length else self._chance.randint(1, FREE_LENGTH)
        if count is None:
            raise UnmadeError("a length is negative")
        first = item.body[0]
        if len(item.body) == 1 and isinstance(first, Line) and first.slots:
            rows = self._maker.facts.rows.get(first.slots[0])
            if (graph := self._shaped.of(first)) is not None:
                return self._shape(first, graph, count, numbers)
            if rows is not None and rows.tree:
                return self._edges(first, edges(count + 1, self._plan.pattern, self._chance), numbers)
            if rows is not None and self._maker.keeps_connected(rows):
                return self._edges(first, self._graph(rows, count, numbers), numbers)
            columns = self._columns(first, count)
            if rows is not None and not columns and (rows.distinct or self._maker.keeps_different(rows)):
                return self._distinct(first, count, numbers, is_ordered=not rows.distinct)
            turns = [self.items(item.body, numbers) for _ in range(count)]
            turns = self._linked(first, turns, columns)
            if rows is not None and rows.distinct and len({frozenset(turn[0].tokens[:2]) for turn in turns}) < count:
                raise UnmadeError("a line comes twice")
            return turns
        return [self.items(item.body, numbers) for _ in range(count)]

    def _linked(self, line: Line, turns: list[Any], columns: Mapping[int, Sequence[int]]) -> list[Any]:
        """The same lines with these numbers in some places, if they break no relation of a line."""
        relations = self._relations_in(line)
        for place, column in columns.items():
            for turn, number in zip(turns, column, strict=True):
                turn[0].tokens[place] = str(number)
                for other, token in self._beside(line.slots[place], number):
                    turn[0].tokens[other] = token
        for turn in turns if columns else ():
            found = {slot: whole(token) for slot, token in zip(line.slots, turn[0].tokens, strict=True)}
            known = {slot: each for slot, each in found.items() if each is not None}
            if not all(_is_kept(each, known) for each in relations):
                raise UnmadeError("the links break a relation")
        return turns

    def _beside(self, slot: int, number: int) -> Sequence[tuple[int, str]]:
        """Tokens at other places of a line with a link, by place: some if the node is a root."""
        links = self._maker.facts.slots[slot].links
        return links.beside if links and links.root == number else ()

    def _relations_in(self, line: Line) -> list[Relation]:
        return [each for each in self._maker.relations if each.left in line.slots and each.right in line.slots]

    def _columns(self, line: Line, count: int) -> dict[int, list[int]]:
        """The links in repeated lines, by their place in the line."""
        found = {}
        for place, slot in enumerate(line.slots if line.rest is None and count else ()):
            facts = self._maker.facts.slots.get(slot)
            if facts is not None and (links := self._links(facts, count)) is not None:
                found[place] = links
        return found

    def _links(self, facts: SlotFacts, count: int) -> list[int] | None:
        """A list of links, where the facts say that it is one."""
        if facts.links:  # never by chance
            return made_links(count, facts.links, self._plan.pattern, self._chance)
        if facts.parents and self._maker.holds(facts, "parents"):
            return [parent for _, parent in by_parent(count + 1, self._plan.pattern, self._chance)]
        return None

    def _graph(self, rows: Rows, count: int, numbers: Numbers) -> list[tuple[int, int]]:
        nodes = numbers.get(rows.nodes, 0) if rows.nodes is not None else 0
        if not nodes - 1 <= count <= nodes * (nodes - 1) // 2 or count * 4 > self._left:
            raise UnmadeError("no connected graph has so many edges")
        return connected(nodes, count, self._plan.pattern, self._chance)

    def _shape(self, line: Line, graph: Graph, count: int, numbers: Numbers) -> list[Any]:
        """Lines of a graph that has a shape."""
        found = self._shaped.edges(graph, count, numbers)
        lines = [] if found is None else self._edges(line, found, numbers, graph.most(numbers))
        is_free = not self._maker.keeps_different(self._maker.facts.rows[line.slots[0]])
        if found is None or not (is_free or are_different(lines)):
            raise UnmadeError("no graph has so many edges")
        return lines

    def _edges(
        self, line: Line, pairs: Sequence[tuple[int, int]], numbers: Numbers, bounded: Mapping[int, int] | None = None
    ) -> list[Any]:
        return edge_lines(line, pairs, lambda: self._line(line, numbers), self._relations_in(line), bounded)

    def _distinct(self, line: Line, count: int, numbers: Numbers, *, is_ordered: bool) -> list[Any]:
        found = distinct_lines(lambda pattern: self._line(line, numbers, pattern), count, is_ordered=is_ordered)
        if found is None:
            raise UnmadeError("too few distinct lines")
        return found

    # --- lines

    def _line(self, line: Line, numbers: Numbers, pattern: str | None = None) -> Value:
        if (values := self._maker.kept.get(line)) is not None:
            return self._kept(line, values, numbers)
        relations = self._relations_in(line)
        related = {slot for each in relations for slot in (each.left, each.right)}
        again = AGAIN.get(self._plan.pattern, "wide")
        for turn in range(TRIES):
            patterns = {slot: again if turn and slot in related else pattern for slot in line.slots}
            tokens = [self._token(slot, numbers, patterns[slot]) for slot in line.slots]
            if all(_is_kept(each, numbers) for each in relations):
                break
            if self._mended(line, tokens, relations, numbers):
                break
        else:
            raise UnmadeError("the relations of a line are not met")
        rest = self._list(line, numbers) if line.rest is not None else []
        self._spend([*tokens, *rest])
        return Value(tokens, rest)

    def _kept(self, line: Line, values: Sequence[Value], numbers: Numbers) -> Value:
        """A value of the line in a given input, with as many items as earlier numbers say."""
        fitting = []
        for value in values:
            known = {slot: number for slot, token in zip(line.slots, value.tokens, strict=True)
                     if (number := whole(token)) is not None}  # fmt: skip
            length = line.rest.length.of({**numbers, **known}) if line.rest and line.rest.length else len(value.rest)
            if length == len(value.rest):
                fitting.append((value, known))
        if not fitting:
            raise UnmadeError("no given line has this length")
        value, known = self._chance.choice(fitting)
        numbers.update(known)
        self._spend([*value.tokens, *value.rest])
        return value

    def _mended(self, line: Line, tokens: list[str], relations: Sequence[Relation], numbers: Numbers) -> bool:
        """Exchange two numbers that are in the wrong order; return whether all relations hold then."""
        for each in relations:
            left, right = line.slots.index(each.left), line.slots.index(each.right)
            if each.sign != "!=" and numbers[each.left] > numbers[each.right]:
                tokens[left], tokens[right] = tokens[right], tokens[left]
                numbers[each.left], numbers[each.right] = numbers[each.right], numbers[each.left]
        are_allowed = all(self._maker.allows(slot, numbers) for slot in line.slots)
        return are_allowed and all(_is_kept(each, numbers) for each in relations)

    def _token(self, slot: int, numbers: Numbers, pattern: str | None = None) -> str:
        facts = self._maker.facts.slots.get(slot)
        if facts is None:
            raise UnmadeError("a slot was never seen")
        if facts.kind == "word":
            numbers.pop(slot, None)
            return self._word(facts, slot, numbers)
        if facts.kind == "real":
            return self._real(facts)
        allowed = self._maker.range_of(slot, numbers)
        given = next(self._first[slot], None) if slot in self._first else None
        if given is not None:
            number = min(max(given, allowed.low), allowed.high)
        elif slot in self._maker.facts.lengths:
            number = self._length(slot, allowed, numbers)
        else:
            number = self._marked(facts, self._single(allowed, numbers, pattern or self._plan.pattern))
        numbers[slot] = number
        return str(number)

    def _length(self, slot: int, allowed: Range, numbers: Numbers) -> int:
        low, chance = max(allowed.low, 0), self._chance
        if (count := self._shaped.count(slot, Range(low, allowed.high), numbers)) is not None:
            return count
        scale = self._plan.cases if self._maker.is_cases(slot, chance) else self._plan.size
        if scale == "least" or allowed.high <= low:
            return low
        if scale == "one":
            return min(max(low, 1), allowed.high)
        most = min(allowed.high, max(MOST[scale], low))
        # as many edges as nodes, or one less: most graphs with a random number of edges are dense
        others = [numbers[each] for each in self._maker.facts.lengths if each in numbers and each != slot]
        near = [each + by for each in others for by in (-1, 0, 1) if low <= each + by <= most]
        if near and chance.random() < NEAR_SHARE:
            return chance.choice(near)
        if scale == "largest" and not self._plan.is_large:
            return min(most, max(low, self._left // 12))
        if scale in ("cases", "deep", "largest"):
            return most
        return chance.randint(low, most)

    def _single(self, allowed: Range, numbers: Numbers, pattern: str) -> int:
        low, high, chance = allowed.low, allowed.high, self._chance
        if low >= high:
            return low
        if pattern == "low":
            return low
        if pattern == "high":
            return high
        if pattern == "narrow":
            return chance.randint(low, min(high, low + 3))
        if pattern == "edges":
            return chance.choice([low, low + 1, high - 1, high])
        if pattern == "special":
            return special(low, high, chance)
        if pattern == "prime":
            return max(low, prime_below(high)) if high > 1 else high
        if pattern == "lower half":
            return chance.randint(low, (low + high) // 2)
        tied = [number for number in numbers.values() if low <= number <= high]
        if pattern in ("equal", "alternating") and tied:
            return chance.choice(tied)
        return log_uniform(low, high, chance) if chance.random() < 0.5 else chance.randint(low, high)

    def _list(self, line: Line, numbers: Numbers) -> list[str]:
        assert line.rest is not None
        length = line.rest.length.of(numbers) if line.rest.length else self._chance.randint(1, FREE_LENGTH)
        if length is None:
            raise UnmadeError("a length is negative")
        if length == 0:
            return []
        if length * 2 > self._left:
            raise UnmadeError("too large")
        slot = line.rest.slot
        facts = self._maker.facts.slots.get(slot)
        if facts is None:
            raise UnmadeError("a slot was never seen")
        if facts.kind == "word":
            return [self._word(facts, slot, numbers) for _ in range(length)]
        if facts.kind == "real":
            return [self._real(facts) for _ in range(length)]
        allowed, first = self._maker.range_of(slot, numbers), self._first.get(slot, iter(()))
        kept = (each for each in first if allowed.low <= each <= allowed.high)
        return [str(number) for number in self._numbers(facts, allowed, length, kept)]

    def _numbers(self, facts: SlotFacts, allowed: Range, length: int, first: Iterator[int]) -> list[int]:
        holds, chance, pattern = self._maker.holds, self._chance, self._plan.pattern
        if facts.permutation and holds(facts, "permutation"):
            return arranged(list(range(1, length + 1)), pattern, chance)
        if (links := self._links(facts, length)) is not None:
            return links
        if facts.distinct and holds(facts, "distinct"):
            if allowed.high - allowed.low + 1 < length:
                raise UnmadeError("too few distinct numbers")
            found = distinct_numbers(allowed, length, pattern, chance)
        else:
            found = [self._marked(facts, each) for each in LISTS[pattern](allowed.low, allowed.high, length, chance)]
            found = [*islice(first, length), *found][:length]
        if facts.order and holds(facts, "order"):
            found.sort(reverse=facts.order in ("descending", "falling"))
            if facts.order in ("rising", "falling") and len(set(found)) < length:
                raise UnmadeError("too few distinct numbers")
        return found

    def _marked(self, facts: SlotFacts, number: int) -> int:
        """The number, or -1 in place of 0 where -1 stands for none."""
        return -1 if not number and facts.has_marker and self._maker.holds(facts, "marker") else number

    def _real(self, facts: SlotFacts) -> str:
        chance, pattern = self._chance, self._plan.pattern
        if pattern in ("low", "high"):
            value = float(facts.low if pattern == "low" else facts.high)
        else:
            value = chance.uniform(facts.low, facts.high)
        return f"{value:.{facts.decimals}f}"

    def _word(self, facts: SlotFacts, slot: int, numbers: Numbers) -> str:
        if facts.words:
            return self._chance.choice(facts.words)
        length = facts.length_of.of(numbers) if facts.length_of else self._word_length(slot)
        if length is None or length > self._left:
            raise UnmadeError("a word is too long")
        parts = facts.repeats if self._maker.holds(facts, "repeats") else 1
        return word_of(self._maker.alphabet_of(facts), length, parts, self._plan.pattern, self._chance)

    def _word_length(self, slot: int) -> int:
        allowed = self._maker.range_of(slot, {})
        if self._plan.is_large:
            return allowed.high
        most = min(allowed.high, max(MOST.get(self._plan.size, 1), allowed.low))
        return self._chance.randint(allowed.low, max(most, allowed.low))


def _is_kept(relation: Relation, numbers: Numbers) -> bool:
    left, right = numbers.get(relation.left), numbers.get(relation.right)
    if left is None or right is None:
        return True
    return left != right if relation.sign == "!=" else left < right or (relation.sign == "<=" and left == right)
