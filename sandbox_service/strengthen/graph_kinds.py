"""Names what a graph consists of: paths, stars, trees, rings, cliques and other components, and nodes without edges.

Tests beside those that wrong programs choose are of as many kinds as possible; for graphs, the components are the kind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

from sandbox_service.strengthen.graphs import Graph
from sandbox_service.strengthen.trees import parts_of

Edges = Sequence[tuple[int, int]]
LEAST_CLIQUE = 4  # nodes: less is a path or a ring


def kind_in(numbers: Mapping[int, Sequence[int]], graph: Graph) -> str:
    """Return what the largest graph of an input consists of.

    Args:
        numbers: Those of the input, by slot.
        graph: The edge list.
    """
    found = list(zip(*(numbers.get(end, ()) for end in graph.ends), strict=True))
    counts = list(zip(numbers.get(graph.nodes, ()), numbers.get(graph.edges, ()), strict=False))
    if not counts or sum(edges for _, edges in counts) != len(found):
        return "a graph"
    nodes, edges = max(counts)
    start = sum(each for _, each in counts[: counts.index((nodes, edges))])
    return kind_of(nodes, graph.base, found[start : start + edges])


def rank_in(numbers: Mapping[int, Sequence[int]], graph: Graph, kind: str) -> int:
    """Return how early an input of graphs comes: 0 for those that programs take for others by counting, up to 3.

    A program may take n - 1 edges for a tree, n edges for a ring, and no node without edges for a connected graph. Of a
    dense graph, what it lacks has the same part.

    Args:
        numbers: Those of the input, by slot.
        graph: The edge list.
        kind: The kind of its largest graph.
    """
    counts = list(zip(numbers.get(graph.nodes, ()), numbers.get(graph.edges, ()), strict=False))
    nodes, edges = max(counts, default=(0, 0))
    is_near = min(abs(edges - nodes), abs(nodes * (nodes - 1) // 2 - edges - nodes)) <= 1
    return 2 * (nodes < LEAST_CLIQUE or not is_near) + ("alone" in kind)


def kind_of(nodes: int, base: int, edges: Edges) -> str:
    """Return what a graph consists of, such as `path, several ring, alone`; of a dense one, what it lacks.

    Args:
        nodes: The number of nodes.
        base: The first node.
        edges: Its edges.
    """
    pairs = set(combinations(range(base, base + nodes), 2))
    own = {(min(edge), max(edge)) for edge in edges}
    if nodes >= LEAST_CLIQUE and own <= pairs and 2 * len(own) > len(pairs) and len(own) == len(edges):
        return f"all but {kind_of(nodes, base, sorted(pairs - own))}"
    names = Counter(_name(each, edges) for each in parts_of(range(base, base + nodes), edges))
    return ", ".join(name if count == 1 else f"several {name}" for name, count in sorted(names.items()))


def _name(part: set[int], edges: Edges) -> str:
    """Return the name of a component."""
    own = [edge for edge in edges if edge[0] in part]
    degrees = Counter(node for edge in own for node in edge)
    size, most = len(part), max(degrees.values(), default=0)
    if len({frozenset(edge) for edge in own}) < len(own) or any(one == other for one, other in own):
        return "multigraph"
    if len(own) < size:
        return "alone" if size == 1 else "path" if most <= 2 else "star" if most == size - 1 else "tree"
    if len(own) == size:
        return "ring" if most == 2 else "ring with tails"
    return "clique" if size >= LEAST_CLIQUE and 2 * len(own) == size * (size - 1) else "component with several cycles"
