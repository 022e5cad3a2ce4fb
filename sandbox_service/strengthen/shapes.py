"""Shapes of graphs that tell wrong programs: small sparse graphs of a few components, or their complements.

A graph with random edges is dense and connected, or has no cycle. Wrong programs fail on rings, on several components,
on nodes without edges, and on components that are a ring and something more.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from sandbox_service.strengthen.trees import connected, edges

Edges = list[tuple[int, int]]

ALONE = 0.2  # share of graphs with a single component
ALIKE = 0.5  # … whose components are all of one kind,
ODD = 0.4  # but for one of them
MOST_DENSE = 24  # nodes of a graph whose complement is made,
DENSE = 0.18  # and the share of such graphs
EMPTY = 0.03  # … of graphs without an edge
RING = 3  # nodes of the least ring
RANDOM = 0.15  # … with random edges
FURTHER = 0.15  # … with an edge or two between any nodes
DOUBLED = 0.4  # … with double edges and loops, where these are allowed
MOST_CLIQUE = 7  # nodes of a clique in a larger component
TRIES = 4  # until the number of edges is allowed


@dataclass(frozen=True, slots=True)
class Keeps:
    """The rules that the graphs of a problem keep.

    Attributes:
        is_connected: They have one component.
        is_forest: They have no cycle.
        is_acyclic: Directed edges form no cycle.
        has_doubles: Edges may come twice, the other way around or, with `has_copies`, the same way.
        has_copies: The same edge may come twice.
        has_loops: Edges may lead to where they begin.
        most_degree: Edges of a node, at most; 0 for any number.
    """

    is_connected: bool = False
    is_forest: bool = False
    is_acyclic: bool = False
    has_doubles: bool = False
    has_copies: bool = False
    has_loops: bool = False
    most_degree: int = 0


def shaped(nodes: int, few: int, most: int, keeps: Keeps, chance: random.Random) -> Edges | None:
    """Return the edges of a graph with nodes from 0 on, or None if none was found.

    Args:
        nodes: The number of nodes.
        few: The least number of edges.
        most: The greatest number of edges.
        keeps: The rules of the graph.
        chance: Random numbers.
    """
    for _ in range(TRIES):
        found = _fitted(_drawn(nodes, keeps, chance), nodes, few, most, keeps, chance)
        if found is not None:
            return _named(found, nodes, keeps, chance)
    return None


def deep(nodes: int, few: int, most: int, pattern: str, keeps: Keeps, chance: random.Random) -> Edges | None:
    """Return the edges of a graph that is a long path or a long cycle, or None if the rules allow neither.

    Args:
        nodes: The number of nodes.
        few: The least number of edges.
        most: The greatest number of edges.
        pattern: high gives a cycle, ascending a path whose nodes are in order, other names a path.
        keeps: The rules of the graph.
        chance: Random numbers.
    """
    can_close = not (keeps.is_forest or keeps.is_acyclic) and nodes <= most
    found = _cycle(nodes, chance) if pattern == "high" and can_close else _path(nodes, chance)
    fitted = _fitted(found, nodes, few, most, keeps, chance)
    if fitted is None or pattern == "ascending":
        return fitted
    return _named(fitted, nodes, keeps, chance)


# --- components of one kind, each with nodes from 0 on


def _path(size: int, _: random.Random) -> Edges:
    return list(pairwise(range(size)))


def _cycle(size: int, chance: random.Random) -> Edges:
    return [*_path(size, chance), *([(size - 1, 0)] if size >= RING else [])]


def _star(size: int, _: random.Random) -> Edges:
    return [(0, node) for node in range(1, size)]


def _tree(size: int, chance: random.Random) -> Edges:
    return [(a - 1, b - 1) for a, b in edges(size, chance.choice(["wide", "narrow"]), chance)]


def _with_tail(size: int, chance: random.Random) -> Edges:
    """A cycle, and a path or a tree on one of its nodes."""
    ring = chance.randint(min(3, size), size)
    hangs_far = chance.random() < 0.5
    return [
        *_cycle(ring, chance),
        *((node - 1 if hangs_far else chance.randrange(node), node) for node in range(ring, size)),
    ]


def _two_cycles(size: int, chance: random.Random) -> Edges:
    """Two cycles that share a node, or that an edge connects, or a cycle with a chord."""
    if size < 5 or chance.random() < 0.25:
        ring = _cycle(size, chance)
        return [*ring, (0, size // 2)] if size > 3 else ring
    first = chance.randint(3, size - 2)
    if size - first >= 3 and chance.random() < 0.5:
        return [*_cycle(first, chance), *_moved(_cycle(size - first, chance), first), (0, first)]
    others = [0, *range(first, size)]
    return [*_cycle(first, chance), *((others[a], others[b]) for a, b in _cycle(len(others), chance))]


def _clique(size: int, _: random.Random) -> Edges:
    """A clique; with many nodes, it has a tail."""
    core = min(size, MOST_CLIQUE)
    return [*combinations(range(core), 2), *((node - 1, node) for node in range(core, size))]


def _two_cliques(size: int, chance: random.Random) -> Edges:
    """Two cliques that share a node."""
    if size < 3:
        return _path(size, chance)
    first = chance.randint(2, size - 1)
    others = [0, *range(first, size)]
    return [*_clique(first, chance), *((others[a], others[b]) for a, b in _clique(len(others), chance))]


def _less(size: int, chance: random.Random) -> Edges:
    """A clique without one edge."""
    found = _clique(size, chance)
    if size > 2:
        found.remove(chance.choice(found[: size if size <= MOST_CLIQUE else MOST_CLIQUE]))
    return found


def _bipartite(size: int, chance: random.Random) -> Edges:
    """A complete bipartite graph; with many nodes, an even cycle and perhaps a tail."""
    if size > MOST_CLIQUE:
        even = size - size % 2
        return [*_cycle(even, chance), *([(0, even)] if even < size else [])]
    first = chance.randint(1, max(size - 1, 1))
    return [(a, b) for a in range(first) for b in range(first, size)]


Kind = Callable[[int, random.Random], Edges]
TREES: tuple[Kind, ...] = (_path, _star, _tree)
RINGS: tuple[Kind, ...] = (_path, _cycle)  # of at most two edges at each node
KINDS: tuple[Kind, ...] = (
    *TREES, *(_cycle, _cycle, _cycle), *(_with_tail, _with_tail), *(_two_cycles, _two_cycles),
    _clique, _two_cliques, *(_less, _less), _bipartite,
)  # fmt: skip


# --- graphs


def _drawn(nodes: int, keeps: Keeps, chance: random.Random) -> Edges:
    """A union of components, its complement, or a graph with random edges or without any."""
    if not keeps.is_connected and chance.random() < EMPTY:
        return []
    if not (keeps.is_connected or keeps.is_forest) and chance.random() < RANDOM:
        return _free([], nodes, chance.randint(1, 2 * nodes), chance)
    kinds = TREES if keeps.is_forest else RINGS if keeps.most_degree == len(RINGS) else KINDS
    sizes = [nodes] if chance.random() < ALONE else _sizes(nodes, chance)
    chosen = [chance.choice(kinds) for _ in sizes]
    if chance.random() < ALIKE:
        chosen = [chosen[0]] * (len(sizes) - 1) + [chosen[-1] if chance.random() < ODD else chosen[0]]
    found: Edges = []
    start = 0
    for size, kind in zip(sizes, chosen, strict=True):
        bridge = [(chance.randrange(start), start)] if keeps.is_connected and start else []
        found += [*bridge, *_moved(kind(size, chance), start)]
        start += size
    if keeps.is_forest or keeps.most_degree:
        return found
    if not keeps.is_connected and nodes <= MOST_DENSE and chance.random() < DENSE:
        known = set(map(frozenset, found))
        return [pair for pair in combinations(range(nodes), 2) if frozenset(pair) not in known]
    if chance.random() < FURTHER:
        found += _free(found, nodes, chance.randint(1, 2), chance)
    return found


def _sizes(nodes: int, chance: random.Random) -> list[int]:
    """Sizes of components: equal ones, one beside nodes without edges, or random ones, which can be rings."""
    how = chance.randrange(5)
    if how == 0:
        size = chance.randint(1, nodes)
        return [size] * (nodes // size) + ([nodes % size] if nodes % size else [])
    if how == 1:
        alone = chance.randint(0, min(3, nodes - 1))
        return [1] * alone + [nodes - alone]
    if how == 2:
        return _cut(nodes, min(nodes, chance.randint(2, 5)), 1, chance)
    return _cut(nodes, chance.randint(min(2, nodes // RING), nodes // RING), RING, chance) if nodes >= RING else [nodes]


def _cut(nodes: int, parts: int, least: int, chance: random.Random) -> list[int]:
    """Random sizes of so many parts, none of which is below the least one."""
    places = sorted(chance.choices(range(nodes - parts * least + 1), k=parts - 1))
    return [after - before + least for before, after in pairwise([0, *places, nodes - parts * least])]


def _moved(found: Edges, by: int) -> Edges:
    return [(a + by, b + by) for a, b in found]


def _free(known: Edges, nodes: int, count: int, chance: random.Random) -> Edges:
    """Up to so many random edges that are not known."""
    taken = set(map(frozenset, known))
    found: Edges = []
    for _ in range(4 * count if nodes > 1 else 0):
        one, other = chance.sample(range(nodes), 2)
        if len(found) < count and frozenset((one, other)) not in taken:
            taken.add(frozenset((one, other)))
            found.append((one, other))
    return found


def _fitted(found: Edges, nodes: int, few: int, most: int, keeps: Keeps, chance: random.Random) -> Edges | None:
    """The edges, fewer or more so that their number is allowed, or None."""
    if len(found) > most:
        if keeps.is_connected:
            is_possible = nodes - 1 <= most <= nodes * (nodes - 1) // 2
            return _moved(connected(nodes, most, "wide", chance), -1) if is_possible else None
        return found[:most]
    if (keeps.has_doubles or keeps.has_loops) and chance.random() < DOUBLED:
        found = [*found, *_doubled(found, nodes, min(most - len(found), 3), keeps, chance)]
    if keeps.most_degree:
        found = _of_degree(found, keeps.most_degree)
    missing = few - len(found)
    if missing > 0 and not (keeps.is_forest or keeps.most_degree):
        found = [*found, *_missing(found, nodes, missing, chance)]
    return found if len(found) >= few else None


def _missing(known: Edges, nodes: int, count: int, chance: random.Random) -> Edges:
    if nodes > MOST_DENSE * 4:
        return _free(known, nodes, count, chance)
    taken = set(map(frozenset, known))
    free = [pair for pair in combinations(range(nodes), 2) if frozenset(pair) not in taken]
    return chance.sample(free, min(count, len(free)))


def _of_degree(found: Edges, most: int) -> Edges:
    degrees: Counter[int] = Counter()
    kept = []
    for one, other in found:
        if degrees[one] + (one == other) < most and degrees[other] < most:
            degrees.update((one, other))
            kept.append((one, other))
    return kept


def _doubled(found: Edges, nodes: int, most: int, keeps: Keeps, chance: random.Random) -> Edges:
    """Up to so many double edges and loops."""
    further: Edges = []
    for _ in range(chance.randint(min(most, 1), max(most, 0))):
        node = chance.randrange(nodes)
        if keeps.has_loops and (not keeps.has_doubles or not found or chance.random() < 0.5):
            further.append((node, node))
        elif keeps.has_doubles and found:
            one, other = chance.choice(found)
            further.append((one, other) if keeps.has_copies and chance.random() < 0.5 else (other, one))
    return further if keeps.has_copies else list(dict.fromkeys(further))


def _named(found: Sequence[tuple[int, int]], nodes: int, keeps: Keeps, chance: random.Random) -> Edges:
    """The same graph with its nodes named anew, and its edges turned and in another order."""
    names = list(range(nodes))
    if chance.random() < 0.8:
        chance.shuffle(names)
    turned = list(found)
    if keeps.is_acyclic:
        turned = [(min(pair), max(pair)) for pair in found]
    elif not keeps.has_doubles and chance.random() < 0.5:
        turned = [pair if chance.random() < 0.5 else pair[::-1] for pair in found]
    if chance.random() < 0.8:
        chance.shuffle(turned)
    return [(names[a], names[b]) for a, b in turned]
