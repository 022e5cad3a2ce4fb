"""Stdin tests in one box: the verdicts are those of fresh boxes, whatever a program leaves behind."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sandbox_service import bootstrap
from sandbox_service.grading.grader import Grader
from sandbox_service.grading.ordered_tests import Progress
from sandbox_service.schema import Grade, Submission
from sandbox_service.settings import Settings
from tests.conftest import ISOLATION, need_firejail
from tests.grading import stateful
from tests.markers import one_in

TESTS = [{"type": "stdin", "input": f"{n} {n + 1}\nmore\n", "output": f"{2 * n + 1}\n"} for n in range(5)]
SUM = "a, b = map(int, input().split())\n"


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    need_firejail()
    with bootstrap.grader(Settings(isolation=ISOLATION)) as found:
        yield found


def grade(grader: Grader, code: str, isolation: str, **fields: Any) -> Grade:
    """The grade of a program on TESTS, all of which are run."""
    body = {"id": "x", "code": code, "tests": TESTS, "stop_on_failure": False, "isolation": isolation} | fields
    return grader.grade(Submission.model_validate(body))


def verdicts(grade: Grade) -> list[str]:
    return [test.verdict for test in grade.tests]


@pytest.mark.parametrize("name", one_in(3, stateful.STATES))
def test_a_state_left_behind_changes_no_verdict(grader: Grader, name: str) -> None:
    state = stateful.STATES[name]
    for code in (stateful.suffers(state), stateful.profits(state)):
        fresh, shared = grade(grader, code, "test"), grade(grader, code, "submission")
        assert fresh.shared == 0
        assert verdicts(shared) == verdicts(fresh), (code, [test.message for test in shared.tests])
        if name in stateful.PUT_BACK and fresh.verdict == "AC":
            assert shared.shared == len(TESTS) - 1


@pytest.mark.parametrize("name", one_in(3, stateful.STATES))
def test_a_fresh_process_has_no_state(grader: Grader, name: str) -> None:
    """Otherwise the test above compares failures with failures."""
    state = stateful.STATES[name]
    assert grade(grader, stateful.suffers(state), "test").passed == len(TESTS)


def test_a_generator_that_would_act_when_it_is_freed_shares_no_box(grader: Grader) -> None:
    """It holds itself, and leaves a block that puts back the decimal context when it is freed."""
    code = (
        "import decimal\ndef own():\n    me = yield\n    with decimal.localcontext():\n        yield\n"
        + SUM
        + "lists = [[] for _ in range(3000 * (a > 0))]\n"  # the collector runs, but not in the first test
        "print(a + b if decimal.getcontext().prec == 28 else 'no')\n"
        "decimal.getcontext().prec = 7\nheld = own()\nnext(held)\nheld.send(held)\nheld = lists = None\n"
    )
    fresh, shared = grade(grader, code, "test"), grade(grader, code, "submission")
    assert fresh.verdict == shared.verdict == "AC"
    assert shared.shared == 0


# --- what shares a box, and what does not


@pytest.mark.parametrize(("count", "shared"), [(1, 0), (2, 0), (3, 2), (5, 4)])
def test_a_few_tests_are_not_worth_a_box(grader: Grader, count: int, shared: int) -> None:
    assert grade(grader, SUM + "print(a + b)", "submission", tests=TESTS[:count]).shared == shared


@pytest.mark.parametrize(
    ("isolation", "shared"), [("submission", 4), ("test", 0), ("calls", 0), ("shuffled", 0), (None, 4)]
)
def test_the_request_decides(grader: Grader, isolation: str, shared: int) -> None:
    found = grade(grader, SUM + "print(a + b)", isolation)
    assert (found.verdict, found.shared) == ("AC", shared)


@pytest.mark.parametrize(
    ("imports", "more"),
    [("", {"limits": {"processes": 2}}), ("", {"checker": {"type": "math"}}), ("import numpy\n", {})],
    ids=["processes", "mathematics", "numpy"],
)
def test_some_submissions_never_share(grader: Grader, imports: str, more: dict[str, Any]) -> None:
    found = grade(grader, imports + SUM + "print(a + b)", "submission", **more)
    assert found.shared == 0


def test_only_passes_are_taken_from_a_shared_box(grader: Grader) -> None:
    wrong_once = grade(grader, SUM + "print(a + b if a != 2 else 0)", "submission")
    assert verdicts(wrong_once) == ["AC", "AC", "WA", "AC", "AC"]
    assert wrong_once.shared == 1
    stopped = grade(grader, SUM + "print(a + b if a != 2 else 0)", "submission", stop_on_failure=True)
    assert verdicts(stopped) == ["AC", "AC", "WA"]
    raises = grade(grader, SUM + "print(a + b)\nassert a != 3", "submission")
    assert verdicts(raises) == ["AC", "AC", "AC", "RTE", "AC"]
    assert raises.tests[3].exit_code == 1


def test_a_first_failure_is_that_of_a_fresh_box(grader: Grader) -> None:
    for code, verdict in (("print(1 + 1)", "WA"), ("1 / 0", "RTE"), ("x = (", "CE"), ("import os; os._exit(3)", "RTE")):
        fresh, shared = (grade(grader, code, each, stop_on_failure=True) for each in ("test", "submission"))
        assert (shared.verdict, shared.message) == (fresh.verdict, fresh.message)
        assert shared.verdict == verdict
        assert len(shared.tests) == 1


@pytest.mark.parametrize("begin", ["", "import os\n", "import io\n", "tell = 1\n"])
def test_a_first_output_that_is_wrong_is_shown(grader: Grader, begin: str) -> None:
    found = grade(grader, begin + "print('no')", "submission")
    assert [(test.verdict, test.stdout) for test in found.tests] == [("WA", "no\n")] * len(TESTS)


def test_a_box_has_the_time_of_one_test(grader: Grader) -> None:
    """Each test takes 0.2 s of CPU time, as well as a program can measure it, so not all of them fit into 0.7 s."""
    work = "import time\nend = time.perf_counter() + 0.2\nwhile time.perf_counter() < end: pass\n"
    limits = {"cpu_seconds": 0.7, "wall_seconds": 60}
    found = grade(grader, work + SUM + "print(a + b)", "submission", limits=limits)
    assert found.verdict == "AC"
    assert found.shared < len(TESTS) - 1 or sum(test.cpu_seconds for test in found.tests) < 0.7
    assert all(test.cpu_seconds < 0.7 for test in found.tests)


def test_one_test_that_takes_too_long_is_repeated_alone(grader: Grader) -> None:
    code = SUM + "while a == 3: pass\nprint(a + b)"
    found = grade(grader, code, "submission", limits={"cpu_seconds": 0.3})
    assert verdicts(found) == ["AC", "AC", "AC", "TLE", "AC"]


def test_waiting_is_limited_as_for_one_test(grader: Grader) -> None:
    code = "import time\n" + SUM + "time.sleep(0.3)\nprint(a + b)"
    found = grade(grader, code, "submission", limits={"cpu_seconds": 0.5, "wall_seconds": 1})
    assert found.verdict == "AC"


def test_memory_that_a_test_frees_is_not_counted_twice(grader: Grader) -> None:
    code = SUM + "x = bytearray(60 << 20)\nprint(a + b)"
    found = grade(grader, code, "submission", limits={"memory_bytes": 100 << 20})
    assert (found.verdict, found.shared) == ("AC", 4)
    assert all(test.peak_memory_bytes > 60 << 20 for test in found.tests)


def test_every_test_has_its_own_times_and_output(grader: Grader) -> None:
    found = grade(grader, SUM + "import sys\nprint(a, file=sys.stderr)\nprint(a + b)", "submission")
    assert found.shared == 4
    assert [test.stdout for test in found.tests] == [test["output"] for test in TESTS]
    assert [test.stderr for test in found.tests] == [f"{n}\n" for n in range(5)]
    assert all(test.cpu_seconds > 0 < test.wall_seconds and test.exit_code == 0 for test in found.tests)


# --- programs that want to be paid for more


OVERWRITERS = {
    "what is written over keeps its end": ("print(a + b, 'more'); sys.stdout.seek(0)", "WA"),
    "what is cut off is gone": ("print('more'); sys.stdout.seek(0); sys.stdout.truncate()", "AC"),
    "what is skipped is zero": ("sys.stdout.seek(3)", "WA"),
    "what the descriptor writes over keeps its end": (
        "print(a + b, 'more', flush=True); import os; os.lseek(1, 0, 0)",
        "WA",
    ),
}


@pytest.mark.parametrize("name", OVERWRITERS)
def test_the_output_of_a_later_test_is_its_whole_file(grader: Grader, name: str) -> None:
    """In the first test these programs only print, so that the others run in the same box."""
    does, verdict = OVERWRITERS[name]
    code = f"import sys\n{SUM}if a:\n    {does}\nprint(a + b)"
    fresh, shared = grade(grader, code, "test"), grade(grader, code, "submission")
    assert verdicts(shared) == verdicts(fresh) == ["AC", *[verdict] * 4]
    assert [test.stdout for test in shared.tests] == [test.stdout for test in fresh.tests]


@pytest.mark.parametrize("checker", ["tokens", "unordered_tokens"])
def test_outputs_of_all_sizes_follow_each_other(grader: Grader, checker: str) -> None:
    sizes = (3, 20_000, 1, 0, 9000, 2)
    tests = [{"type": "stdin", "input": f"{size}\n", "output": "7" * size} for size in sizes]
    found = grade(grader, "print('7' * int(input()), end='')", "submission", tests=tests, checker={"type": checker})
    assert (found.passed, found.shared) == (6, 5)
    assert [len(test.stdout or "") for test in found.tests] == [min(size, 4096) for size in sizes]


GREEDY = {
    "says that it ended, and fails": "print(a + b, flush=True)\nimport os\nos.write(63, b'D')\n1 / 0",
    "says so before the output": "import os\nos.write(63, b'D')\nprint(a + b)\n1 / 0",
    "says so twice": "import os\nprint(a + b if a == 0 else 0, flush=True)\nos.write(63, b'DD')\nos.write(63, b'D')",
    "reads from the channel": "import os\nprint(a + b, flush=True)\nos.write(63, b'D')\nprint(os.read(63, 9))",
    "closes the channel": "import os\nprint(a + b)\nos.close(63)",
    "looks for other inputs": "import os\nfor fd in range(3, 256):\n    try:\n        print(os.read(fd, 99))\n"
    "    except OSError: pass\nprint(a + b if a == 0 else 'no')",
    "prints the answer of the test before": "import math\nprint(math.old + 2 if a else a + b)\nmath.old = a + b",
    "remembers inputs in a class": "from fractions import Fraction as F\n"
    "F.seen = (*getattr(F, 'seen', ()), a)\nprint(a + b if len(F.seen) > 1 or a == 0 else 0)",
    "counts tests by time": "import time\nprint(a + b if a == 0 or time.process_time() > 9 else 0)",
}


@pytest.mark.parametrize("name", GREEDY)
def test_greed_is_not_paid(grader: Grader, name: str) -> None:
    code = SUM + GREEDY[name]
    fresh, shared = (
        grade(grader, code, each, limits={"cpu_seconds": 1, "wall_seconds": 1}) for each in ("test", "submission")
    )
    assert shared.reward == fresh.reward == 0
    # what it can gain: a test of which it said that it had ended, before it failed
    gained = [a for a, b in zip(verdicts(fresh), verdicts(shared), strict=True) if a != "AC" == b]
    assert gained in ([], ["RTE"])


# --- pauses and groups


def graded_in_turns(grader: Grader, must_pause: Callable[[], bool]) -> tuple[Grade, int]:
    """Return the grade of a submission that fails in its third test, and how often it was paused."""
    code = SUM + "print(a + b if a != 2 else 0)"
    submission = Submission.model_validate(
        {"id": "x", "code": code, "tests": TESTS, "stop_on_failure": False, "isolation": "submission"}
    )
    found = grader.go_on(submission, Progress(), lambda: False, must_pause)
    pauses = 0
    while isinstance(found, Progress):
        pauses += 1
        found = grader.go_on(
            submission, Progress.model_validate_json(found.model_dump_json()), lambda: False, must_pause
        )
    assert verdicts(found) == ["AC", "AC", "WA", "AC", "AC"]
    return found, pauses


def test_a_pause_keeps_what_was_shared(grader: Grader) -> None:
    asked = itertools.count(1)
    grade, pauses = graded_in_turns(grader, lambda: next(asked) == 3)  # after the two tests that share a box
    assert (grade.shared, pauses) == (1, 1)


def test_a_pause_ends_a_shared_box(grader: Grader) -> None:
    grade, pauses = graded_in_turns(grader, lambda: True)
    assert (grade.shared, pauses) == (0, 4)


def test_tests_of_a_lost_group_are_not_run(grader: Grader) -> None:
    groups = [{"name": "easy", "points": 1}, {"name": "hard", "points": 2}]
    tests = [test | {"group": "easy" if n < 3 else "hard"} for n, test in enumerate(TESTS)]
    code = SUM + "print(a + b if a else 0)"
    runs = [
        grade(grader, code, each, tests=tests, groups=groups, stop_on_failure=True) for each in ("test", "submission")
    ]
    assert [[test.index for test in run.tests] for run in runs] == [[0, 3, 4]] * 2
    assert verdicts(runs[0]) == verdicts(runs[1])


def test_a_first_test_that_nearly_all_fail_has_a_box_of_its_own(grader: Grader) -> None:
    assert grade(grader, SUM + "print(a + b)", "submission").shared == 4
    for number in range(40):
        assert grade(grader, f"print({number} * 0)", "submission", stop_on_failure=True).verdict == "WA"
    # the first one runs alone, the others share a box; its pass makes the next submission's first test share again
    assert [grade(grader, SUM + "print(a + b)", "submission").shared for _ in range(2)] == [3, 4]
