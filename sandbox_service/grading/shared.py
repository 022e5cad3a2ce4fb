"""Grades tests of type stdin of a program that may share a box: one after the other in one box, as long as they pass.

Only a pass is believed: the box claims that the test ended well, and the checker accepts the output, within the limits
of one test for the whole box. Everything else is repeated in a box of its own, as stdin.py does it. So a shared box
makes no verdict worse, and makes one better only for a program that printed the right output and would then have
failed; see docs/threat-model.md.

The first test of each box runs in a fresh process, like any other. If it does not pass, the box ends as the program
ends it, and its verdict is final. It costs a little more there, and saves a process if it passes: while nearly all
submissions to a problem fail in its first test, that test has a box of its own.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from sandbox_service.grading import stdin
from sandbox_service.grading.work import Work
from sandbox_service.judging.checkers import accepts_equal, check_any
from sandbox_service.sandbox.base import Outcome, Sandbox
from sandbox_service.sandbox.pool import ProgramKilledJailError
from sandbox_service.sandbox.shared_run import SLICE_SECONDS, SharedRun
from sandbox_service.schema import Limits, StdinTest, TestResult, Verdict

LEAST_TESTS = 3  # for fewer, a box saves less than a repetition costs
MARGIN = 2.0  # a test may take so many times the longest one so far
LEAST_PASSED = 0.1  # of first tests; a failure in a shared box costs about an eighth of a process more
FIRST_GUESS = 0.5
MEMORY = 1 / 8  # weight of the last submission
MOST_PROBLEMS = 1024
MOST_UTF8 = 4  # bytes of a character

Tests = Sequence[tuple[int, StdinTest]]


@dataclass
class _Box:
    """A box that was run.

    Attributes:
        has_claimed: a test ended well, as the box said.
        passed: the outcomes of its first tests, of which each passed.
        whole: the facts of the box, with the output of its last test.
        wrong: why the output of the test that ended it is wrong.
        is_stopped: it was ended after a pass.
    """

    has_claimed: bool = False
    passed: list[Outcome] = field(default_factory=list)
    whole: Outcome | None = None
    wrong: str | None = None
    is_stopped: bool = False

    @property
    def first(self) -> Outcome:
        """The outcome of the first test."""
        found = self.passed[0] if self.passed else self.whole
        assert found is not None
        return found


class FirstTests:
    """The share of submissions to a problem that passed its first test lately, of the last problems of a slot."""

    def __init__(self) -> None:
        self._passed: OrderedDict[int, float] = OrderedDict()

    def learn(self, problem: int, *, passed: bool) -> None:
        """Note a submission.

        Args:
            problem: a hash of its first test.
            passed: it passed that test.
        """
        before = self._passed.pop(problem, FIRST_GUESS)
        self._passed[problem] = before + MEMORY * (passed - before)
        if len(self._passed) > MOST_PROBLEMS:
            self._passed.popitem(last=False)

    def is_shared(self, problem: int) -> bool:
        """Return whether the first test of the problem with this hash is to run in the box of the others."""
        return self._passed.get(problem, FIRST_GUESS) >= LEAST_PASSED


class Shared:
    """The stdin tests of a submission.

    Attributes:
        apart: each of the next tests has a box of its own.
        is_together: the results that come now are of a shared box.
        passes: how many tests passed in a box after others.
    """

    def __init__(self, first: FirstTests, *, apart: bool, has_begun: bool = False, passes: int = 0) -> None:
        """Begin, or go on where a slot paused.

        Args:
            first: what the slot knows about first tests.
            apart: each of the next tests has a box of its own.
            has_begun: the first test was run.
            passes: how many tests have passed in a box after others.
        """
        self._first = first
        self._has_first = not apart and not has_begun
        self._problem: int | None = None
        self.apart = apart
        self.is_together = False
        self.passes = passes

    def takes(self, work: Work, tests: Tests) -> bool:
        """Return whether these next tests of a submission are to share a box."""
        if self.apart or len(tests) < LEAST_TESTS or not work.can_share:
            return False
        if self._has_first:
            self._problem = hash((tests[0][1].input, tests[0][1].outputs[0]))
            if not self._first.is_shared(self._problem):
                return False
        return work.judges.checker is None and work.checker.type != "math"

    def note(self, result: TestResult) -> None:
        """Learn from a test's result, if it is that of the first one."""
        if self._has_first and self._problem is not None:
            self._first.learn(self._problem, passed=result.verdict == Verdict.AC)
        self._has_first = False

    def grade(self, work: Work, tests: Tests, must_pause: Callable[[], bool]) -> Iterator[TestResult | None]:
        """Run tests in one box, as long as they pass and fit into it.

        Args:
            work: the submission.
            tests: the tests with their index, to which `takes` agreed.
            must_pause: asked after each test that passed, or milliseconds of them; ends the box if it returns true.

        Yields:
            Results of the first of these tests, if any; and None after those of a box that several tests shared. The
            others are left.

        Raises:
            BadTestError: the checker refuses a test's own answer.
            SandboxError: the sandbox failed.
        """
        try:
            box = work.run(lambda jail: _run(work, jail, tests, must_pause), lambda box: box.first)
        except ProgramKilledJailError:  # each test says by itself whether it ends its jail
            self.apart = True
            return
        if not box.passed:
            result = stdin.judged(work, *tests[0], box.first, box.wrong)
            self.apart = result.verdict == Verdict.AC and not box.has_claimed  # the program cannot be shared
            yield result
            return
        self.apart = not box.is_stopped
        yield from self._believed(work, box, tests)

    def _believed(self, work: Work, box: _Box, tests: Tests) -> Iterator[TestResult | None]:
        assert box.whole is not None
        peak = box.whole.peak_memory_bytes
        if peak > work.limits.memory_bytes:
            self.apart = True
            return
        self.is_together = len(box.passed) > 1
        self.passes += len(box.passed) - 1
        for (index, _), outcome in zip(tests, box.passed, strict=False):
            yield work.result(index, Verdict.AC, None, outcome, peak)
        if self.is_together:
            self.is_together = False
            yield None


def _run(work: Work, jail: Sandbox, tests: Tests, must_pause: Callable[[], bool]) -> _Box:
    with jail.start_shared(work.program, tests[0][1].input.encode("utf-8"), work.limits) as run:
        return _Run(work, run, tests, must_pause).until_end()


class _Run:
    """A run of tests in one box up to a pause, to the first that does not pass, or to one that might not fit."""

    def __init__(self, work: Work, run: SharedRun, tests: Tests, must_pause: Callable[[], bool]) -> None:
        """Args:
        work: the submission.
        run: the box, in which the first test runs.
        tests: the tests with their index.
        must_pause: asked after each slice of tests.
        """
        self.box = _Box()
        self._work, self._run, self._tests, self._must_pause = work, run, tests, must_pause
        self._used = _Used(work.limits)
        self._equal = _decided_by_equality(work, tests)

    def until_end(self) -> _Box:
        """Run the tests, and end the box."""
        goes_on = True
        while goes_on:
            goes_on = self._passes(self._run.wait()) and self._begins_next()
        self.box.whole = self._run.end(is_known=bool(self.box.passed))
        return self.box

    def _passes(self, outcome: Outcome | None) -> bool:
        """Judge the test that ran; return whether it passed."""
        box, work = self.box, self._work
        if outcome is None:
            return False
        box.has_claimed = True
        if work.judge(outcome)[0] != Verdict.AC:
            return False
        box.wrong = check_any(work.checker, outcome.stdout, self._tests[len(box.passed)][1].outputs)
        return box.wrong is None and self._fits(outcome)

    def _fits(self, outcome: Outcome) -> bool:
        """Add a test that printed the right output; return whether the box is within its limit."""
        if not self._used.holds(outcome):
            return False
        self.box.passed.append(outcome)
        return True

    def _begins_next(self) -> bool:
        """Run the tests that need no judgement; return whether another one was begun."""
        passed = self.box.passed
        while len(passed) < len(self._tests) and self._used.has_room() and not self._must_pause():
            self._work.check_cancelled()
            if not self._equal or not self._used.has_room(SLICE_SECONDS):
                self._run.give(self._tests[len(passed)][1].input.encode("utf-8"))
                return True
            if not all(map(self._fits, self._run.run_equal(self._equal, len(passed)))):
                return False
            if self._run.is_running:
                return True
        self.box.is_stopped = True
        return False


def _decided_by_equality(work: Work, tests: Tests) -> list[tuple[str, str]]:
    """Return the tests as pairs of input and expected output; none unless an equal output is right for each of them."""
    pairs = [(test.input, test.outputs[0]) for _, test in tests]
    checker, most = work.checker, work.limits.output_bytes // MOST_UTF8
    is_decided = all(len(output) <= most and accepts_equal(checker, output) for _, output in pairs)
    return pairs if is_decided else []


class _Used:
    """The times that a box has used, against the limits of one test."""

    def __init__(self, limits: Limits) -> None:
        self._cpu_limit, self._wall_limit = limits.cpu_seconds, limits.wall
        self._cpu = self._longest_cpu = self._wall = self._longest_wall = 0.0

    def holds(self, outcome: Outcome) -> bool:
        """Add the times of a test; return whether the CPU time of the box is within the limit."""
        self._cpu += outcome.cpu_seconds
        self._wall += outcome.wall_seconds
        self._longest_cpu = max(self._longest_cpu, outcome.cpu_seconds)
        self._longest_wall = max(self._longest_wall, outcome.wall_seconds)
        return self._cpu <= self._cpu_limit

    def has_room(self, seconds: float = 0.0) -> bool:
        """Return whether tests of so many seconds, and one that takes longer than all until then, would fit as well."""
        cpu = self._cpu + seconds + MARGIN * max(self._longest_cpu, seconds)
        wall = self._wall + seconds + MARGIN * max(self._longest_wall, seconds)
        return cpu < self._cpu_limit and wall < self._wall_limit
