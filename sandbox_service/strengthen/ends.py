"""Reads what the first two tokens of repeated lines show if these are the ends of the edges of a graph."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sandbox_service.strengthen.form import Numbers, whole

Edges = list[tuple[int, int]]
Block = tuple[list[tuple[str, ...]], Numbers]  # the lines of a repeated part, and the numbers before it


@dataclass(frozen=True, slots=True)
class Ends:
    """Observations of the ends of edges in all inputs.

    Attributes:
        low: The least end.
        bounds: The slots of numbers that no end exceeds, in their order.
        reached: Those of them that some end equals.
        chances: How likely random ends are that exceed no greatest end of their column, by bound.
        columns: By place of each further whole number of a line, the slots of earlier numbers that it never exceeds.
        degree: The greatest number of edges of a node.
        edges: The greatest number of edges.
        has_doubles: Two edges have the same nodes.
        has_copies: Two edges have the same nodes in the same order.
        has_loops: An edge leads to where it begins.
        is_forest: There is no cycle.
        is_acyclic: Directed edges form no cycle.
    """

    low: int
    bounds: tuple[int, ...]
    reached: frozenset[int]
    chances: tuple[float, ...]
    columns: tuple[tuple[int, tuple[int, ...]], ...]
    degree: int
    edges: int
    has_doubles: bool
    has_copies: bool
    has_loops: bool
    is_forest: bool
    is_acyclic: bool


def ends_of(blocks: Sequence[Block]) -> Ends | None:
    """Return what the lines of these blocks show, or None if some of their first two tokens are no nodes.

    Args:
        blocks: The lines of a repeated part, and the numbers before it.
    """
    graphs = [_edges(rows) for rows, _ in blocks]
    found = [(edges, numbers) for edges, (_, numbers) in zip(graphs, blocks, strict=True) if edges]
    every = [edge for edges, _ in found for edge in edges]
    if any(edges is None for edges in graphs) or not every or min(map(min, every)) < 0:
        return None
    bounds = [
        slot
        for slot in blocks[0][1]
        if all(slot in numbers and max(map(max, edges)) <= numbers[slot] for edges, numbers in found)
    ]
    kept = [edges for edges, _ in found]
    return Ends(
        low=min(map(min, every)),
        bounds=tuple(bounds),
        reached=frozenset(
            slot for slot in bounds if any(max(map(max, edges)) == numbers[slot] for edges, numbers in found)
        ),
        chances=tuple(min(_chance(found, slot, place) for place in (0, 1)) for slot in bounds),
        columns=tuple(_columns(blocks)),
        degree=max(max(Counter(node for edge in edges for node in edge).values()) for edges in kept),
        edges=max(map(len, kept)),
        has_doubles=any(len(set(map(frozenset, edges))) < len(edges) for edges in kept),
        has_copies=any(len(set(edges)) < len(edges) for edges in kept),
        has_loops=any(one == other for one, other in every),
        is_forest=all(map(_is_forest, kept)),
        is_acyclic=all(map(_is_acyclic, kept)),
    )


def _edges(rows: Sequence[tuple[str, ...]]) -> Edges | None:
    """The first two numbers of each line; None if something else is there."""
    pairs = [(whole(row[0]), whole(row[1])) for row in rows if len(row) > 1]
    found = [(one, other) for one, other in pairs if one is not None and other is not None]
    return found if len(found) == len(rows) else None


def _chance(found: Iterable[tuple[Edges, Numbers]], slot: int, place: int) -> float:
    return math.prod(
        min(max(edge[place] for edge in edges) / max(numbers[slot], 1), 1) ** len(edges) for edges, numbers in found
    )


def _columns(blocks: Sequence[Block]) -> Iterable[tuple[int, tuple[int, ...]]]:
    """The slots of numbers that the further numbers of the lines never exceed, by place."""
    filled = [(rows, numbers) for rows, numbers in blocks if rows]
    for place in range(2, len(filled[0][0][0])):
        columns = [([whole(row[place]) for row in rows], numbers) for rows, numbers in filled]
        if all(number is not None for column, _ in columns for number in column):
            greatest = [(max(number or 0 for number in column), numbers) for column, numbers in columns]
            yield (
                place,
                tuple(
                    slot
                    for slot in filled[0][1]
                    if all(slot in numbers and most <= numbers[slot] for most, numbers in greatest)
                ),
            )


def _is_forest(edges: Edges) -> bool:
    parents: dict[int, int] = {}

    def root(node: int) -> int:
        while parents.setdefault(node, node) != node:
            parents[node] = parents[parents[node]]
            node = parents[node]
        return node

    for one, other in edges:
        if root(one) == root(other):
            return False
        parents[root(one)] = root(other)
    return True


def _is_acyclic(edges: Edges) -> bool:
    """Return whether the edges can be taken away, one node without edges that lead to it after the other."""
    following: dict[int, list[int]] = {}
    entering: Counter[int] = Counter()
    for one, other in edges:
        following.setdefault(one, []).append(other)
        entering[other] += 1
    ready = [node for node in following if not entering[node]]
    left = len(edges)
    while ready:
        for other in following.get(ready.pop(), ()):
            left -= 1
            entering[other] -= 1
            if not entering[other]:
                ready.append(other)
    return not left
