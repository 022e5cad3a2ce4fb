"""Makes trees: paths, stars and random ones, with nodes from 1 on."""

from __future__ import annotations

import random


def edges(nodes: int, pattern: str, chance: random.Random) -> list[tuple[int, int]]:
    """Return the edges of a tree, each in a random direction, unless the pattern is ascending.

    Args:
        nodes: The number of nodes.
        pattern: equal and low give stars, high and descending give paths; other names give random trees.
        chance: Random numbers.
    """
    found = []
    for node in range(2, nodes + 1):
        if pattern in ("equal", "low"):
            parent = 1
        elif pattern in ("ascending", "high", "descending"):
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
