"""Given inputs with fewer lines and other names of nodes: where they are made, and what they keep."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from sandbox_service.schema import StdinTest
from sandbox_service.strengthen import tiers
from sandbox_service.strengthen.facts import facts_of
from sandbox_service.strengthen.inference import form_of
from sandbox_service.strengthen.stdin_subject import StdinSubject
from sandbox_service.strengthen.thinning import Thinner
from sandbox_service.strengthen.tiers import Wanted
from tests.validation.world import sums

GRAPHS = ["6 6\n1 2\n2 3\n1 3\n4 5\n5 6\n4 6\n", "5 4\n1 2\n2 5\n3 4\n1 5\n", "4 1\n3 4\n"]
WEIGHTS = ["3 2\n7 7 9\n1 2\n2 3\n", "4 4\n1 8 2 8\n1 4\n2 4\n1 2\n1 3\n", "2 1\n5 6\n1 2\n"]
RULE = "Input\n\nThe first line has n and m. It is guaranteed that no one has more than two friends.\n\nOutput\n"


def thinned(inputs: list[str], judges: int = 3, prompt: str = RULE) -> list[str]:
    problem = sums(prompt=prompt, tests=[{"type": "stdin", "input": each, "output": "1"} for each in inputs])
    subject = StdinSubject(problem, [each for each in problem.tests or [] if isinstance(each, StdinTest)])
    return [each.text for each in subject.made(Wanted(96, judges)) if each.tier == tiers.THINNED.name]


def edges(text: str) -> list[tuple[int, int]]:
    return [(int(a), int(b)) for a, b in (line.split() for line in text.splitlines()[1:])]


def test_fewer_edges_under_other_names_keep_a_bound_of_degrees_and_the_order_of_ends() -> None:
    found = thinned(GRAPHS)
    assert len(found) > 20
    assert len({len(edges(each)) for each in found}) > 3
    for text in found:
        nodes, count = map(int, text.splitlines()[0].split())
        assert len(edges(text)) == count == len(set(edges(text)))
        assert all(1 <= a < b <= nodes for a, b in edges(text))
        assert max(Counter(node for edge in edges(text) for node in edge).values()) <= 2


def test_all_edges_under_other_names_are_the_same_graph() -> None:
    whole = [each for each in thinned(GRAPHS) if each.startswith("6 6")]
    assert len({frozenset(edges(each)) for each in whole}) > 1
    for text in whole:
        triangles = [set(edge) for edge in edges(text)]
        parts = {frozenset(node for edge in triangles if edge & start for node in edge) for start in triangles}
        assert sorted(map(len, parts)) == [3, 3]


@pytest.mark.parametrize(("judges", "prompt"), [(2, RULE), (2, "No rule."), (3, "No rule.")])
def test_they_are_only_made_for_three_references_where_a_rule_is_unknown(judges: int, prompt: str) -> None:
    assert not thinned(GRAPHS, judges, prompt)


def test_nodes_with_values_keep_their_names() -> None:
    form = form_of(WEIGHTS)
    assert form is not None
    thinner = Thinner(form, facts_of(form, WEIGHTS))
    for number in range(20):
        text = thinner.make(WEIGHTS[1], random.Random(number))
        head, weights, *lines = text.splitlines()
        assert weights == "1 8 2 8"
        assert head == f"4 {len(lines)}"
        assert set(lines) <= set(WEIGHTS[1].splitlines()[2:])


def test_lines_that_have_one_for_each_node_stay() -> None:
    parents = ["3\n-1\n1\n1\n", "5\n2\n-1\n2\n3\n3\n"]
    form = form_of(parents)
    assert form is not None
    thinner = Thinner(form, facts_of(form, parents))
    assert not thinner.can
    trees = ["4\n1 2\n2 3\n2 4\n", "3\n3 1\n2 1\n"]
    form = form_of(trees)
    assert form is not None
    found = {Thinner(form, facts_of(form, trees)).make(trees[0], random.Random(number)) for number in range(20)}
    assert len(found) > 5
    assert all(len(each.splitlines()) == 4 for each in found)
