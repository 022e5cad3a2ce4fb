"""Groups of tests and hidden tests, through the service."""

from __future__ import annotations

import hashlib
import json

from tests.conftest import Service

ECHO_SMALL = "n = int(input())\nprint(n if n < 10 else 0)"
GROUPS = [
    {"name": "small", "points": 30.0},
    {"name": "large", "points": 70.0, "requires": ["small"]},
]


def number(value: int, group: str, **fields: object) -> dict[str, object]:
    return {"type": "stdin", "input": f"{value}\n", "output": f"{value}\n", "group": group, **fields}


TESTS = [number(1, "small"), number(2, "small"), number(100, "large"), number(200, "large")]


def test_the_reward_is_the_share_of_the_points(service: Service) -> None:
    grade = service.grade(code=ECHO_SMALL, tests=TESTS, groups=GROUPS, reward={"scheme": "score"})
    assert (grade["verdict"], grade["reward"], grade["score"]) == ("WA", 0.3, 30.0)
    assert grade["groups"] == [
        {"name": "small", "score": 30.0, "points": 30.0, "verdict": "AC"},
        {"name": "large", "score": 0.0, "points": 70.0, "verdict": "WA"},
    ]
    assert [test["index"] for test in grade["tests"]] == [0, 1, 2]  # the last one could not change the score
    whole = service.grade(code="print(input())", tests=TESTS, groups=GROUPS, reward={"scheme": "score"})
    assert (whole["verdict"], whole["reward"], whole["score"]) == ("AC", 1.0, 100.0)


def test_a_lost_group_is_not_run_and_neither_are_those_that_require_it(service: Service) -> None:
    grade = service.grade(code="print(0)", tests=TESTS, groups=GROUPS)
    assert [test["index"] for test in grade["tests"]] == [0]
    all_run = service.grade(code="print(0)", tests=TESTS, groups=GROUPS, stop_on_failure=False)
    assert [test["index"] for test in all_run["tests"]] == [0, 1, 2, 3]


def test_groups_may_come_with_a_suite(service: Service) -> None:
    body = json.dumps({"tests": TESTS, "groups": GROUPS}).encode()
    name = hashlib.sha256(body).hexdigest()
    assert service.client.request("PUT", f"/v1/suites/{name}", body)[0] in (200, 201)
    grade = service.grade(code=ECHO_SMALL, suite=f"sha256:{name}", reward={"scheme": "score"})
    assert (grade["reward"], grade["score"]) == (0.3, 30.0)


def test_groups_that_make_no_sense_are_refused(service: Service) -> None:
    for changes in (
        {"groups": [{"name": "small"}]},
        {"groups": GROUPS, "sample": {"count": 1}},
        {"groups": [*GROUPS, {"name": "empty"}]},
    ):
        status, answer = service.client.post("/v1/grade", {"code": "1", "tests": TESTS, **changes})
        assert status in (400, 422), answer


def test_a_hidden_test_shows_its_verdict_only(service: Service) -> None:
    hidden = [number(7, ""), number(8, "", hidden=True)]
    code = "import sys\nn = input()\nprint('secret', n, file=sys.stderr)\nprint(7)"
    grade = service.grade(code=code, tests=hidden)
    shown, secret = grade["tests"]
    assert shown["stdout"] == "7\n"
    assert "secret 7" in shown["stderr"]
    assert (secret["verdict"], secret["hidden"]) == ("WA", True)
    assert (secret["stdout"], secret["stderr"], secret["message"]) == ("", "", None)
    assert grade["message"] == "a hidden test failed"
    assert "8" not in grade["message"]
