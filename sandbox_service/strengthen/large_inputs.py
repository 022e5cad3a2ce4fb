"""Makes large inputs, on which programs are too slow that are right on small ones.

Lengths are as great as the statement allows, or as seen where it says nothing, since a program may be slow beyond. One
length at a time is great where lengths are inside each other, and other ones are least.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sandbox_service.strengthen.bounds import NUMBER, RELATION, number_in
from sandbox_service.strengthen.facts import Facts, numbers_of
from sandbox_service.strengthen.form import MOST_REPEATS, Form, Item, Length, Line, Repeat, lines_in
from sandbox_service.strengthen.graphs import Graph
from sandbox_service.strengthen.inputs import FREE_LENGTH, Maker, UnmadeError
from sandbox_service.strengthen.plans import Plan
from sandbox_service.strengthen.ranges import Range
from sandbox_service.strengthen.tiers import LARGE, Made
from sandbox_service.validation.notation import plain

OF_LISTS = ("ridge", "wide", "equal", "prime")
OF_TREES = ("ridge", "wide", "equal")  # a path, a random one, and a star
OF_LINES = ("wide", "prime", "equal")  # where no pattern goes beyond a line
OF_WORDS = ("wide", "equal", "edges", "alternating")  # of them edges are the same from both ends
OF_NUMBERS = ("prime", "high", "wide")  # of inputs without a length
MOST_FOCUSED = 2  # lengths that are great alone
LEAST_LENGTH = 1000  # inputs of shorter lists are not large: other tiers have them
LEAST_NUMBER = 10**6  # … nor are numbers below
# a bound of a product of sizes, which large sizes break together
_PRODUCT = re.compile(rf"\b[a-z]\s*(?:[·⋅×*∙]|\\cdot|\\times)\s*[a-z]\s*{RELATION}\s*{NUMBER}", re.IGNORECASE)
# bounds of the length of a word: `1 ≤ |s| ≤ 10^5`, `its length does not exceed 1000`, `at most 100 letters`
_WORD_LENGTHS = (
    re.compile(rf"{RELATION}\s*(?:\|[^|\n]{{1,6}}\|\s*,?\s*)+\s*{RELATION}\s*({NUMBER})"),
    re.compile(
        rf"\blengths?\b[^.;\n]{{0,40}}?(?:exceeds?|at most|up to|(?:more|greater|longer) than|{RELATION})\s*({NUMBER})"
    ),
    re.compile(rf"\b(?:at most|up to|more than)\s*({NUMBER})\s*(?:\w+\s){{0,3}}(?:letters|characters|symbols)"),
)

Ranges = dict[int, Range]


@dataclass(frozen=True, slots=True)
class LargePlan:
    """A pattern of values, and the slot of the only length that is great; None for all lengths together."""

    pattern: str
    focus: int | None = None
    place: int = 0

    @property
    def name(self) -> str:
        """The tier of its input."""
        alone = f", only length {self.place}" if self.place else ""
        return f"{LARGE}: {self.pattern}{alone}"


@dataclass(frozen=True)
class LargeInputs:
    """The large inputs of one form.

    Attributes:
        form: Of the inputs.
        facts: Of the given inputs.
        ranges: Of numbers and lengths, as stated or seen.
        wider: Of numbers, perhaps beyond those seen.
        is_wide: The ends of edges grow with the number of nodes, and facts that chance explains need not hold, where no
            large input has them all. Otherwise only numbers grow that name parents or reach a length again and again.
        statement: Text of the problem.
        seed: Of random numbers.
        graphs: Edge lists, which are a path or have several components.
    """

    form: Form
    facts: Facts
    ranges: Ranges
    wider: Ranges
    is_wide: bool
    statement: str
    seed: str
    graphs: Sequence[Graph] = ()

    def plans(self) -> list[LargePlan]:
        """Return the plans, those first that tell most programs."""
        lengths = self._lengths
        if not lengths:
            most = max((each.high for each in self.ranges.values()), default=0)
            return [LargePlan(each) for each in OF_NUMBERS] if most >= LEAST_NUMBER else []
        together = [] if _PRODUCT.search(plain(self.statement)) else [LargePlan(each) for each in self._patterns()]
        long = [slot for slot in lengths if self.ranges[slot].high >= LEAST_LENGTH]
        if together and len(lengths) == 1:
            return together
        alone = [LargePlan("wide", slot, place) for place, slot in enumerate(long[:MOST_FOCUSED], 1)]
        return [*together[:2], *alone, *together[2:]]

    def _patterns(self) -> Sequence[str]:
        if self.facts.has_trees or self.graphs:
            return OF_TREES
        if any(line.rest for line in lines_in(self.form.items)):
            return OF_LISTS
        return OF_WORDS if any(each.kind == "word" for each in self.facts.slots.values()) else OF_LINES

    def made(self, plan: LargePlan, most_bytes: int, shrunk: int) -> Made | None:
        """Return the input of a plan, or None if there is none that is large.

        Args:
            plan: A plan.
            most_bytes: Size of the largest input.
            shrunk: Numbers without a length are so many times smaller than the greatest ones.
        """
        chance = random.Random(f"{self.seed} {plan.name} {shrunk}")  # noqa: S311
        for is_strict in (True, False) if self.is_wide else (True,):
            for ranges in self._sizes(plan, most_bytes, shrunk):
                maker = Maker(
                    self.form, self.facts, ranges, is_strict=is_strict, most_bytes=most_bytes, graphs=self.graphs
                )
                try:
                    text = maker.make(Plan("largest", "largest", plan.pattern), chance)
                except UnmadeError:
                    continue
                if self._is_large(text):
                    return Made(text, plan.name, plan.name)
        return None

    def _is_large(self, text: str) -> bool:
        """Return whether a length is great, or that of a word, or a table has many tokens."""
        tokens = text.split()
        is_long = len(tokens) >= LEAST_LENGTH or max(map(len, tokens), default=0) >= LEAST_LENGTH
        return not self._lengths or is_long or self._greatest_length(text) >= LEAST_LENGTH

    def _greatest_length(self, text: str) -> int:
        numbers = numbers_of(self.form, text)
        return max((number for slot in self._lengths for number in numbers.get(slot, ())), default=0)

    @property
    def _lengths(self) -> list[int]:
        """The slots that are lengths, and those of words of free lengths."""
        words = [slot for slot in self.facts.slots if self._is_free_word(slot)]
        found = {*self.facts.lengths, *words}
        return [slot for slot in _in_order(self.form.items) if slot in found and slot in self.ranges]

    def _is_free_word(self, slot: int) -> bool:
        facts = self.facts.slots[slot]
        return facts.kind == "word" and facts.length_of is None and not facts.words and facts.high > 1

    def _sizes(self, plan: LargePlan, most_bytes: int, shrunk: int) -> Iterator[Ranges]:
        """The ranges of the greatest lengths whose inputs have no more bytes, and of half of these."""
        lengths = self._lengths
        if not lengths:
            yield {slot: replace(each, high=max(each.low, each.high // shrunk)) for slot, each in self.ranges.items()}
            return
        most = min(max(self.ranges[slot].high for slot in lengths), MOST_REPEATS)
        left = 2
        while left and most:
            ranges = self._capped(plan, most)
            greatest = {slot: each.high for slot, each in ranges.items()}
            if self._bytes(self.form.items, ranges, greatest) <= most_bytes:
                left -= 1
                yield ranges
            most = most * 3 // 4

    def _capped(self, plan: LargePlan, most: int) -> Ranges:
        """The ranges with lengths up to `most` where the plan has great ones, and with nodes up to the greatest."""
        lengths = self._lengths
        found = {slot: each for slot, each in self.wider.items() if slot not in lengths}
        single = _single(self.form.items, lengths, plan.focus)
        for slot in lengths:
            allowed = self.ranges[slot]
            least = max(allowed.low, 0)
            if slot in single:
                one = min(max(least, 1), allowed.high)
                found[slot] = replace(allowed, low=one, high=one)
            elif plan.focus in (None, slot):
                found[slot] = replace(allowed, low=least, high=max(least, min(allowed.high, most)))
            else:
                found[slot] = replace(allowed, low=least, high=least)
        return {slot: self._bounded(slot, each, found) for slot, each in found.items()}

    def _bounded(self, slot: int, allowed: Range, ranges: Ranges) -> Range:
        """The range of a number that never exceeds a length."""
        facts = self.facts.slots[slot]
        if facts.kind != "int" or facts.at_most not in self.facts.lengths or slot in self.facts.lengths:
            return allowed
        most = ranges[facts.at_most].high if facts.at_most in ranges else allowed.high
        are_nodes = facts.parents or facts.links is not None or (self.is_wide and slot in self._ends)
        grows = are_nodes or "at_most" in facts.certain
        grows = grows and not allowed.is_stated
        return replace(allowed, high=max(allowed.low, most if grows else min(allowed.high, most)))

    @property
    def _ends(self) -> set[int]:
        """The slots of both ends of edges."""
        lines = [line for line in lines_in(self.form.items) if line.slots and line.slots[0] in self.facts.rows]
        return {
            slot
            for line in lines
            for slot in line.slots[:2]
            if self.facts.rows[line.slots[0]].nodes == self.facts.slots[slot].at_most
        }

    @property
    def _nodes(self) -> set[int]:
        """The slots of both ends of a tree's edges, which go up to the number of its nodes."""
        lines = [line for line in lines_in(self.form.items) if line.slots and line.slots[0] in self.facts.rows]
        return {slot for line in lines for slot in line.slots[:2] if self.facts.rows[line.slots[0]].tree}

    def _bytes(self, items: Sequence[Item], ranges: Ranges, greatest: Mapping[int, int]) -> int:
        """About how many bytes an input has whose lengths are the greatest ones."""
        total = 0
        for item in items:
            if isinstance(item, Repeat):
                total += _count(item.length, greatest) * self._bytes(item.body, ranges, greatest)
            else:
                total += sum(self._width(slot, ranges, greatest) for slot in item.slots)
                if item.rest is not None:
                    total += _count(item.rest.length, greatest) * self._width(item.rest.slot, ranges, greatest)
        return total

    def _width(self, slot: int, ranges: Ranges, greatest: Mapping[int, int]) -> int:
        """Bytes of a token with the blank after it."""
        facts = self.facts.slots.get(slot)
        if facts is None or slot not in ranges:
            return 1
        if facts.kind == "word":
            return 1 + (_count(facts.length_of, greatest) if facts.length_of else ranges[slot].high)
        if slot in self._nodes or (facts.permutation and facts.at_most is None):
            return 1 + len(str(max(greatest[length] for length in self._lengths)))
        return 2 + len(str(max(abs(ranges[slot].low), abs(ranges[slot].high)))) + facts.decimals - (facts.low >= 0)


def with_lengths_of_words(form: Form, ranges: Ranges, facts: Facts, statement: str) -> Ranges:
    """Return the ranges, with words of free lengths as long as the statement allows.

    Only words that are a line are meant: a word beside other tokens may be a command or a name.

    Args:
        form: Of the inputs.
        ranges: Of numbers, and of the lengths of words that were seen.
        facts: Of the given inputs.
        statement: Text of the problem. Of several bounds the least one counts.
    """
    text = plain(statement)
    found = [number_in(each[1]) for rule in _WORD_LENGTHS for each in rule.finditer(text)]
    most = min((each for each in found if each is not None), default=0)
    alone = {line.slots[0] for line in lines_in(form.items) if len(line.slots) == 1 and line.rest is None}
    words = [slot for slot, each in facts.slots.items() if each.kind == "word" and each.length_of is None]
    return ranges | {
        slot: Range(ranges[slot].low, most, is_stated=True)
        for slot in words
        if slot in alone and most > ranges[slot].high > 1
    }


def _count(length: Length | None, greatest: Mapping[int, int]) -> int:
    return FREE_LENGTH if length is None else length.of(dict(greatest)) or 0


def _in_order(items: Sequence[Item]) -> Iterator[int]:
    for line in lines_in(items):
        yield from line.slots
        if line.rest is not None:
            yield line.rest.slot


def _single(items: Sequence[Item], lengths: Sequence[int], focus: int | None) -> set[int]:
    """The slots of repeats with lengths of their own, of which there is one: cases, where one case is great."""
    found: set[int] = set()
    for item in items:
        if isinstance(item, Line):
            continue
        inside = set(_in_order(item.body)) & set(lengths)
        if item.length is not None and inside and item.length.slot != focus:
            found.add(item.length.slot)
        found |= _single(item.body, lengths, focus)
    return found
