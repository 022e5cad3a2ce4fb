"""Lists of links: each item names the parent of the node at its place, and roots have a number that is no node."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sandbox_service.strengthen.trees import by_parent

ROOTS = (0, -1)
TREES_SHARE, LINKED_SHARE = 0.4, 0.8  # of forests that are one tree, and of the nodes of others that have a parent
CHANCE = 0.05  # of as many random numbers to be links, above which they are none


@dataclass(frozen=True, slots=True)
class Links:
    """The facts of such lists.

    Attributes:
        root: The number that roots have.
        is_single: Each list has a single root.
        beside: Of numbers at one place of a repeated line, what stands at other places of the lines of roots, always.
    """

    root: int
    is_single: bool
    beside: tuple[tuple[int, str], ...] = ()


def links_of(lists: Sequence[Sequence[int]]) -> Links | None:
    """Return the facts of lists of links, or None if these are none.

    Of the lists of n numbers from 0 to n, one in n + 1 is a list of links (Cayley's formula).

    Args:
        lists: For each list the numbers, those of the nodes from 1 on.
    """
    if math.prod(1 / (len(each) + 1) for each in lists if len({*each, *ROOTS}) > len(ROOTS) + 1) > CHANCE:
        return None
    for root in ROOTS:
        if all(_is_forest(each, root) for each in lists):
            return Links(root, all(list(each).count(root) == 1 for each in lists))
    return None


def beside_roots(blocks: Sequence[Sequence[tuple[str, ...]]], place: int, links: Links) -> Links:
    """Return the facts of links with what stands beside each root and not beside every other node.

    A problem may say that roots have no weight or no colour, and programs rely on it.

    Args:
        blocks: The lines of each list.
        place: Of the links in a line.
        links: Their facts.
    """
    lines = [line for rows in blocks for line in rows]
    roots = [line for line in lines if int(line[place]) == links.root]
    others = [at for at in range(len(lines[0])) if at != place]
    beside = {at: {line[at] for line in roots} for at in others}
    said = tuple(
        (at, min(tokens))
        for at, tokens in beside.items()
        if len(tokens) == 1 and {line[at] for line in lines} != tokens
    )
    return replace(links, beside=said)


def _is_forest(parents: Sequence[int], root: int) -> bool:
    if root not in parents or not all(each == root or 1 <= each <= len(parents) for each in parents):
        return False
    done = {0}
    for node in range(1, len(parents) + 1):
        way: dict[int, None] = {}
        at = node
        while at not in done and at not in way:
            way[at] = None
            at = 0 if parents[at - 1] == root else parents[at - 1]
        if at in way:
            return False
        done.update(way)
    return True


def made_links(count: int, links: Links, pattern: str, chance: random.Random) -> list[int]:
    """Return a list of links.

    Args:
        count: Of nodes, at least one.
        links: Its facts.
        pattern: Of the tree.
        chance: Random numbers.
    """
    names = list(range(1, count + 1))
    if pattern not in ("ascending", "low"):
        chance.shuffle(names)
    found = [links.root] * count
    is_tree = links.is_single or chance.random() < TREES_SHARE
    for node, parent in by_parent(count, pattern, chance):
        if is_tree or chance.random() < LINKED_SHARE:
            found[names[node - 1] - 1] = names[parent - 1]
    return found
