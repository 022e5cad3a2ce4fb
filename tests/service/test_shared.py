"""A service whose stdin tests share a box: its answers, its audits, and every attack in such a box."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests import corpus
from tests.conftest import Service, running_service
from tests.languages.toolchains import need
from tests.markers import one_in

TESTS = [{"type": "stdin", "input": f"{n} 1\n", "output": f"{n + 1}\n"} for n in range(4)]
SUM = "a, b = map(int, input().split())\nprint(a + b)"
REPEATED = 3  # runs in which an attack passes, before the test that must not be paid
PARTS = 4  # of the attacks


@pytest.fixture(scope="module")
def shared() -> Iterator[Service]:
    with running_service(stdin_isolation="submission", shared_audit_share=1, recheck_share=0) as running:
        yield running


def test_the_setting_shares_and_a_submission_may_refuse(shared: Service) -> None:
    assert shared.grade(code=SUM, tests=TESTS)["shared"] == 3
    assert shared.grade(code=SUM, tests=TESTS, isolation="test")["shared"] == 0


def test_a_service_shares_boxes_unless_it_is_asked_not_to(service: Service) -> None:
    assert service.grade(code=SUM, tests=TESTS)["shared"] == 3
    assert service.grade(code=SUM, tests=TESTS, isolation="test")["shared"] == 0


JAVA = """import java.util.*;
public class Main { static int n; public static void main(String[] args) { Scanner in = new Scanner(System.in);
    System.out.println(in.nextInt() + in.nextInt() + n++); } }
"""


def test_java_is_shared_and_audited_too(shared: Service) -> None:
    need("java")
    found = shared.grade(language="java", code=JAVA, tests=TESTS)
    assert (found["verdict"], found["shared"], found["sharing_audit"]) == ("AC", 3, "agreed")


def test_audits_are_counted_and_reported(shared: Service) -> None:
    before = sharing(shared)
    assert shared.grade(code=SUM, tests=TESTS)["sharing_audit"] == "agreed"
    assert shared.grade(code="print(1)", tests=TESTS)["sharing_audit"] is None
    after = sharing(shared)
    assert after["audits"] - before["audits"] == 1
    assert after["tests"] - before["tests"] == 3
    assert (after["flips"], after["stopped"]) == (before["flips"], False)
    metrics = shared.client.request("GET", "/metrics")[1].decode().splitlines()
    assert f"proctor_shared_audits_total {float(after['audits'])}" in metrics
    assert "proctor_sharing_stopped 0.0" in metrics


def sharing(service: Service) -> dict[str, Any]:
    """What `/healthz` says of shared boxes."""
    time.sleep(0.05)  # an answer is sent before it is counted
    found: dict[str, Any] = service.client.get("/healthz")[1]["sharing"]
    return found


def attacks() -> list[corpus.Attack]:
    return [each for each in corpus.attacks() if each.kind == "stdin" and each.group != "exhausting"]


@pytest.mark.parametrize("part", one_in(PARTS, range(PARTS)))
def test_no_attack_pays_after_tests_that_it_passed(shared: Service, part: int) -> None:
    """Its own output is the expected one in the first tests, so that its box goes on; the last one is the secret."""
    bodies = {each.id: each.body() | {"stop_on_failure": True} for each in attacks()[part::PARTS]}
    alone = shared.client.batch([{"id": f"alone {name}", **body, "isolation": "test"} for name, body in bodies.items()])
    firsts = {name: alone[f"alone {name}"]["tests"][0] for name in bodies}
    passing = {name: first["stdout"] for name, first in firsts.items() if first["exit_code"] == 0}
    longer = []
    for name, output in passing.items():
        test = bodies[name]["tests"][0]
        tests = [test | {"output": output}] * REPEATED + [test]
        longer.append({"id": name, **bodies[name], "tests": tests, "isolation": "submission"})
    grades = shared.client.batch(longer)
    assert len(grades) > len(bodies) / 4
    assert [name for name, grade in grades.items() if grade["verdict"] == "AC" or grade["reward"] != 0] == []
    assert not any(corpus.ESCAPED in test["stdout"] for grade in grades.values() for test in grade["tests"])
