"""Merged tests: references pass them, or they stay apart."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from sandbox_service.schema import AssertTest, Grade, TestResult, Verdict
from sandbox_service.strengthen import merging
from sandbox_service.strengthen.answers import Candidate
from sandbox_service.strengthen.runs import Program, Runner
from sandbox_service.strengthen.subjects import subject_of
from sandbox_service.strengthen.tiers import Made
from sandbox_service.validation.judge import Fields
from tests.strengthen.world import Memory
from tests.validation.world import sums

SQUARE = "def f(x):\n    return x * x"
TIRED = "calls = []\ndef f(x):\n    calls.append(x)\n    return x * x if len(calls) < 3 else 0"
GIVEN = sums(tests=[{"type": "assert", "code": "assert f(2) == 4\nassert f(3) == 9"}], solutions=[{"code": SQUARE}])


class AssertingJudge:
    """Runs trusted test programs in this process; a test takes 10 ms of CPU time."""

    async def grade(self, shared: Fields, submissions: Sequence[Fields]) -> list[Grade]:
        return [self._grade(shared["tests"], each["code"]) for each in submissions]

    def _grade(self, tests: Sequence[Any], code: str) -> Grade:
        results = [
            TestResult(index=index, verdict=self._verdict(code, test["code"]), cpu_seconds=0.01)
            for index, test in enumerate(tests)
        ]
        failed = next((each.verdict for each in results if each.verdict != Verdict.AC), Verdict.AC)
        return Grade(id="", verdict=failed, reward=float(failed == Verdict.AC), tests=results)

    def _verdict(self, code: str, test: str) -> Verdict:
        try:
            exec(f"{code}\n{test}", {})
        except AssertionError:
            return Verdict.WA
        return Verdict.AC


def merged(*references: str, is_audit: bool) -> list[AssertTest]:
    subject = subject_of(GIVEN)
    assert not isinstance(subject, str)
    tests = [AssertTest(code=f"assert f({x}) == {x * x}\n") for x in (5, 6, 7)]
    chosen = [Candidate(test, Made(f"[{at}]", "seen"), seconds=0.001) for at, test in enumerate(tests)]
    programs = [Program("reference", f"{at}", code) for at, code in enumerate(references)]
    merge = merging.audit_tests if is_audit else merging.scored_tests
    found = asyncio.run(merge(Runner(GIVEN, AssertingJudge(), Memory()), subject, chosen, programs))
    assert all(isinstance(each, AssertTest) and each.role == ("audit" if is_audit else "scored") for each in found)
    return found  # type: ignore[return-value]


@pytest.mark.parametrize("is_audit", [False, True])
def test_tests_are_merged_if_all_references_pass(is_audit: bool) -> None:
    [found] = merged(SQUARE, SQUARE + "\n", is_audit=is_audit)
    assert found.code.count("\n") == 3  # a loop, or three assertions
    assert all(f"{x * x}" in found.code for x in (5, 6, 7))
    assert found.cpu_seconds == (0.08 if is_audit else None)  # eight times what it took as one


@pytest.mark.parametrize("is_audit", [False, True])
def test_tests_stay_apart_if_a_reference_changes_from_call_to_call(is_audit: bool) -> None:
    found = merged(SQUARE, TIRED, is_audit=is_audit)
    assert [each.code for each in found] == [f"assert f({x}) == {x * x}\n" for x in (5, 6, 7)]
    assert {each.cpu_seconds for each in found} == ({merging.LEAST_AUDIT_SECONDS} if is_audit else {None})
