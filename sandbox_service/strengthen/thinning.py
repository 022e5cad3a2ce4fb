"""Takes lines away from given inputs, and gives other names to their nodes.

Fewer edges, queries or clauses keep most rules that no fact expresses: no path between two nodes, at most two of each,
no two that meet. Rules of a graph hold under any names of its nodes. References still judge the result.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from sandbox_service.strengthen.facts import Facts, Relation, without_ranges
from sandbox_service.strengthen.form import Form, Item, Length, Line, Repeat, Value, lines_in, whole

NONE = -1  # of lines that refer to others by their numbers
LEAVE_ALL_SHARE = 0.3  # of inputs keep all lines, if their nodes get other names

Change = Callable[[int, str], str]
"""Returns the new token for a slot and a token."""


class Thinner:
    """Makes such inputs of one form."""

    def __init__(self, form: Form, facts: Facts) -> None:
        """Find the lines that can be taken away and the numbers that are names of nodes.

        Args:
            form: Of the inputs.
            facts: What holds in all of them.
        """
        self._form = form
        uses = list(_uses(form.items))
        self._thinned = [
            place for place, item in enumerate(form.items) if isinstance(item, Repeat) and _is_free(item, uses, facts)
        ]
        nodes = {each.nodes for each in facts.rows.values()} - {None}
        has_values = any(each.slot in nodes and not each.offset for each in uses)  # one for each node
        self._nodes = None if has_values or len(nodes) != 1 else nodes.pop()
        self.names = {
            slot
            for slot, each in facts.slots.items()
            if each.kind == "int" and each.at_most == self._nodes is not None and each.low > 0
        } - facts.lengths
        self._ordered = [
            each for each in facts.relations if each.sign != "!=" and {each.left, each.right} <= self.names
        ]

    @property
    def can(self) -> bool:
        """Return whether there is anything to change."""
        return bool(self._thinned or self.names)

    def make(self, text: str, chance: random.Random) -> str:
        """Return an input like this one.

        Args:
            text: Has the form.
            chance: Random numbers.
        """
        values = self._form.parse(text)
        changes: dict[int, str] = {}
        keeps_all = bool(self.names) and chance.random() < LEAVE_ALL_SHARE
        for place in () if keeps_all else self._thinned:
            item = self._form.items[place]
            assert isinstance(item, Repeat)
            assert item.length is not None
            kept = chance.randint(0, len(values[place])) if len(values[place]) > 1 else len(values[place])
            values[place] = chance.sample(values[place], kept)
            changes[item.length.slot] = str(kept)
        names = self._new_names(values, chance) if self.names else {}

        def change(slot: int, token: str) -> str:
            return changes.get(slot) or (names.get(token, token) if slot in self.names else token)

        return self._form.text(_changed(self._form.items, values, change, self._ordered))

    def shown(self, facts: Facts) -> Facts:
        """Return the facts that are to stay: those of the lines, but not the ranges, and not those of lengths.

        Args:
            facts: Of some inputs.
        """
        facts = without_ranges(facts)
        slots = {slot: replace(each, is_below=False) for slot, each in facts.slots.items() if slot not in facts.lengths}
        relations = tuple(each for each in facts.relations if not {each.left, each.right} & facts.lengths)
        return replace(facts, slots=slots, relations=relations)

    def _new_names(self, values: Sequence[Any], chance: random.Random) -> dict[str, str]:
        """Each node's new name, if the number of nodes is a single token before all lists."""
        for item, value in zip(self._form.items, values, strict=True):
            if isinstance(item, Line) and self._nodes in item.slots:
                count = whole(value.tokens[item.slots.index(self._nodes)]) or 0
                names = [str(node) for node in range(1, count + 1)]
                return dict(zip(names, chance.sample(names, count), strict=True))
        return {}


def _is_free(item: Repeat, uses: Sequence[Length], facts: Facts) -> bool:
    """Return whether nothing refers to the number of these lines, or to a line by its number."""
    if item.length is None or item.length.factor > 1 or item.length.offset:
        return False
    slot = item.length.slot
    columns = [facts.slots[each] for line in lines_in(item.body) for each in line.slots if each in facts.slots]
    may_refer = any(each.kind == "int" and (each.links or each.parents or each.low == NONE) for each in columns)
    bounds = {each.at_most for each in facts.slots.values()} | {each.nodes for each in facts.rows.values()}
    return slot not in bounds and [each.slot for each in uses].count(slot) == 1 and not may_refer


def _uses(items: Sequence[Item]) -> Iterator[Length]:
    """Yield the lengths of a form."""
    for item in items:
        if isinstance(item, Repeat):
            if item.length is not None:
                yield item.length
            yield from _uses(item.body)
        elif item.rest is not None and item.rest.length is not None:
            yield item.rest.length


def _changed(items: Sequence[Item], values: Sequence[Any], change: Change, ordered: Sequence[Relation]) -> list[Any]:
    """The same values with other tokens, two of which are exchanged where their order breaks a relation."""
    found: list[Any] = []
    for item, value in zip(items, values, strict=True):
        if isinstance(item, Repeat):
            found.append([_changed(item.body, turn, change, ordered) for turn in value])
        else:
            tokens = [change(slot, token) for slot, token in zip(item.slots, value.tokens, strict=True)]
            for each in ordered:
                if each.left in item.slots and each.right in item.slots:
                    left, right = item.slots.index(each.left), item.slots.index(each.right)
                    tokens[left], tokens[right] = sorted((tokens[left], tokens[right]), key=int)
            rest = [change(item.rest.slot, token) for token in value.rest] if item.rest else []
            found.append(Value(tokens, rest))
    return found
