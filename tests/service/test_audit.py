"""Audit tests, through the service: they run after all others passed, and make a submission suspect."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Service

TABLE = "print({'1': 1, '2': 4}.get(input().strip(), 0))"
SQUARE = "print(int(input()) ** 2)"


def squared(value: int, **fields: object) -> dict[str, Any]:
    return {"type": "stdin", "input": f"{value}\n", "output": f"{value * value}\n", **fields}


def called(value: int, **fields: object) -> dict[str, Any]:
    return {"type": "call", "function": "square", "args": [value], "output": value * value, **fields}


AUDIT = [squared(7, role="audit"), squared(1), squared(8, role="audit"), squared(2)]


def test_a_table_is_suspect_and_keeps_verdict_score_and_reward(service: Service) -> None:
    grade = service.grade(code=TABLE, tests=AUDIT)
    assert (grade["verdict"], grade["reward"], grade["passed"], grade["total"]) == ("AC", 1.0, 2, 2)
    assert [each["index"] for each in grade["tests"]] == [1, 3]
    assert grade["suspect"]
    assert [(each["index"], each["verdict"]) for each in grade["audit"]] == [(0, "WA")]  # none after the first failure


def test_a_right_program_passes_them(service: Service) -> None:
    grade = service.grade(code=SQUARE, tests=AUDIT)
    assert (grade["verdict"], grade["suspect"]) == ("AC", False)
    assert [(each["index"], each["verdict"]) for each in grade["audit"]] == [(0, "AC"), (2, "AC")]


def test_they_do_not_run_after_a_failure(service: Service) -> None:
    for stops in (True, False):
        grade = service.grade(code="print(1)", tests=AUDIT, stop_on_failure=stops)
        assert (grade["verdict"], grade["suspect"], grade["audit"]) == ("WA", False, None)


@pytest.mark.parametrize("scheme", ["all_or_nothing", "fraction", "weighted", "score", "values"])
def test_a_scheme_may_pay_a_suspect_otherwise(service: Service, scheme: str) -> None:
    for code, reward in ((TABLE, 0.25), (SQUARE, 1.0), ("print(2)", 0.0)):
        grade = service.grade(code=code, tests=AUDIT, reward={"scheme": scheme, "suspect": 0.25})
        assert grade["reward"] == reward
    grade = service.grade(code=TABLE, tests=AUDIT, reward={"scheme": scheme})
    assert grade["reward"] == 1.0


def test_a_share_counts_scored_tests_only(service: Service) -> None:
    one = "print(1)"
    for scheme in ("fraction", "weighted"):
        grade = service.grade(code=one, tests=AUDIT, reward={"scheme": scheme}, stop_on_failure=False)
        assert grade["reward"] == 0.5


def test_calls_and_samples(service: Service) -> None:
    tests = [called(1), called(9, role="audit"), called(2), called(3)]
    code = "def square(n):\n    return {1: 1, 2: 4, 3: 9}.get(n)"
    grade = service.grade(code=code, tests=tests)
    assert (grade["verdict"], grade["suspect"], grade["total"]) == ("AC", True, 3)
    assert [each["index"] for each in grade["audit"]] == [1]
    sampled = service.grade(code=code, tests=tests, sample={"count": 1, "rule": "first"})
    assert (sampled["verdict"], sampled["suspect"], sampled["total"]) == ("AC", True, 1)
    assert [each["index"] for each in sampled["audit"]] == [1]


def test_a_hidden_one_shows_its_verdict_only(service: Service) -> None:
    grade = service.grade(code=TABLE, tests=[squared(1), squared(5, role="audit", hidden=True)])
    assert grade["suspect"]
    assert (grade["audit"][0]["stdout"], grade["audit"][0]["message"]) == ("", None)


def test_a_test_that_cannot_be_run_is_no_failure_of_the_submission(service: Service) -> None:
    broken = {"type": "call", "function": "square", "args": [1], "output": float("nan"), "role": "audit"}
    grade = service.grade(code="def square(n):\n    return n * n", tests=[called(2), broken])
    assert (grade["verdict"], grade["reward"], grade["suspect"]) == ("AC", 1.0, False)
    assert [each["verdict"] for each in grade["audit"]] == ["IE"]


def test_what_makes_no_sense_is_refused(service: Service) -> None:
    group = {"groups": [{"name": "a"}]}
    for tests, more in (([squared(1, role="audit")], {}), ([squared(1, role="audit", group="a"), squared(2)], group)):
        status, answer = service.client.post("/v1/grade", {"code": "1", "tests": tests, **more})
        assert status in (400, 422)
        assert "audit" in str(answer)


def test_the_page_is_told(service: Service) -> None:
    name = service.grade(code=TABLE + "\n# shown on the page", tests=AUDIT)["id"]
    listed = service.client.get("/v1/recent")[1]["submissions"]
    key = next(each["key"] for each in listed if each["id"] == name)
    shown = service.client.get(f"/v1/recent/{key}")[1]
    assert shown["suspect"]
    assert [(each["index"], each["verdict"]) for each in shown["tests"]] == [(0, "WA"), (1, "AC"), (3, "AC")]


def test_suspects_are_counted(service: Service) -> None:
    def suspects() -> float:
        lines = service.client.request("GET", "/metrics")[1].decode().splitlines()
        return float(next(line for line in lines if line.startswith("proctor_suspects_total")).split()[1])

    before = suspects()
    service.grade(code=TABLE + "\n# another program than those above", tests=AUDIT)
    assert suspects() == before + 1


def asserted(*values: int, **fields: object) -> dict[str, Any]:
    code = "".join(f"    assert candidate({value}) == {value * value}\n" for value in values)
    return {"type": "assert", "code": f"def check(candidate):\n{code}", "entry_point": "square", **fields}


def test_test_programs_share_the_boxes_of_the_last_scored_one(service: Service) -> None:
    table = "def square(n):\n    return {1: 1, 2: 4, 3: 9}[n]"
    tests = [asserted(1), asserted(2, 3), asserted(7, role="audit"), asserted(8, role="audit")]
    for code, suspect in ((table, True), ("def square(n):\n    return n * n", False)):
        grade = service.grade(code=code, tests=tests)
        assert (grade["verdict"], grade["suspect"], grade["passed"]) == ("AC", suspect, 2)
        verdicts = [(each["index"], each["verdict"]) for each in grade["audit"]]
        assert verdicts == ([(2, "RTE")] if suspect else [(2, "AC"), (3, "AC")])
        shares = [grade["tests"][1]["cpu_seconds"], grade["audit"][0]["cpu_seconds"]]
        assert shares[0] == shares[1]  # the boxes were the same


def test_only_a_pass_of_the_scored_test_is_believed_beside_an_audit_test(service: Service) -> None:
    """A program that bears one test program only, or that ends in the audit test, passes its scored test alone."""
    once = "calls = []\ndef square(n):\n    calls.append(n)\n    return n * n if len(calls) < 2 else 0"
    ends = "import os\ndef square(n):\n    return n * n if n < 5 else os._exit(0)"
    for code, suspect in ((once, False), (ends, True)):
        grade = service.grade(code=code, tests=[asserted(3), asserted(7, role="audit")])
        assert (grade["verdict"], grade["suspect"], grade["total"]) == ("AC", suspect, 1)
    grade = service.grade(code="def square(n):\n    return n + 6", tests=[asserted(2), asserted(3, role="audit")])
    assert (grade["verdict"], grade["suspect"], grade["audit"]) == ("WA", False, None)


def test_an_endless_audit_test_costs_its_own_limit(service: Service) -> None:
    code = "def square(n):\n    while n > 5:\n        pass\n    return n * n"
    for audit in (asserted(7, role="audit", cpu_seconds=0.1), called(7, role="audit", cpu_seconds=0.1)):
        scored = asserted(3) if audit["type"] == "assert" else called(3)
        grade = service.grade(code=code, tests=[scored, audit], limits={"cpu_seconds": 5})
        assert (grade["verdict"], grade["suspect"]) == ("AC", True)
        assert [each["verdict"] for each in grade["audit"]] == ["TLE"]
        assert grade["audit"][0]["cpu_seconds"] < 1


def test_a_slow_program_has_more_than_its_audit_test_says(service: Service) -> None:
    code = "def square(n):\n    for _ in range(1_000_000):\n        n += 0\n    return n * n"
    grade = service.grade(code=code, tests=[asserted(3), asserted(7, role="audit", cpu_seconds=0.001)])
    assert (grade["verdict"], grade["suspect"]) == ("AC", False)
    assert [each["verdict"] for each in grade["audit"]] == ["AC"]


def test_a_scored_test_has_no_limit_of_its_own(service: Service) -> None:
    status, answer = service.client.post("/v1/grade", {"code": "1", "tests": [squared(1, cpu_seconds=1.0)]})
    assert status in (400, 422)
    assert "cpu_seconds is for audit tests" in str(answer)
