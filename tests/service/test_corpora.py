"""Every attack, every unusual but right program, every program filed under its verdict, through the real service.

`make test` runs each attack in one kind of test, and all three kinds in turn; `make test-all` runs it in each kind.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

from tests import corpus
from tests.conftest import Service
from tests.markers import selected

Grades = dict[str, dict[str, Any]]


def attacks() -> list[Any]:
    """All attacks as parameters. Of each all kinds of test but one are marked `full`."""
    kinds: dict[str, list[corpus.Attack]] = defaultdict(list)
    for attack in corpus.attacks():
        kinds[f"{attack.group}/{attack.name}"].append(attack)
    found = []
    for place, alike in enumerate(kinds.values()):
        for attack in alike:
            is_repetition = attack is not alike[place % len(alike)]
            found.append(pytest.param(attack, id=attack.id, marks=pytest.mark.full if is_repetition else ()))
    return found


@pytest.fixture(scope="module")
def attacked(service: Service, request: pytest.FixtureRequest) -> Grades:
    """All attacks of the selected tests at once, each with an honest neighbour graded at the same time."""
    attacks = [{"id": attack.id, **attack.body()} for attack in selected(request, "attack")]
    honest = [honest_submission(f"honest-{number}") for number in range(len(attacks))]
    return service.client.batch([each for pair in zip(attacks, honest, strict=True) for each in pair])


def honest_submission(name: str) -> dict[str, Any]:
    """A right program with a test of its own."""
    test = {"type": "stdin", "input": f"{name} 1 2\n", "output": f"{name} 3\n"}
    return {"id": name, "code": "n, a, b = input().split()\nprint(n, int(a) + int(b))", "tests": [test]}


@pytest.mark.parametrize("attack", attacks())
def test_no_attack_pays(attacked: Grades, attack: corpus.Attack) -> None:
    grade = attacked[attack.id]
    assert grade["verdict"] in attack.expect, grade
    assert grade["reward"] == 0.0
    assert not any(corpus.ESCAPED in test["stdout"] for test in grade["tests"]), grade


def test_no_attack_harms_a_neighbour(attacked: Grades) -> None:
    harmed = [grade for name, grade in attacked.items() if name.startswith("honest-") and grade["verdict"] != "AC"]
    assert harmed == []


@pytest.fixture(scope="module")
def right(service: Service) -> Grades:
    return service.client.batch({"id": program.id, **program.body()} for program in corpus.programs())


@pytest.mark.parametrize("program", corpus.programs(), ids=lambda program: program.id)
def test_unusual_but_right_programs_are_accepted(right: Grades, program: corpus.Program) -> None:
    grade = right[program.id]
    assert grade["verdict"] == "AC", grade
    assert grade["reward"] == 1.0


@pytest.fixture(scope="module")
def filed(service: Service) -> Grades:
    return service.client.batch({"id": case.id, **case.body()} for case in corpus.verdicts())


@pytest.mark.parametrize("case", corpus.verdicts(), ids=lambda case: case.id)
def test_programs_get_the_verdict_of_their_folder(filed: Grades, case: corpus.VerdictCase) -> None:
    grade = filed[case.id]
    assert grade["verdict"] == case.verdict, grade
    assert grade["reward"] == (1.0 if case.verdict == "AC" else 0.0)
