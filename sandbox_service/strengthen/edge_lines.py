"""Makes repeated lines that are edges of a graph, or that never come twice."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence

from sandbox_service.strengthen.facts import Relation
from sandbox_service.strengthen.form import Line, Numbers, Value, whole
from sandbox_service.strengthen.graphs import Graph
from sandbox_service.strengthen.plans import Plan
from sandbox_service.strengthen.ranges import Range
from sandbox_service.strengthen.shapes import Edges, deep, shaped

TRIES = 12  # for each distinct line


class ShapedGraphs:
    """The graphs of one input: the shape comes first, and says how many edges there are."""

    def __init__(self, graphs: Mapping[int, Graph], plan: Plan, chance: random.Random) -> None:
        self._graphs, self._plan, self._chance = graphs, plan, chance
        self._made: dict[int, Edges] = {}

    def count(self, slot: int, allowed: Range, numbers: Numbers) -> int | None:
        """Return the number of edges of a new graph, or None if a slot does not say it or no graph was found.

        Args:
            slot: Of any length.
            allowed: Its range.
            numbers: The numbers before it.
        """
        graph = self._graphs.get(slot)
        if graph is None or graph.nodes not in numbers:
            return None
        found = self._new(graph, numbers[graph.nodes], allowed.low, allowed.high)
        if found is None:
            return None
        self._made[slot] = found
        return len(found)

    def of(self, line: Line) -> Graph | None:
        """Return the graph whose edges have lines of a form.

        Args:
            line: The lines.
        """
        return next((each for each in self._graphs.values() if each.ends == line.slots[:2]), None)

    def edges(self, graph: Graph, count: int, numbers: Numbers) -> Edges | None:
        """Return the edges of a graph, or None if no graph has so many.

        Args:
            graph: One of the input.
            count: Of its edges.
            numbers: The numbers before them.
        """
        nodes, found = numbers.get(graph.nodes, 0), self._made.pop(graph.edges, None)
        if found is None or len(found) != count or any(max(edge) >= nodes for edge in found):
            found = self._new(graph, nodes, count, count)
        return None if found is None else [(one + graph.base, other + graph.base) for one, other in found]

    def _new(self, graph: Graph, nodes: int, few: int, most: int) -> Edges | None:
        if nodes < 1:
            return None if few else []
        if self._plan.size == "deep" or self._plan.pattern == "ridge":
            return deep(nodes, few, most, self._plan.pattern, graph.keeps, self._chance)
        return shaped(nodes, few, most, graph.keeps, self._chance)


def edge_lines(
    line: Line,
    pairs: Iterable[tuple[int, int]],
    make: Callable[[], Value],
    relations: Sequence[Relation],
    bounded: Mapping[int, int] | None = None,
) -> list[list[Value]]:
    """Return lines that begin with these nodes, in the order that the two have in all given inputs.

    Args:
        line: Of the form.
        pairs: The nodes.
        make: Makes a line.
        relations: Those that hold in a line.
        bounded: The greatest numbers at further places.
    """
    ends = line.slots[:2]
    is_rising = any(each.sign != "!=" and (each.left, each.right) == ends for each in relations)
    is_falling = any(each.sign != "!=" and (each.right, each.left) == ends for each in relations)
    found = []
    for pair in pairs:
        value = make()
        turned = sorted(pair, reverse=is_falling) if is_rising or is_falling else pair
        further = [_bounded(token, (bounded or {}).get(at)) for at, token in enumerate(value.tokens)]
        found.append([Value([*map(str, turned), *further[2:]], value.rest)])
    return found


def _bounded(token: str, most: int | None) -> str:
    number = whole(token)
    return token if number is None or most is None or number <= most else str(most)


def are_different(lines: Sequence[Sequence[Value]]) -> bool:
    """Return whether no line comes twice.

    Args:
        lines: Single lines.
    """
    return len({tuple(value.tokens) for [value] in lines}) == len(lines)


def distinct_lines(make: Callable[[str | None], Value], count: int, *, is_ordered: bool) -> list[list[Value]] | None:
    """Return lines of which none comes twice, or None if there are too few.

    Args:
        make: Makes a line of a pattern; None for that of the plan.
        count: How many lines.
        is_ordered: Lines with the same two tokens in another order are others.
    """
    seen: set[frozenset[str] | tuple[str, ...]] = set()
    found: list[list[Value]] = []
    for _ in range(count * TRIES):
        if len(found) == count:
            break
        value = make("wide" if found else None)
        key = tuple(value.tokens) if is_ordered else frozenset(value.tokens[:2])
        if key not in seen:
            seen.add(key)
            found.append([value])
    return found if len(found) == count else None
