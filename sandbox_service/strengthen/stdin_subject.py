"""The subject of problems whose programs read stdin: inputs of a form, in tiers."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain

from sandbox_service.formats.problem import Problem
from sandbox_service.schema import StdinTest, TestCase
from sandbox_service.strengthen import enumerated, tables, tiers
from sandbox_service.strengthen.examples import examples_in
from sandbox_service.strengthen.facts import numbers_of, of_given_words
from sandbox_service.strengthen.form import lines_in, trimmed
from sandbox_service.strengthen.graph_kinds import kind_in, rank_in
from sandbox_service.strengthen.graphs import facts_with, ranges_with
from sandbox_service.strengthen.inputs import Maker, UnmadeError
from sandbox_service.strengthen.known_inputs import KnownInputs
from sandbox_service.strengthen.large_inputs import LargeInputs, with_lengths_of_words
from sandbox_service.strengthen.plans import Plan, plan_of
from sandbox_service.strengthen.ranges import Range
from sandbox_service.strengthen.runs import Program
from sandbox_service.strengthen.thinning import Thinner
from sandbox_service.strengthen.tiers import LEAST_JUDGES, Made, Tier, Wanted
from sandbox_service.strengthen.token_changes import changed
from sandbox_service.strengthen.uniqueness import uniqueness_of
from sandbox_service.strengthen.words import widened
from sandbox_service.validation.duplicates import text_of

TRIES = 4  # for each input that is wanted
THINNED_TURNS = 4  # of thinned inputs, for one of a usual tier, where a rule is unknown
EACH = 6  # inputs of a tier that was not tried before, where there are enough others
PLANS_APART = 5  # tiers begin with other plans
SMALL_NUMBERS = 30  # of inputs that are a number
MOST_SMALL, MOST_LENGTH = 5, 10  # greatest distance of small numbers and lengths from the least one
MOST_NODES = 16  # … of numbers of nodes
MOST_ALIKE = 3  # graphs with the same components, while there are others
MOST_DEEP = 4  # turns with inputs of long paths: each costs much more than a small one


class StdinSubject:
    """Whole programs that read stdin."""

    def __init__(self, problem: Problem, tests: Sequence[StdinTest]) -> None:
        self._problem, self._tests = problem, tests
        given, statement = [each.input for each in tests], text_of(problem)
        self._taken = {_words(each) for each in given}
        examples = examples_in(statement)
        self._examples = [each for each in examples if _words(each) not in self._taken]
        self._uniqueness = uniqueness_of(problem)
        self._known = known = KnownInputs(given, examples, statement)
        self._form, self._inputs, self._facts, self._graphs = known.form, known.inputs, known.facts, known.graphs
        self._thinner = Thinner(self._form, self._facts) if self._form else None

    @property
    def form(self) -> str:
        """See `Subject`."""
        return "form" if self._form else "tokens"

    @property
    def most_seconds(self) -> float:
        """See `Subject`."""
        return math.inf

    @property
    def unexplained(self) -> str:
        """See `Subject`."""
        return self._known.unexplained

    # --- making

    def made(self, wanted: Wanted) -> list[Made]:
        """See `Subject`."""
        found: dict[str, Made] = {}
        alike: dict[str, Made] = {}  # graphs of a kind of which there are enough
        kinds = Counter[str]()
        for made in self._candidates(wanted):
            if len(found) == wanted.count:
                break
            is_new = _words(made.text) not in self._taken and len(made.text.encode()) <= wanted.most_bytes
            if is_new and made.text not in found and self._known.keeps_rules(made.text):
                kinds[made.how] += 1
                is_common = made.tier == tiers.GRAPHS.name and kinds[made.how] > MOST_ALIKE
                (alike if is_common else found)[made.text] = made
        return self._ranked(list((found | alike).values())[: wanted.count])

    def _ranked(self, made: Sequence[Made]) -> list[Made]:
        """The same inputs, of whose graphs those come first that programs take for others by counting."""
        if not self._graphs or self._form is None:
            return list(made)
        numbers = {each.text: numbers_of(self._form, each.text) for each in made if each.tier == tiers.GRAPHS.name}
        shaped = [each for each in made if each.text in numbers]
        ranked = iter(sorted(shaped, key=lambda each: rank_in(numbers[each.text], self._graphs[0], each.how)))
        return [next(ranked) if each.text in numbers else each for each in made]

    def _candidates(self, wanted: Wanted) -> Iterator[Made]:
        """Inputs of the round's tiers, which take turns."""
        used = self._tiers(wanted)
        if not wanted.round:
            yield from (Made(each, "an example of the statement", tiers.EXAMPLES.name) for each in self._examples)
        if tiers.SMALL in used and not wanted.round:
            yield from self._enumerated(wanted)
        turns = EACH if wanted.is_enough else wanted.count * TRIES // max(len(used), 1) + 1
        maker = cache(lambda tier: self._maker(tier, wanted))
        for turn in range(turns):
            for place, tier in enumerate(used):
                if tier.is_deep and turn >= MOST_DEEP:
                    continue
                number = turn + PLANS_APART * place + turns * wanted.round
                chance = random.Random(f"{self._problem.id} {wanted.round} {place} {turn}")  # noqa: S311
                if tier is tiers.CASES:
                    made = self._recombined(chance)
                elif tier is tiers.THINNED:
                    made = self._thinned(number, chance)
                elif tier.is_near or tier.given is not None:
                    made = self._changed(tier, number, chance, wanted)
                else:
                    made = _made(maker(tier), tier, number, chance)
                if made is not None:
                    yield made

    def large(self, wanted: Wanted, names: Container[str] | None = None, shrunk: int = 1) -> list[Made]:
        """See `Subject`."""
        if self._form is None or (self.unexplained and not wanted.is_validated):
            return []
        facts, statement = facts_with(self._facts, self._graphs), text_of(self._problem)
        is_wide = self._may_be_wide(wanted)
        found = [self._known.ranges(self._facts, is_wide=each) for each in (False, is_wide)]
        ranges, wider = (ranges_with(each, self._graphs, each) for each in found)
        ranges = with_lengths_of_words(self._form, ranges, facts, statement)
        makes = LargeInputs(self._form, facts, ranges, wider, is_wide, statement, self._problem.id, self._graphs)
        plans = [each for each in makes.plans() if names is None or each.name in names]
        made = [makes.made(each, wanted.most_bytes, shrunk) for each in plans]
        new = {each.text: each for each in made[::-1] if each is not None}  # of equal inputs the first
        kept = [each for each in made if each is not None and new[each.text] is each]
        return [each for each in kept if self._known.keeps_rules(each.text)]

    def _enumerated(self, wanted: Wanted) -> Iterator[Made]:
        """Inputs that are not left to chance: the least, the greatest, and those of small and special numbers."""
        assert self._form is not None
        chance = random.Random(f"{self._problem.id} enumerated")  # noqa: S311
        for tier, plans in ((tiers.LEAST, enumerated.LEAST_PLANS), (tiers.GREATEST, enumerated.GREATEST_PLANS)):
            yield from filter(None, (_of_plan(self._maker(tier, wanted), tier, plan, chance) for plan in plans))
        if self._known.is_number:
            yield from self._small_numbers(wanted)
        maker = self._maker(tiers.SPECIAL, wanted)
        for each in enumerated.specials(self._form, maker):
            if made := _of_plan(maker, tiers.SPECIAL, each.plan, chance, each.numbers):
                yield made

    def _small_numbers(self, wanted: Wanted) -> Iterator[Made]:
        """The least numbers, one after the other, of inputs that are a number."""
        maker = self._maker(tiers.WIDER, wanted)
        [(slot, allowed)] = maker.ranges.items()
        for number in range(allowed.low, min(allowed.high, allowed.low + SMALL_NUMBERS) + 1):
            if number or not maker.facts.slots[slot].has_marker:
                yield Made(f"{number}\n", f"{tiers.SMALL.name}: one after the other", tiers.SMALL.name)

    def _tiers(self, wanted: Wanted) -> list[Tier]:
        """The tiers of a round: at first the usual ones, then those that these suggest and those that are believed."""
        first = self._first(wanted)
        if not wanted.round:
            return first
        if self.unexplained and not wanted.is_validated:
            return []
        lines = len(list(lines_in(self._form.items))) if self._form else 0
        new = tiers.following(wanted, lines, is_wide=self._may_be_wide(wanted), has_words=self._known.has_given_words)
        believed = [each for each in first if each.name not in wanted.doubted]
        return new if wanted.is_enough else [*new, *believed]

    def _first(self, wanted: Wanted) -> list[Tier]:
        judges = wanted.judges
        cases = [tiers.CASES] if self._known.has_cases else []
        if self.unexplained and judges < LEAST_JUDGES:
            return cases
        given = tiers.changed(len(self._inputs))
        given += [tiers.CONSTANTS] if wanted.constants.numbers else []
        if self._form is None:
            return given
        given += cases
        if not self._may_be_wide(wanted):
            thinned = [tiers.THINNED] * THINNED_TURNS if self.unexplained and self._can_thin() else []
            return self._with_graphs([tiers.SEEN] * max(5 - len(given), 2) + [tiers.SMALL] + given + thinned)
        facts = self._facts
        deep = [tiers.DEEP] if facts.has_trees and not self._graphs else []
        if judges < LEAST_JUDGES:
            return [tiers.WIDER, tiers.SMALL, *given, *deep]
        words = [each for each in facts.slots.values() if each.kind == "word" and not each.words]
        lengths = bool(facts.lengths) or any(each.low < each.high for each in words)
        has_letters = any(widened(each.alphabet) != each.alphabet for each in words)
        wide = tiers.beyond(has_lengths=lengths, has_letters=has_letters, digits=wanted.digits)
        first, second = wide[: len(wide) // 2], wide[len(wide) // 2 :]
        small, loose = tiers.SMALL, tiers.SMALL_LOOSE
        return self._with_graphs(
            [tiers.SEEN, small, *first, loose, tiers.SEEN, small, *second, loose, *given, small, *deep]
        )

    def _with_graphs(self, used: Sequence[Tier]) -> list[Tier]:
        """The tiers, each with one of graphs after it where inputs have graphs."""
        if not self._graphs:
            return list(used)
        found = [*chain(*((each, tiers.GRAPHS) for each in used)), tiers.DEEP_GRAPHS]
        return [*found[: len(used)], tiers.DEEP_GRAPHS, *found[len(used) :]]

    def _may_be_wide(self, wanted: Wanted) -> bool:
        """Return whether inputs may go beyond those seen.

        Two references suffice for a single number: there is hardly a rule that it can break but its range.
        """
        if self.unexplained and not wanted.is_validated:
            return False
        judges = wanted.judges
        return judges >= LEAST_JUDGES or (judges == LEAST_JUDGES - 1 and self._known.is_number)

    def _maker(self, tier: Tier, wanted: Wanted) -> Maker:
        """A maker of inputs like the given ones; with far numbers or lengths a loose one."""
        assert self._form is not None
        facts = of_given_words(self._facts) if tier.has_given_words else self._facts
        is_wide = tier.is_wide and self._may_be_wide(wanted)
        ranges = self._known.ranges(facts, is_wide=is_wide, most=tier.most, longest=tier.longest)
        stated, graphs = ranges, self._graphs if tier.is_graph else []
        facts = facts_with(facts, graphs)
        if tier.is_small:
            most = MOST_NODES if graphs else MOST_LENGTH
            ranges = {
                slot: _small(each, most if slot in facts.lengths else MOST_SMALL) for slot, each in ranges.items()
            }
        ranges = ranges_with(ranges, graphs, stated)
        kept = [line for place, line in enumerate(lines_in(self._form.items)) if place in tier.kept]
        values = {line: self._form.values_of(line, self._inputs) for line in kept}
        return Maker(
            self._form, facts, ranges, is_strict=not tier.is_loose, most_bytes=wanted.most_bytes,
            letters=tier.letters, kept=values, graphs=graphs,
        )  # fmt: skip

    def _changed(self, tier: Tier, number: int, chance: random.Random, wanted: Wanted) -> Made | None:
        """A given input, or one with a rare answer, with some tokens changed."""
        inputs = wanted.rare if tier.is_near else self._inputs
        place = number if tier.given is None or tier.given < 0 else tier.given
        near = wanted.constants.near if tier.has_constants else ()
        text, form = changed(inputs, place, chance, near), self._form
        keeps = self._known.keeps_ways if wanted.judges >= LEAST_JUDGES else self._known.is_like
        if form is not None and not (form.fits(text) and keeps(text)):
            return None
        return Made(text, f"{tier.name}: changed tokens", tier.name)

    def _thinned(self, number: int, chance: random.Random) -> Made | None:
        """A known input with fewer lines or other names of nodes, if that keeps all facts."""
        assert self._form is not None
        assert self._thinner is not None
        text = self._thinner.make(self._inputs[number % len(self._inputs)], chance)
        if not self._form.fits(text) or not self._known.is_within(text, besides=self._thinner.names):
            return None
        if self._thinner.shown(self._known.facts_with(text)) != self._thinner.shown(self._facts):
            return None
        return Made(text, tiers.THINNED.name, tiers.THINNED.name)

    def _can_thin(self) -> bool:
        return self._thinner is not None and self._thinner.can

    def _recombined(self, chance: random.Random) -> Made | None:
        """Some of the given cases, no more than one input has."""
        assert self._form is not None
        parsed = [self._form.parse(each) for each in self._inputs]
        every = [case for _, cases in parsed for case in cases]
        most = max(len(cases) for _, cases in parsed)
        count = chance.randint(1, min(most, len(every)))
        picked = chance.sample(every, count)
        text = self._form.text([replace(parsed[0][0], tokens=[str(count)]), picked])
        if not self._form.fits(text) or not self._known.is_within(text):
            return None
        return Made(text, tiers.CASES.name, tiers.CASES.name)

    # --- the output of other programs

    @property
    def printed(self) -> str:
        """See `Subject`."""
        return "one input of the problem, as a solution reads it from standard input"

    @property
    def example(self) -> str:
        """See `Subject`."""
        return min(self._inputs, key=len)

    def admitted(self, text: str, *, judges: int) -> str | None:
        """See `Subject`."""
        text = trimmed(text) + "\n"
        if judges >= LEAST_JUDGES:
            return text
        form = self._form
        return text if form is not None and form.fits(text) and self._known.is_like(text) else None

    # --- programs and tests

    def asking(self, reference: Program) -> Program:
        """See `Subject`."""
        return reference

    def test(self, made: Made, output: str) -> TestCase | None:
        """See `Subject`."""
        if not output.strip() or not (self._uniqueness is None or self._uniqueness.is_unique(output)):
            return None
        return StdinTest(input=made.text, output=output)

    def merged(self, tests: Sequence[TestCase]) -> list[TestCase]:
        """See `Subject`."""
        return list(tests)

    def merged_audit(self, tests: Sequence[TestCase]) -> list[TestCase]:
        """See `Subject`."""
        return list(tests)

    def tables(self) -> list[tables.Table]:
        """See `Subject`."""
        return tables.of_inputs([(each.input, each.outputs[0]) for each in self._tests])


def _words(text: str) -> str:
    return " ".join(text.split())


def _small(allowed: Range, most: int) -> Range:
    """The small numbers of a range: those next to 0, or to its least number."""
    low = max(allowed.low, -most)
    return replace(allowed, low=low, high=max(low, min(allowed.high, max(low, 0) + most)))


def _made(maker: Maker, tier: Tier, number: int, chance: random.Random) -> Made | None:
    plan = plan_of(
        number,
        is_long=bool(tier.longest),
        is_small=tier.is_small,
        is_deep=tier.is_deep,
        is_graph=tier.is_graph,
    )
    return _of_plan(maker, tier, plan, chance)


def _of_plan(
    maker: Maker, tier: Tier, plan: Plan, chance: random.Random, numbers: Mapping[int, Sequence[int]] | None = None
) -> Made | None:
    try:
        text = maker.make(plan, chance, numbers)
    except UnmadeError:
        return None
    kind = _kind(maker, text) if tier.is_graph and not tier.is_deep else plan.name
    return Made(text, f"{tier.name}: {kind}", tier.name)


def _kind(maker: Maker, text: str) -> str:
    """Return the kind of the first graph of an input."""
    return kind_in(numbers_of(maker.form, text), next(iter(maker.graphs.values())))
