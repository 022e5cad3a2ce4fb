"""Makes trees, of which some are paths and stars, and connected graphs, with nodes from 1 on."""

from __future__ import annotations

import random
from collections.abc import Iterable
from itertools import combinations


def edges(nodes: int, pattern: str, chance: random.Random) -> list[tuple[int, int]]:
    """Return the edges of a tree, each in a random direction, unless the pattern is ascending.

    Args:
        nodes: The number of nodes.
        pattern: equal and low give stars, high, descending and ridge give paths; other names give random trees.
        chance: Random numbers.
    """
    found = []
    for node in range(2, nodes + 1):
        if pattern in ("equal", "low"):
            parent = 1
        elif pattern in ("ascending", "high", "descending", "ridge"):
            parent = node - 1
        else:
            parent = chance.randint(max(1, node - 5) if pattern == "narrow" else 1, node - 1)
        found.append((parent, node))
    if pattern == "ascending":
        return found
    names = list(range(1, nodes + 1))
    chance.shuffle(names)
    turned = [(names[a - 1], names[b - 1]) if chance.random() < 0.5 else (names[b - 1], names[a - 1]) for a, b in found]
    chance.shuffle(turned)
    return turned


def connected(nodes: int, edges_wanted: int, pattern: str, chance: random.Random) -> list[tuple[int, int]]:
    """Return the edges of a connected graph without loops and double edges: a tree of the pattern and random edges.

    Args:
        nodes: The number of nodes.
        edges_wanted: At least `nodes - 1`, at most one for each pair of nodes.
        pattern: Of the tree.
        chance: Random numbers.
    """
    found = edges(nodes, pattern, chance)
    known = {frozenset(edge) for edge in found}
    left, pairs = edges_wanted - len(found), nodes * (nodes - 1) // 2
    if 3 * edges_wanted > pairs:  # few pairs are free: list them
        free = [pair for pair in combinations(range(1, nodes + 1), 2) if frozenset(pair) not in known]
        return [*found, *chance.sample(free, left)]
    while left:
        one, other = chance.randint(1, nodes), chance.randint(1, nodes)
        if one != other and frozenset((one, other)) not in known:
            known.add(frozenset((one, other)))
            found.append((one, other))
            left -= 1
    return found


def parts_of(nodes: Iterable[int], pairs: Iterable[tuple[int, int]]) -> list[set[int]]:
    """Return the components of a graph.

    Args:
        nodes: Its nodes.
        pairs: Its edges.
    """
    found = {node: {node} for node in nodes}
    for one, other in pairs:
        small, large = sorted((found[one], found[other]), key=len)
        if small is not large:
            large |= small
            found.update(dict.fromkeys(small, large))
    return list({id(each): each for each in found.values()}.values())


def by_parent(nodes: int, pattern: str, chance: random.Random) -> list[tuple[int, int]]:
    """Return nodes from 2 on with their parents, which come before them.

    Args:
        nodes: How many nodes the tree has.
        pattern: equal and low give stars, ascending, high, descending and ridge paths.
        chance: Random numbers.
    """
    if pattern in ("equal", "low"):
        return [(node, 1) for node in range(2, nodes + 1)]
    if pattern in ("ascending", "high", "descending", "ridge"):
        return [(node, node - 1) for node in range(2, nodes + 1)]
    return [(node, chance.randint(1, node - 1)) for node in range(2, nodes + 1)]
