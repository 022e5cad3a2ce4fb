"""Mathematical answers through the real service: over three hundred pairs, all judged correctly and in time."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from tests.conftest import Service
from tests.mathematics.pairs import Pair, pairs

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "math.md"
MATHEMATICS = {"language": "text", "checker": {"type": "math"}}
ENOUGH_PAIRS = 200
LONGEST_SECONDS = 7.0  # of CPU time, in both boxes together: their own limits are 2, and 3 twice

USUAL_SECONDS = 0.2

PAIRS = list(pairs())
# `make test` grades every so many of a category, and every twelfth of the others; `make test-all` all
EVERY = {"hostile": 4, "mixed_kinds": 36}


def is_chosen(index: int) -> bool:
    return index % EVERY.get(PAIRS[index].category, 12) == 0


@pytest.fixture(scope="module", params=[True, pytest.param(False, marks=pytest.mark.full)], ids=["some", "others"])
def graded_pairs(service: Service, request: pytest.FixtureRequest) -> list[tuple[dict[str, Any], Pair]]:
    """Grade the chosen pairs or the others in one batch; each text is used as a completion."""
    chosen = {f"pair-{index}": pair for index, pair in enumerate(PAIRS) if is_chosen(index) is request.param}
    submissions = [
        {"id": name, "code": pair.answer, "tests": [{"type": "stdin", "output": pair.expected}]}
        for name, pair in chosen.items()
    ]
    grades = service.client.batch(submissions, **MATHEMATICS)
    return [(grades[name], pair) for name, pair in chosen.items()]


def test_there_are_enough_pairs() -> None:
    assert len(PAIRS) > ENOUGH_PAIRS
    chosen = {PAIRS[index].category for index in range(len(PAIRS)) if is_chosen(index)}
    assert chosen == {pair.category for pair in PAIRS}


def test_no_pair_is_misjudged(graded_pairs: list[tuple[dict[str, Any], Pair]]) -> None:
    found = graded_pairs
    wrong = [(pair, grade["verdict"], grade["message"]) for grade, pair in found if grade["verdict"] != pair.verdict]
    assert not wrong
    assert all(grade["message"] for grade, pair in found if pair.verdict == "WA")
    assert {grade["failure_kind"] for grade, pair in found if pair.verdict == "IE"} == {"bad_test"}


def test_no_pair_takes_long(graded_pairs: list[tuple[dict[str, Any], Pair]]) -> None:
    spent = [test["cpu_seconds"] for grade, _ in graded_pairs for test in grade["tests"]]
    assert max(spent) < LONGEST_SECONDS
    assert median(spent) < USUAL_SECONDS


def test_what_takes_too_long_is_told_so(service: Service) -> None:
    pair = next(pair for pair in PAIRS if pair.answer.startswith("\\det"))
    tests = [{"type": "stdin", "output": pair.expected}]
    assert "reading took too long" in service.grade(code=pair.answer, tests=tests, **MATHEMATICS)["message"]


def test_the_document_counts_what_exact_match_would_refuse() -> None:
    rows = re.findall(r"^\| ([a-z_]+) \| (\d+) \| (\d+) \| (\d+) \|$", DOCUMENT.read_text(), re.MULTILINE)
    assert {name: tuple(map(int, numbers)) for name, *numbers in rows} == _counts(PAIRS)


def _counts(found: list[Pair]) -> dict[str, tuple[int, int, int]]:
    """Return by category the equal pairs, those of them that exact match would refuse, and the unequal pairs."""
    equal, refused, unequal = Counter[str](), Counter[str](), Counter[str]()
    for pair in found:
        if pair.verdict == "AC":
            equal[pair.category] += 1
            refused[pair.category] += not pair.is_exact_match
        elif pair.verdict == "WA":
            unequal[pair.category] += 1
    categories = sorted(equal | unequal)
    return {name: (equal[name], refused[name], unequal[name]) for name in categories}


def graded(service: Service, answer: str, *outputs: str, **more: Any) -> dict[str, Any]:
    """Return the grade of a completion."""
    tests = [{"type": "stdin", "output": list(outputs)}]
    return service.grade(**({"completion": answer, "extraction": "boxed", "tests": tests} | MATHEMATICS | more))


def test_the_last_box_is_the_answer(service: Service) -> None:
    completion = "<think>\\boxed{1}?</think> First \\boxed{2}, so \\boxed{\\frac{1}{2}}."
    assert graded(service, completion, "0.5")["verdict"] == "AC"
    assert graded(service, completion, "2")["verdict"] == "WA"


def test_without_a_box_there_is_no_answer(service: Service) -> None:
    values = {"scheme": "values", "no_format": -1.0, "failed": 0.0, "passed": 1.0}
    grade = graded(service, "It is 5.", "5", reward=values)
    assert (grade["verdict"], grade["message"], grade["reward"]) == ("CE", "no boxed answer", -1.0)


@pytest.mark.parametrize(("rule", "verdict"), [("boxed", "AC"), ("boxed_after_thinking", "CE")])
def test_a_thought_may_have_to_be_finished(service: Service, rule: str, verdict: str) -> None:
    assert graded(service, "\\boxed{5}", "5", extraction=rule)["verdict"] == verdict
    assert graded(service, "Hm.</think>\\boxed{5}", "5", extraction=rule)["verdict"] == "AC"


def test_any_of_several_expected_answers_will_do(service: Service) -> None:
    assert graded(service, "\\boxed{x+1}", "7", "1+x")["verdict"] == "AC"
    assert graded(service, "\\boxed{x+2}", "7", "1+x")["verdict"] == "WA"
    assert graded(service, "\\boxed{0.5}", "The answer is $\\boxed{\\frac{1}{2}}$.")["verdict"] == "AC"
    lines = service.grade(code="print(3)", tests=[{"type": "stdin", "output": ["4", "3"]}])
    assert lines["verdict"] == "AC"


def test_a_tolerance_is_for_those_who_ask(service: Service) -> None:
    near = {"type": "math", "absolute_tolerance": 0.005}
    assert graded(service, "\\boxed{3.14}", "\\pi", checker=near)["verdict"] == "AC"
    assert graded(service, "\\boxed{3.15}", "\\pi", checker=near)["verdict"] == "WA"
    assert graded(service, "\\boxed{0.334}", "\\frac{1}{3}", checker=near)["verdict"] == "AC"
    assert graded(service, "\\boxed{5}", "6", checker={"type": "math", "absolute_tolerance": 2})["verdict"] == "WA"


def test_what_a_program_prints_may_be_mathematics(service: Service) -> None:
    tests = [{"type": "stdin", "input": "2", "output": "\\sqrt{8}"}]
    grade = service.grade(code="print(input() + '\\\\sqrt{2}')", tests=tests, checker={"type": "math"})
    assert (grade["verdict"], grade["tests"][0]["stdout"]) == ("AC", "2\\sqrt{2}\n")
    assert service.grade(code="print(1 / 0)", tests=tests, checker={"type": "math"})["verdict"] == "RTE"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"tests": [{"type": "call", "function": "f", "output": 1}]}, "a text is no program"),
        ({"tests": [{"type": "stdin", "input": "1", "output": "1"}]}, "no use for an input"),
        ({"tests": [{"type": "stdin", "output": " "}]}, "an empty answer"),
        ({"tests": [{"type": "stdin", "output": []}]}, "output"),
        ({"tests": [{"type": "stdin", "output": "1" * 5000}]}, "too long"),
    ],
)
def test_what_does_not_go_together_is_refused(service: Service, change: dict[str, Any], says: str) -> None:
    body = {"completion": "\\boxed{1}", "extraction": "boxed"} | MATHEMATICS | change
    status, answer = service.client.post("/v1/grade", body)
    assert status == 422
    assert says in answer["error"]["message"]
