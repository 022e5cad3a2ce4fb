"""Ranges of the numbers of nodes and edges of graphs, which depend on each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from sandbox_service.strengthen.facts import Facts
from sandbox_service.strengthen.form import Item, Line, Numbers, Repeat
from sandbox_service.strengthen.ranges import Range
from sandbox_service.strengthen.rows import Rows


class GraphSizes:
    """The numbers of nodes and edges in inputs of a form."""

    def __init__(self, items: Sequence[Item], facts: Facts, ranges: Mapping[int, Range]) -> None:
        self._graphs = dict(_graphs(items, facts))
        self._ranges = ranges

    def within(
        self, slot: int, allowed: Range, numbers: Numbers, is_connected: Callable[[Rows], bool]
    ) -> tuple[int, int]:
        """Return the least and the greatest number that a slot may have after these.

        Args:
            slot: Of any number.
            allowed: Its range.
            numbers: The numbers before it.
            is_connected: Whether made graphs are connected.
        """
        low, high = allowed.low, allowed.high
        for edges_slot, rows in self._graphs.items():
            is_one = rows.tree or is_connected(rows)
            if slot == rows.nodes and is_one:
                high = min(high, self._ranges[edges_slot].high + 1)
            if slot == edges_slot and rows.nodes in numbers:
                nodes = numbers[rows.nodes]
                high = min(high, nodes * (nodes - 1) // 2) if rows.distinct else high
                high = min(high, nodes - 1) if rows.tree else high
                low = max(low, nodes - 1) if is_one else low
        return low, high


def _graphs(items: Sequence[Item], facts: Facts) -> Iterator[tuple[int, Rows]]:
    """The slots with numbers of edges, where a number of nodes is known, too."""
    for item in items:
        if not isinstance(item, Repeat):
            continue
        first = item.body[0]
        is_plain = item.length is not None and item.length.factor == 1 and not item.length.offset
        if is_plain and isinstance(first, Line) and first.slots:
            rows = facts.rows.get(first.slots[0])
            if rows is not None and rows.nodes is not None and item.length is not None:
                yield item.length.slot, rows
        yield from _graphs(item.body, facts)
