"""Graphs: edge lists are recognised, keep the rules that the statement says, and have the shapes that tell programs."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_service.schema import StdinTest
from sandbox_service.strengthen import tiers
from sandbox_service.strengthen.ends import ends_of
from sandbox_service.strengthen.facts import facts_of
from sandbox_service.strengthen.graph_kinds import kind_of
from sandbox_service.strengthen.graphs import Graph, graphs_of
from sandbox_service.strengthen.inference import form_of
from sandbox_service.strengthen.shapes import Edges, Keeps, deep, shaped
from sandbox_service.strengthen.stdin_subject import StdinSubject
from sandbox_service.strengthen.tiers import Made, Wanted
from sandbox_service.strengthen.trees import parts_of
from tests.validation.world import sums

BOUNDS = "n and m (1 ≤ n ≤ 100000, 0 ≤ m ≤ 100000)"
PAIRS = "Each of the next m lines has a_i and b_i (1 ≤ a_i, b_i ≤ n, a_i ≠ b_i)."
SIMPLE = "No two lines have the same pair."
TREES = ["4 3\n1 2\n2 3\n3 4\n", "5 4\n4 2\n5 2\n1 2\n2 3\n"]
CASES = ["2\n3 2\n1 2\n2 3\n4 1\n1 2\n", "1\n5 4\n1 2\n2 3\n2 5\n4 3\n"]
COLOURED = ["5 3\n1 2 1\n2 3 2\n5 4 3\n2\n1 4\n2 5\n", "4 4\n1 2 4\n2 3 2\n4 3 1\n4 1 1\n1\n2 1\n"]
ZERO = ["4 2\n0 3\n1 2\n", "5 3\n4 0\n4 2\n1 3\n"]


def statement(about_input: str, legend: str = "") -> str:
    return f"{legend}\n\nInput\n\nThe first line has {about_input}\n\nOutput\n\nPrint a number."


def graphs(inputs: list[str], text: str) -> list[Graph]:
    form = form_of(inputs)
    assert form is not None
    return graphs_of(form.items, facts_of(form, inputs), text)


def made(inputs: list[str], text: str, judges: int = 2, count: int = 96) -> list[Made]:
    tests = [{"type": "stdin", "input": each, "output": "1"} for each in inputs]
    problem = sums(prompt=text, tests=tests)
    given_tests = [each for each in problem.tests or [] if isinstance(each, StdinTest)]
    return StdinSubject(problem, given_tests).made(Wanted(count, judges))


def shaped_in(inputs: list[str], text: str) -> list[list[tuple[int, ...]]]:
    """The lines of the made graphs, as numbers."""
    found = [each.text for each in made(inputs, text, count=60) if each.tier == tiers.GRAPHS.name]
    return [[tuple(map(int, line.split())) for line in each.splitlines()] for each in found]


def parts(nodes: int, edges: Edges) -> list[set[int]]:
    return parts_of(range(nodes), edges)


# --- shapes


@given(st.integers(1, 12), st.integers(0, 5), st.integers(0, 40), st.integers())
def test_a_shape_has_as_many_edges_as_allowed_and_no_edge_twice(nodes: int, few: int, more: int, seed: int) -> None:
    found = shaped(nodes, few, few + more, Keeps(), random.Random(seed))
    if found is None:
        assert few > nodes * (nodes - 1) // 2
        return
    assert few <= len(found) <= few + more
    assert len(set(map(frozenset, found))) == len(found)
    assert all(one != other and {one, other} <= set(range(nodes)) for one, other in found)


@given(st.integers(1, 12), st.integers())
def test_shapes_keep_their_rules(nodes: int, seed: int) -> None:
    chance, most = random.Random(seed), 100
    one = shaped(nodes, 0, most, Keeps(is_connected=True), chance)
    assert one is not None
    assert len(parts(nodes, one)) == 1
    forest = shaped(nodes, 0, most, Keeps(is_forest=True), chance)
    assert forest is not None
    assert len(parts(nodes, forest)) == nodes - len(forest)
    acyclic = shaped(nodes, 0, most, Keeps(is_acyclic=True), chance)
    ends = ends_of([([(str(a), str(b)) for a, b in acyclic or []], {})])
    assert ends is None or ends.is_acyclic
    for keeps in (Keeps(most_degree=2), Keeps(most_degree=2, has_doubles=True, has_loops=True)):
        rings = shaped(nodes, 0, most, keeps, chance)
        assert max(Counter(node for edge in rings or [] for node in edge).values(), default=0) <= 2


def test_shapes_are_of_the_kinds_that_tell_programs() -> None:
    seen = Counter[str]()
    for seed in range(600):
        nodes = 4 + seed % 6
        found = shaped(nodes, 0, 100, Keeps(), random.Random(seed)) or []
        components = parts(nodes, found)
        degrees = Counter(node for edge in found for node in edge)
        sizes = [sum(one in each for one, _ in found) - len(each) for each in components]
        are_rings = len(found) == nodes and set(degrees.values()) == {2}
        seen["a ring"] += are_rings and len(components) == 1
        seen["several rings"] += are_rings and len(components) > 1
        seen["n - 1 edges in parts"] += len(found) == nodes - 1 and len(components) > 1
        seen["n edges in parts, one with two cycles"] += len(found) == nodes and max(sizes) > 0 and min(sizes) < 0
        seen["a ring with a tail"] += len(found) == nodes and len(components) == 1 and min(degrees.values()) == 1
        seen["nodes without edges"] += 0 < len(degrees) < nodes
        seen["no edge"] += not found
        seen["complete"] += len(found) == nodes * (nodes - 1) // 2
        seen["complete less one"] += len(found) == nodes * (nodes - 1) // 2 - 1
    assert min(seen.values()) >= 5, seen


@pytest.mark.parametrize(
    ("nodes", "edges", "kind"),
    [
        (3, [(1, 2), (2, 3), (1, 3)], "ring"),
        (7, [(1, 2), (2, 3), (1, 3), (6, 5), (4, 6), (4, 5)], "alone, several ring"),
        (5, [(1, 2), (2, 3), (1, 3), (3, 4), (4, 5)], "ring with tails"),
        (8, [(1, 2), (3, 4), (4, 5), (4, 6), (7, 8)], "several path, star"),
        (9, [(1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4), (5, 6)], "several alone, clique, path"),
        (7, [(1, 2), (1, 3), (1, 4), (2, 3), (2, 4)], "several alone, component with several cycles"),
        (5, [(1, 2), (1, 3), (1, 4), (1, 5), (2, 3), (2, 4), (2, 5)], "all but several alone, ring"),
        (3, [(1, 2), (2, 1), (3, 3)], "several multigraph"),
        (1, [], "alone"),
    ],
)
def test_kinds_of_graphs_have_names(nodes: int, edges: Edges, kind: str) -> None:
    assert kind_of(nodes, 1, edges) == kind


def test_a_deep_graph_is_a_path_or_a_ring() -> None:
    chance = random.Random(1)
    assert deep(4, 0, 9, "ascending", Keeps(), chance) == [(0, 1), (1, 2), (2, 3)]
    assert len(deep(50, 0, 99, "high", Keeps(), chance) or []) == 50
    assert len(deep(50, 0, 49, "high", Keeps(), chance) or []) == 49
    assert len(deep(50, 0, 99, "high", Keeps(is_forest=True), chance) or []) == 49


# --- edge lists


def test_the_nodes_of_edges_are_counted_by_the_number_beside_that_of_edges() -> None:
    text = statement(f"{BOUNDS}. {PAIRS} {SIMPLE}")
    [found] = graphs(["6 6\n6 3\n6 4\n5 1\n2 5\n1 4\n5 4\n", "6 5\n1 2\n2 3\n3 1\n1 4\n1 5\n"], text)
    form = form_of(TREES)
    assert form is not None
    assert found.nodes < found.edges < min(found.ends)
    assert found.base == 1
    [several] = graphs(CASES, statement(f"t, the number of test cases. {BOUNDS}. {PAIRS}"))
    assert several.edges - several.nodes == 1


def test_lines_that_are_no_edges_make_no_graph() -> None:
    queries = ["5 4\n1 3\n2 5\n1 1\n2 2\n", "9 3\n2 9\n1 4\n1 2\n"]
    assert not graphs(queries, statement("n and q. Each query has a type and a city (1 ≤ t ≤ 2, 1 ≤ v ≤ n)."))
    assert not graphs(TREES, statement("n and m. Then come m pairs of numbers."))
    assert graphs(TREES, statement("n and m. Then come m edges."))
    assert not graphs(["3\n1 a\n2 b\n1 c\n", "1\n1 x\n"], statement("edges"))


def test_nodes_may_begin_with_0() -> None:
    [found] = graphs(ZERO, statement("n and m. Then come m edges a and b (0 ≤ a, b < n)."))
    assert found.base == 0
    nodes = {node for lines in shaped_in(ZERO, statement("n and m. Then come m edges a and b (0 ≤ a, b < n).")) for
             line in lines[1:] for node in line}  # fmt: skip
    assert min(nodes) == 0
    for (count, _), *lines in shaped_in(ZERO, statement("n and m. Then come m edges a and b (0 ≤ a, b < n).")):
        assert all(max(line) < count for line in lines)


@pytest.mark.parametrize(
    ("legend", "is_connected"),
    [
        ("The graph is connected.", True),
        ("You can get from any city to any other one.", True),
        ("It is not guaranteed that you can get from any city to any other one.", False),
        ("Roots are connected by a cycle. Count the connected components.", False),
        ("", False),
    ],
)
def test_graphs_stay_connected_if_the_statement_says_it(legend: str, is_connected: bool) -> None:
    [found] = graphs(TREES, statement(f"{BOUNDS}. {PAIRS}", legend))
    assert found.keeps.is_connected == is_connected
    assert not found.keeps.is_forest
    counts = {len(parts(lines[0][0] + 1, [line[:2] for line in lines[1:]])) - 1  # type: ignore[misc]
              for lines in shaped_in(TREES, statement(f"{BOUNDS}. {PAIRS}", legend))}  # fmt: skip
    assert (counts == {1}) == is_connected


def test_trees_stay_trees_if_the_statement_says_it() -> None:
    [found] = graphs(TREES, statement(f"{BOUNDS}. {PAIRS}", "You are given a tree."))
    assert found.keeps.is_forest
    assert found.keeps.is_connected


def test_a_relation_of_nodes_and_edges_that_the_statement_says_is_kept() -> None:
    tied = statement(f"n and m (1 ≤ n ≤ 100, 1 ≤ m < n). {PAIRS} {SIMPLE}")
    sizes = [lines[0] for lines in shaped_in(TREES, tied)]
    assert all(edges < nodes for nodes, edges in sizes)
    free = statement(f"{BOUNDS}. {PAIRS} {SIMPLE}")
    sizes = [lines[0] for lines in shaped_in(TREES, free)]
    assert {0} < {edges for _, edges in sizes}
    assert any(edges > nodes for nodes, edges in sizes)


def test_edges_come_twice_only_if_seen_or_said() -> None:
    def twice(text: str, inputs: list[str]) -> bool:
        found = shaped_in(inputs, text)
        return any(len(set(map(frozenset, lines[1:]))) < len(lines) - 1 for lines in found)

    single = ["3 1\n1 2\n", "4 1\n4 3\n"]  # a single edge is no evidence
    text = statement(f"{BOUNDS}. {PAIRS}")
    assert not twice(text, single)
    assert not twice(text, TREES)
    assert not twice(text + " The graph cannot have multiple edges.", TREES)
    assert twice(statement(f"{BOUNDS}. {PAIRS} There can be multiple edges between two nodes."), TREES)
    assert twice(text, ["3 3\n1 2\n2 1\n3 2\n", "2 1\n1 2\n"])


def test_further_numbers_of_an_edge_and_queries_keep_their_bounds() -> None:
    text = statement(
        "n and m (2 ≤ n ≤ 100, 1 ≤ m ≤ 100). Each of m lines has a_i, b_i (1 ≤ a_i, b_i ≤ n, a_i ≠ b_i) and c_i "
        "(1 ≤ c_i ≤ m), the ends of an edge and its colour. Then comes q (1 ≤ q ≤ 100), and q lines with u_i, v_i "
        "(1 ≤ u_i, v_i ≤ n)."
    )
    assert len(graphs(COLOURED, text)) == 2
    found = shaped_in(COLOURED, text)
    assert len(found) > 10
    for (nodes, edges), *lines in found:
        assert all(
            one != other and max(one, other) <= nodes and colour <= edges for one, other, colour in lines[:edges]
        )
        assert all(max(line) <= nodes for line in lines[edges + 1 :])


def test_cases_have_graphs_of_their_own() -> None:
    text = statement(f"t, the number of test cases (1 ≤ t ≤ 100). Each begins with {BOUNDS}. {PAIRS} {SIMPLE}")
    found = shaped_in(CASES, text)
    assert any(lines[0][0] > 1 for lines in found)
    for (cases,), *lines in found:
        for _ in range(cases):
            (nodes, edges), *lines = lines
            assert all(max(line) <= nodes for line in lines[:edges])
            lines = lines[edges:]
        assert not lines


def test_names_of_nodes_have_no_part_in_the_bound_of_a_sum() -> None:
    total = "It is guaranteed that the sum of n over all test cases does not exceed 2000."
    text = statement(f"t, the number of test cases (1 ≤ t ≤ 100). Each begins with {BOUNDS}. {PAIRS} {SIMPLE} {total}")
    sizes = [each.text.split()[1] for each in made(CASES, text) if each.tier == tiers.DEEP_GRAPHS.name]
    assert sizes.count("1500") >= 3


def test_graphs_that_programs_take_for_others_by_counting_come_first() -> None:
    found = shaped_in(TREES, statement(f"{BOUNDS}. {PAIRS} {SIMPLE}"))
    first = [lines[0] for lines in found[:8]]
    assert all(nodes >= 4 for nodes, _ in first)
    assert all(min(abs(edges - nodes), abs(nodes * (nodes - 1) // 2 - edges - nodes)) <= 1 for nodes, edges in first)
    assert all({node for line in lines[1:] for node in line} >= {1, lines[0][0]} for lines in found[:3])


@pytest.mark.parametrize("judges", [1, 2, 3])
def test_a_third_of_the_inputs_are_small_graphs_and_some_are_deep(judges: int) -> None:
    found = made(TREES, statement(f"{BOUNDS}. {PAIRS} {SIMPLE}"), judges)
    names = Counter(each.tier for each in found)
    assert names[tiers.GRAPHS.name] >= len(found) / 3
    kinds = Counter(each.how for each in found if each.tier == tiers.GRAPHS.name)
    assert len(kinds) >= 15
    assert max(kinds.values()) <= 3 or judges < tiers.LEAST_JUDGES
    assert 3 <= names[tiers.DEEP_GRAPHS.name] <= 8
    assert max(int(each.text.split()[0]) for each in found if each.tier == tiers.DEEP_GRAPHS.name) > 1000
