"""The knowledge of a problem's inputs, from given ones and the statement, and the check of texts against it."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from functools import cached_property

from sandbox_service.strengthen.examples import learnt
from sandbox_service.strengthen.facts import Facts, facts_of, numbers_of, sums_of, without_ranges
from sandbox_service.strengthen.form import Form, Length, Line, Repeat, lines_in
from sandbox_service.strengthen.graphs import graphs_of
from sandbox_service.strengthen.limits import over_limit
from sandbox_service.strengthen.ranges import Range, ranges_of
from sandbox_service.strengthen.statement import rules_of


class KnownInputs:
    """The form of the inputs, its facts and graphs, and the rules of the statement.

    Attributes:
        form: Of the inputs, or None.
        inputs: The given inputs and those of the statement's examples that have the form.
        facts: Of these.
        graphs: The edge lists of the form.
    """

    def __init__(self, given: Sequence[str], examples: Sequence[str], statement: str) -> None:
        """Learn from inputs and a statement.

        Args:
            given: The inputs of the given tests.
            examples: Those of the statement's examples.
            statement: Text of the problem.
        """
        self._statement = statement
        self._rules = rules_of(statement)
        self.form, self.inputs = learnt(given, examples, lambda *known: not self._unexplained(*known))
        self.facts = Facts({}, (), frozenset(), {})
        self._limits: dict[int, int] = {}
        self._numbers = [numbers_of(self.form, each) for each in self.inputs] if self.form else []
        self._kept = self._rules.kept(self._numbers)
        if self.form is not None:
            self.facts = facts_of(self.form, self.inputs)
            self._limits = self._limits_of()
            self.facts = facts_of(self.form, self.inputs, self._limits)
        rules = bool(self.unexplained)
        self.graphs = graphs_of(self.form.items, self.facts, statement, has_rules=rules) if self.form else []

    def _limits_of(self) -> dict[int, int]:
        """The slots with a limit of the statement that no known input exceeds, and the slots of these limits."""
        ranges = self.ranges(self.facts, is_wide=False)
        return {slot: each.limit for slot, each in ranges.items() if each.limit is not None and each.is_stated}

    def _unexplained(self, form: Form, inputs: Sequence[str]) -> str:
        numbers = [numbers_of(form, each) for each in inputs]
        return self._rules.unexplained(facts_of(form, inputs), numbers)

    @property
    def unexplained(self) -> str:
        """A rule of the statement that no fact of the inputs expresses; empty if there is none."""
        if self.form is None:
            return next(iter(self._rules.sentences), "")
        return self._rules.unexplained(self.facts, self._numbers)

    @property
    def is_number(self) -> bool:
        """True if an input is a single number."""
        if self.form is None:
            return False
        found = list(self.facts.slots.values())
        return len(found) == 1 and found[0].kind == "int" and self.form.items == tuple(lines_in(self.form.items))

    @property
    def has_given_words(self) -> bool:
        """True if there are words of which few were seen."""
        return any(each.given and not each.words for each in self.facts.slots.values())

    @property
    def has_cases(self) -> bool:
        """True if an input is a number of cases and the cases, as the statement says."""
        items = self.form.items if self.form else ()
        if len(items) != 2 or not self._rules.has_cases:
            return False
        head, cases = items
        if not (isinstance(head, Line) and len(head.slots) == 1 and head.rest is None and isinstance(cases, Repeat)):
            return False
        return cases.length == Length(head.slots[0])

    def ranges(self, facts: Facts, *, is_wide: bool, most: int = 0, longest: int = 0) -> dict[int, Range]:
        """Return the range of each slot; no more than seen for those with a limit that a given input exceeds.

        Args:
            facts: Those of the inputs, perhaps with fewer words.
            is_wide: Numbers go beyond those seen.
            most: If they do, numbers whose bound nothing says go up to this.
            longest: If they do, lengths whose bound nothing says go up to this.
        """
        form = self._of_a_form()
        found = ranges_of(form, facts, self._statement, is_wide=is_wide, most=most, longest=longest)
        broken = {found[slot].limit for each in self.inputs for slot in over_limit(form, each, found)}
        for slot in [slot for slot, each in found.items() if each.limit in broken]:
            seen = facts.slots[slot]
            found[slot] = replace(found[slot], low=seen.low, high=seen.high, is_stated=False)
        return found

    def _of_a_form(self) -> Form:
        assert self.form is not None
        return self.form

    @cached_property
    def _stated(self) -> dict[int, Range]:
        """The ranges of the statement, or as seen."""
        return self.ranges(self.facts, is_wide=False)

    # --- texts that keep it

    def keeps_rules(self, text: str) -> bool:
        """Return whether a text keeps the sums, properties and limits that the statement gives.

        Args:
            text: An input, which may have another form.
        """
        if self.form is None:
            return True
        if not self.form.fits(text):
            return not self._kept
        is_within_limits = not over_limit(self.form, text, self._stated)
        return is_within_limits and self._keeps_sums(self.form, text) and self._keeps_properties(self.form, text)

    def _keeps_sums(self, form: Form, text: str) -> bool:
        """Return whether no number has a sum beyond a bound of the statement that its sums in given inputs keep."""
        if not self._rules.sums:
            return True
        most = max(self._rules.sums)
        given = [sums_of(form, each) for each in self.inputs]
        are_bounded = {slot for each in given for slot in each if all(one.get(slot, 0) <= most for one in given)}
        are_bounded -= self._ends  # the sum of the names of nodes is of no interest
        return all(total <= most for slot, total in sums_of(form, text).items() if slot in are_bounded)

    @cached_property
    def _ends(self) -> set[int]:
        """The slots of the ends of edges."""
        rows = self.facts.rows
        trees = [line.slots[:2] for line in lines_in(self.form.items) if line.slots] if self.form else []
        found = [ends for ends in trees if ends[0] in rows and (rows[ends[0]].tree or rows[ends[0]].connected)]
        return {end for ends in (*found, *(each.ends for each in self.graphs)) for end in ends}

    def _keeps_properties(self, form: Form, text: str) -> bool:
        """Return whether numbers have the properties that the statement says and those of given inputs have."""
        numbers = numbers_of(form, text) if self._kept else {}
        return all(each.is_in(numbers) for each in self._kept)

    def keeps_ways(self, text: str) -> bool:
        """Return whether lists that name parents, and permutations, stay such: references may follow them for ever.

        Args:
            text: Of the form.
        """
        ways = {slot: each for slot, each in self.facts.slots.items() if each.links or each.permutation}
        found = self.facts_with(text).slots if ways else {}
        are_links = all(found[slot].links for slot, each in ways.items() if each.links)
        return are_links and all(found[slot].permutation for slot, each in ways.items() if each.permutation)

    def facts_with(self, text: str) -> Facts:
        """Return the facts of the known inputs and a text.

        Args:
            text: Of the form.
        """
        return facts_of(self._of_a_form(), [*self.inputs, text], self._limits)

    def is_like(self, text: str) -> bool:
        """Return whether all facts of the known inputs hold in a text, within their ranges or the statement's.

        Args:
            text: Of the form.
        """
        return self.is_within(text) and without_ranges(self.facts_with(text)) == without_ranges(self.facts)

    def is_within(self, text: str, besides: Set[int] = frozenset()) -> bool:
        """Return whether the numbers of a text are within the known ranges or the statement's.

        Args:
            text: Of the form.
            besides: Slots whose numbers may be any.
        """
        form, stated = self._of_a_form(), self._stated
        return not over_limit(form, text, stated) - besides and all(
            slot in stated and stated[slot].low <= each.low and each.high <= stated[slot].high
            for slot, each in facts_of(form, [text]).slots.items()
            if slot not in besides
        )
