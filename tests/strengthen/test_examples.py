"""Examples of statements: which texts are their inputs, and what is learnt from them."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox_service.schema import StdinTest
from sandbox_service.strengthen import tiers
from sandbox_service.strengthen.examples import examples_in
from sandbox_service.strengthen.facts import facts_of
from sandbox_service.strengthen.stdin_subject import StdinSubject
from sandbox_service.strengthen.tiers import Made, Wanted
from tests.validation.world import sums

ABOUT = "Input\n\nThe first line contains n.\n\nOutput\n\nPrint the sum.\n\n"
TREE = ABOUT.replace("n.", "n. It is guaranteed that the edges form a tree.")
UNKNOWN = ABOUT.replace("n.", "n. It is guaranteed that a solution exists.")
PAIRS = ["2\n1\n2 1 4\n2\n1 2 1\n1 3 2\n1 4 3\n", "1\n3\n1 2 3\n3 2 4\n2 4 3\n4 5 6\n5 6 5\n", "1\n1\n1 2 1\n"]
BROKEN = "2\n3\n1 2 3\n3 2 4\n2 4 3\n4 5 6\n5 6 5\n1\n1 2 1\n1 3 2\n1 4 3\n"


def subject(inputs: list[str], **changes: Any) -> StdinSubject:
    given = sums(tests=[{"type": "stdin", "input": each, "output": "1"} for each in inputs], **changes)
    return StdinSubject(given, [each for each in given.tests or [] if isinstance(each, StdinTest)])


def made(inputs: list[str], prompt: str, judges: int = 3) -> list[Made]:
    return subject(inputs, prompt=prompt).made(Wanted(60, judges))


def shown(inputs: list[str]) -> str:
    return "".join(f"Example Input\n\n{each}\nExample Output\n\n1\n\n" for each in inputs)


@pytest.mark.parametrize(
    "text",
    [
        "Examples\n\nInput\n\n2\n1 2\n\n\nOutput\n\n3\n\n\nInput\n\n1\n5\n\nOutput\n\n5\n\nNote\n\nNothing.",
        "-----Sample Input-----\n2\n1 2\n\n-----Sample Output-----\n3\n\n"
        "-----Sample Input 2-----\n1\n5\n\nSample Output 2\n5",
        "## Examples\n\n### Example 1\n\n**Input**:\n```\n2\n1 2\n```\n\n**Output**:\n```\n3\n```\n\n"
        "### Example 2\n\n**Input**:\n```\n1\n5\n```\n\n**Output**:\n```\n5\n```\n",
        "Example input:\n2\n1 2\nExample output:\n3\n\nExample input:\n1\n5\nExample output:\n5",
        "Input example #1:\n2\n1 2\nOutput example #1:\n3\nInput example #2:\n1\n5\nOutput example #2:\n5",
    ],
)
def test_examples_are_read_below_any_heading(text: str) -> None:
    assert examples_in(ABOUT + text) == ["2\n1 2\n", "1\n5\n"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Examples\n\nInput\n\n1 2 ... n\n\nOutput\n\n3\n",
        "Example\n\nInput\n\nThe first line contains an integer.\n\nOutput\n\n3\n",
        "Example\n\nInput\n\n1 2\n",
        "Example\n\nInput\n\n\nOutput\n\n3\n",
    ],
)
def test_what_describes_the_input_or_leaves_something_out_is_no_example(text: str) -> None:
    assert examples_in(ABOUT + text) == []


def test_examples_are_made_as_they_are_but_for_given_ones() -> None:
    found = made(["2\n1 2\n", "3\n1 2 3\n"], UNKNOWN + shown(["2\n1 2\n", "1\n5\n"]), judges=1)
    assert [(each.text, each.tier) for each in found] == [("1\n5\n", tiers.EXAMPLES.name)]


def test_examples_show_what_given_inputs_do_not() -> None:
    trees = ["4\n7 7 2 1\n1 2\n2 3\n2 4\n", "3\n1 2 3\n3 1\n2 1\n"]
    assert made(["1\n5\n", "1\n7\n"], TREE, judges=2) == []
    found = made(["1\n5\n", "1\n7\n"], TREE + shown(trees), judges=2)
    assert len(found) > 10
    for each in found:
        count, _, *edges = [line.split() for line in each.text.splitlines()]
        assert len({node for edge in edges for node in edge}) == (int(count[0]) if edges else 0)
        assert len(edges) == int(count[0]) - 1


def test_examples_that_have_no_form_with_the_given_inputs_are_left_out() -> None:
    given = ["2\n1 2\n", "3\n1 2 3\n"]
    plain, with_garbage = subject(given, prompt=ABOUT), subject(given, prompt=ABOUT + shown(["no\nnumbers at\nall\n"]))
    assert with_garbage.form == "form"
    texts = {each.text for each in plain.made(Wanted(30, 1))}
    assert len(texts & {each.text for each in with_garbage.made(Wanted(30, 1))}) > len(texts) / 2


def test_a_given_input_that_breaks_the_form_of_most_is_left_out() -> None:
    found = made([PAIRS[0], BROKEN], TREE + shown(PAIRS), judges=3)
    assert sum(each.tier == tiers.SEEN.name for each in found) > 3
    for each in (each for each in found if each.tier in (tiers.SEEN.name, tiers.SMALL.name)):
        lines = [line.split() for line in each.text.splitlines()]
        at = 1
        for _ in range(int(lines[0][0])):
            count = 2 * int(lines[at][0])
            edges = lines[at + 1 : at + count]
            assert {node for edge in edges for node in edge[:2]} == {str(node) for node in range(1, count + 1)}
            at += count
        assert at == len(lines)


def test_one_edge_less_than_twice_a_number_makes_trees() -> None:
    form = subject(PAIRS)._form
    assert form is not None
    assert any(each.tree for each in facts_of(form, PAIRS).rows.values())
