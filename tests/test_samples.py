"""The problems of `datasets/samples`: each is whole, and the real grader says of each solution what its file says.

What is not tried: whether a statement can be understood, and whether a difficulty is right.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from sandbox_service.formats.problem import Problem, Solution
from sandbox_service.schema import AssertTest, CallTest, InteractiveTest, StdinTest, TestCase
from tests.conftest import Service
from tests.markers import one_in, selected

SAMPLES = Path(__file__).resolve().parent.parent / "datasets" / "samples"
KINDS = {"stdin": 12, "call": 10, "assert": 6, "math": 2}
MOST_BYTES = 250_000
MOST_INPUT_BYTES = 20_000
FEWEST_TESTS = 8
FEWEST_ALPHANUMERIC = 100
FEWEST_SLOW = 6
ROUNDS = (1, 2)


@cache
def of_kind(kind: str) -> list[Problem]:
    """The problems of one file."""
    lines = (SAMPLES / f"{kind}.jsonl").read_text().splitlines()
    return [Problem.model_validate_json(line) for line in lines]


PROBLEMS = [problem for kind in KINDS for problem in of_kind(kind)]
PROGRAMS = [problem for problem in PROBLEMS if problem.language != "text"]
GRADED = [each for kind in KINDS for each in one_in(3, of_kind(kind))]


def by_id(problem: Problem) -> str:
    return problem.id


def case(test: TestCase) -> str:
    """A test but for its weight, to tell two of them apart."""
    return test.model_dump_json(exclude={"weight"})


def expected(test: TestCase) -> str | None:
    """What is expected of an answer; None if only running the test tells."""
    return None if isinstance(test, AssertTest) else json.dumps(test.output)


def given(test: TestCase) -> str:
    """What an answer is given to work on."""
    match test:
        case StdinTest() | InteractiveTest():
            return test.input
        case CallTest():
            return json.dumps(test.calls or test.args)
        case AssertTest():
            return test.code


def key(problem: Problem, solution: Solution, number: int) -> str:
    return f"{problem.id} {solution.name} {number}"


@pytest.mark.parametrize("kind", KINDS)
def test_each_file_has_its_kind(kind: str) -> None:
    assert len(of_kind(kind)) == KINDS[kind]
    for problem in of_kind(kind):
        assert {test.type for test in problem.tests or ()} == {"stdin" if kind == "math" else kind}
        assert (problem.language == "text") == (kind == "math")
        assert (problem.source, problem.licence) == ("samples", "Apache-2.0")
        assert problem.difficulty is not None
        assert problem.meta is not None
        assert problem.meta["tags"]


def test_the_files_are_small() -> None:
    files = sorted(SAMPLES.glob("*.jsonl"))
    assert [path.stem for path in files] == sorted(KINDS)
    assert sum(path.stat().st_size for path in files) <= MOST_BYTES
    assert max(len(given(test).encode()) for each in PROBLEMS for test in each.tests or ()) <= MOST_INPUT_BYTES


def test_no_two_problems_are_the_same() -> None:
    assert [name for name, count in Counter(problem.id for problem in PROBLEMS).items() if count > 1] == []
    statements = Counter(" ".join(re.findall(r"\w+", (problem.prompt or "").lower())) for problem in PROBLEMS)
    assert statements.most_common(1)[0][1] == 1


@pytest.mark.parametrize("problem", PROBLEMS, ids=by_id)
def test_a_statement_is_a_text(problem: Problem) -> None:
    assert problem.prompt is not None
    assert sum(map(str.isalnum, problem.prompt)) >= FEWEST_ALPHANUMERIC
    assert problem.starter.strip() in problem.prompt


@pytest.mark.parametrize("problem", PROGRAMS, ids=by_id)
def test_the_tests_tell_answers_apart(problem: Problem) -> None:
    tests = problem.tests or []
    assert len(tests) >= FEWEST_TESTS
    assert len({given(test) if test.type != "call" else case(test) for test in tests}) == len(tests)
    outputs = [output for test in tests if (output := expected(test)) is not None]
    assert not outputs or len(set(outputs)) > 1


@pytest.mark.parametrize("problem", PROBLEMS, ids=by_id)
def test_there_are_right_and_wrong_solutions(problem: Problem) -> None:
    assert len(problem.references) >= 2
    assert sum(not {"WA", "NOT_AC"}.isdisjoint(each.verdicts) for each in problem.wrong) >= 2
    assert len(problem.references) + len(problem.wrong) == len(problem.solutions)
    names, codes = {each.name for each in problem.solutions}, {each.code for each in problem.solutions}
    assert len(names) == len(codes) == len(problem.solutions)
    assert {each.language for each in problem.solutions} == {problem.language}


def test_some_are_slow_and_some_crash() -> None:
    verdicts = Counter(verdict for problem in PROBLEMS for each in problem.solutions for verdict in each.verdicts)
    assert verdicts["TLE"] >= FEWEST_SLOW
    assert verdicts["RTE"] >= len(PROBLEMS) // 2


@pytest.fixture(scope="module")
def grades(service: Service, request: pytest.FixtureRequest) -> dict[str, dict[str, Any]]:
    """Grade the selected problems' solutions, each twice but those that use up the limit, with the problems' limits."""
    return service.client.batch(
        submission(problem, solution, number)
        for number in ROUNDS
        for problem in selected(request, "problem")
        for solution in problem.solutions
        if number in rounds(solution)
    )


def rounds(solution: Solution) -> tuple[int, ...]:
    """How often a solution is graded."""
    return ROUNDS[:1] if "TLE" in solution.verdicts else ROUNDS


def submission(problem: Problem, solution: Solution, number: int) -> dict[str, Any]:
    fields = problem.model_dump(mode="json", include={"tests", "checker", "limits"})
    shared = {name: value for name, value in fields.items() if value is not None}
    return {**shared, "id": key(problem, solution, number), "code": solution.code, "language": solution.language}


@pytest.mark.parametrize("problem", GRADED, ids=by_id)
def test_each_solution_gets_its_verdict_twice(problem: Problem, grades: dict[str, dict[str, Any]]) -> None:
    for solution in problem.solutions:
        first, *again = (grades[key(problem, solution, number)] for number in rounds(solution))
        assert not any(grade["grader"]["cached"] for grade in (first, *again))
        assert {grade["verdict"] for grade in (first, *again)} == {first["verdict"]}, solution.name
        assert is_right(first["verdict"], solution), f"{solution.name}: {first['verdict']}, {first['message']}"


def is_right(verdict: str, solution: Solution) -> bool:
    """Whether a verdict is one of those that the solution may get. A fault of ours never is."""
    if "NOT_AC" in solution.verdicts:
        return verdict not in ("AC", "IE")
    return verdict in solution.verdicts


@pytest.mark.parametrize("problem", of_kind("math"), ids=by_id)
def test_a_box_is_found_in_an_answer(problem: Problem, service: Service) -> None:
    [right, *_], wrong = problem.references, problem.wrong[0]
    for solution, verdict in ((right, "AC"), (wrong, "WA")):
        said = submission(problem, solution, 0) | {"code": None, "completion": f"So it is ${solution.code.strip()}$."}
        grade = service.grade(**said | {"id": "", "extraction": "boxed"})
        assert grade["verdict"] == verdict, grade["message"]
