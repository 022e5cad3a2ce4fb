"""Stdin tests of Java programs in one virtual machine: the verdicts are those of fresh ones, whatever is left."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox_service.grading.grader import Grader
from sandbox_service.languages import plain_java
from sandbox_service.schema import Grade
from tests.languages import shared_java
from tests.languages.toolchains import need, submission

TESTS = [{"type": "stdin", "input": f"{n} {n + 1}\nmore\n", "output": f"{2 * n + 1}\n"} for n in range(4)]
LIMITS = {"cpu_seconds": 2, "wall_seconds": 6, "memory_bytes": 128 << 20, "output_bytes": 1 << 20}
CHEAP = {"static field", "exit 0 in one test"}
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


# --- programs that want to be paid for more: the lists of plain programs are out of the way

PRINT = shared_java.PRINT
OUT = "OutputStream said = new FileOutputStream(FileDescriptor.out);"
GREEDY = {
    "says that it ended, and fails": f"{PRINT} {OUT} said.write('D'); if (a > 0) throw new Error();",
    "says so before the output": f"{OUT} said.write('D'); {PRINT}",
    "says so twice": f"if (a == 0) {PRINT} {OUT} said.write('D'); said.write('D');",
    "reads from the channel": f"{PRINT} if (a > 0 && new FileInputStream(FileDescriptor.in).read() != 'x')"
    " throw new Error();",
    "remembers earlier tests": 'if (a == 0 || System.getProperty("left") != null) System.out.println(a + b);'
    ' System.setProperty("left", "x");',
    "prints the answer of the test before": 'String old = System.getProperty("left", "");'
    ' System.out.println(a == 0 ? "1" : old); System.setProperty("left", "" + (a + b));',
    "changes the file of its input": f'try (OutputStream to = new FileOutputStream("/proc/self/fd/3"))'
    f' {{ to.write("9 9".getBytes()); }} catch (IOException e) {{ }} if (a == 0) {PRINT}',
    "writes to the next test": f"if (a > 0) return; {PRINT} Thread t = new Thread(() -> {{ for (;;)"
    ' try (OutputStream o = new FileOutputStream("/proc/self/fd/4")) { o.write("3\\n".getBytes()); Thread.sleep(1); }'
    " catch (Exception e) { } }); t.setDaemon(true); t.start();",
    "closes the channel": f"{PRINT} {OUT} said.close(); if (a > 0) throw new Error();",
}


@pytest.mark.full
@pytest.mark.parametrize("name", GREEDY)
def test_greed_is_not_paid(grader: Grader, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_java, "is_plain", lambda _classes: True)
    code = shared_java.SUM % ("", GREEDY[name])
    fresh, shared = (grade(grader, code, each) for each in ("test", "submission"))
    assert fresh.verdict != "CE", fresh.message
    assert shared.reward == fresh.reward == 0
    for one, other in zip(fresh.tests, shared.tests, strict=True):
        if one.verdict != "AC" == other.verdict:  # it can pretend that a test ended well that printed the right output
            # what is written to the descriptor of the output goes to the channel of a shared box
            assert one.stdout.replace("D", "").startswith(other.stdout)
