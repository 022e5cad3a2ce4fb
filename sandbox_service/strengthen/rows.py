"""Facts of repeated lines: distinct ones, and lines whose first two tokens are the edges of a graph."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sandbox_service.strengthen.ends import Block as Block
from sandbox_service.strengthen.ends import Ends, ends_of

CHANCE = 0.05  # a fact that chance gives more rarely is certain


@dataclass(frozen=True, slots=True)
class Rows:
    """Facts of the lines of a repeated part, by the slot that such a line begins with.

    Attributes:
        distinct: No line comes twice, in either order of its first two tokens.
        different: No line comes twice.
        tree: The first two tokens of the lines are the edges of a tree.
        nodes: The slot with the number of nodes, if the first two tokens are nodes.
        connected: They are the edges of a connected graph.
        is_certain: Chance does not explain that it is connected.
        ends: What the lines show if they are edges.
    """

    distinct: bool
    tree: bool
    nodes: int | None = None
    different: bool = False
    connected: bool = False
    is_certain: bool = True
    ends: Ends | None = field(default=None, compare=False)


def rows_of(blocks: Sequence[Block], bounds: Sequence[int | None]) -> Rows:
    """Return the facts of the lines in these blocks.

    Args:
        blocks: The lines of a repeated part, and the numbers before it.
        bounds: The slots whose numbers their first two tokens never exceed; one if a line has one token.
    """
    lines = [rows for rows, _ in blocks]
    are_distinct = _are_distinct(lines)
    are_different = all(len(set(each)) == len(each) for each in lines) and any(len(each) > 1 for each in lines)
    found = _graph(blocks, bounds, are_distinct=are_distinct)
    return replace(found, different=are_different, ends=ends_of(blocks) if len(bounds) > 1 else None)


def may_be_nodes(blocks: Sequence[Block], rows: Rows) -> bool:
    """Return whether each line may be that of a node: there are as many as nodes, or one less, if that is known.

    Edges that are sorted by their first ends look like lists of parents.

    Args:
        blocks: The lines of a repeated part, and the numbers before it.
        rows: Their facts.
    """
    return rows.nodes is None or all(numbers.get(rows.nodes, 0) - len(lines) in (0, 1) for lines, numbers in blocks)


def _graph(blocks: Sequence[Block], bounds: Sequence[int | None], *, are_distinct: bool) -> Rows:
    lines = [rows for rows, _ in blocks]
    if len(bounds) < 2:
        return Rows(are_distinct, tree=False)
    if all(_parts(rows, len(rows) + 1) == 1 for rows in lines):
        counts = [slot for slot in blocks[0][1] if all(numbers.get(slot) == len(rows) + 1 for rows, numbers in blocks)]
        return Rows(are_distinct, tree=True, nodes=counts[0] if counts else None)
    slots = [slot for slot in blocks[0][1] if all(_are_connected(rows, numbers.get(slot)) for rows, numbers in blocks)]
    if slots:
        chance = math.prod(_chance_of_connection(numbers[slots[0]], len(rows)) for rows, numbers in blocks)
        return Rows(are_distinct, tree=False, nodes=slots[0], connected=True, is_certain=chance < CHANCE)
    return Rows(are_distinct, tree=False, nodes=bounds[0] if len(set(bounds)) == 1 else None)


def _are_distinct(blocks: Sequence[Sequence[tuple[str, ...]]]) -> bool:
    if not any(len(block) > 1 and len(block[0]) > 1 for block in blocks):
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
