"""Stdin tests of Java programs in one virtual machine: the verdicts are those of fresh ones, whatever is left."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox_service.grading.grader import Grader
from sandbox_service.schema import Grade
from tests.languages import shared_java
from tests.languages.toolchains import need, submission

TESTS = [{"type": "stdin", "input": f"{n} {n + 1}\nmore\n", "output": f"{2 * n + 1}\n"} for n in range(4)]
LIMITS = {"cpu_seconds": 2, "wall_seconds": 6, "memory_bytes": 128 << 20, "output_bytes": 1 << 20}
CHEAP = {"static field", "stdin closed", "interned text", "locale", "exception after the output", "exit 0 in one test"}
"""The others show the same of more states; each costs two virtual machines and a compiler."""


def grade(grader: Grader, code: str, isolation: str, **fields: Any) -> Grade:
    """The grade of a program on TESTS, all of which are run."""
    need("java")
    given = {"tests": TESTS, "limits": LIMITS, "stop_on_failure": False, "isolation": isolation} | fields
    return grader.grade(submission("java", code, **given))


def verdicts(grade: Grade) -> list[str]:
    return [test.verdict for test in grade.tests]


def params(names: Any) -> list[Any]:
    return [pytest.param(each, marks=() if each in CHEAP else pytest.mark.full) for each in names]


@pytest.mark.parametrize("name", params(shared_java.STATES))
def test_a_state_left_behind_changes_no_verdict(grader: Grader, name: str) -> None:
    state = shared_java.STATES[name]
    for code in (shared_java.suffers(state), shared_java.profits(state)):
        fresh, shared = grade(grader, code, "test"), grade(grader, code, "submission")
        assert fresh.verdict != "CE", fresh.message
        assert fresh.shared == 0
        assert verdicts(shared) == verdicts(fresh), [test.message for test in shared.tests]
        if code == shared_java.suffers(state):
            assert fresh.passed == len(TESTS), "else this compares failures with failures"
            assert shared.shared == (len(TESTS) - 1 if state.is_shared else 0)


@pytest.mark.parametrize("name", params(shared_java.ENDS))
def test_a_test_ends_as_in_a_fresh_machine(grader: Grader, name: str) -> None:
    fresh, shared = (grade(grader, shared_java.ends(name), each) for each in ("test", "submission"))
    assert fresh.verdict != "CE", fresh.message
    assert verdicts(shared) == verdicts(fresh), [test.message for test in shared.tests]
    assert [test.exit_code for test in shared.tests] == [test.exit_code for test in fresh.tests]
    assert [test.stdout for test in shared.tests] == [test.stdout for test in fresh.tests]
