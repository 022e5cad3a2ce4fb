"""Grades tests of type call: calls functions of the program with arguments, and compares their results.

The calls of a group share one box as long as they pass; from the first that does not on, each has a box of its own. The
first call of the shared box had a fresh process and the whole limit, so that its time-out or wrong result is final.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

from sandbox_service.grading.driven import Answers, ask
from sandbox_service.grading.work import BadTestError, Work
from sandbox_service.grading.works import Works, call_of
from sandbox_service.judging.values import check_result, refusal
from sandbox_service.sandbox.base import Outcome
from sandbox_service.sandbox.pool import ProgramKilledJailError
from sandbox_service.schema import CallTest, TestCase, TestResult, Verdict

CPU_TOLERANCE = 1.05  # the kernel ends a box within a tick of its limit


class Calls:
    """A group of call tests.

    Attributes:
        apart: each of the next calls has a box of its own.
        is_together: the results that come now are of a shared box.
    """

    def __init__(self, works: Works, *, apart: bool) -> None:
        self._works = works
        self.apart = apart
        self.is_together = False

    @property
    def _work(self) -> Work:
        return self._works.called

    def grade(self, tests: list[tuple[int, TestCase]]) -> Iterator[TestResult | None]:
        """Make the calls.

        With isolation "test" each has its own box from the start, with "shuffled" they come in another order.

        Args:
            tests: call tests with their index.

        Yields:
            Results; and None after the shared box ended and before the boxes of single calls.

        Raises:
            BadTestError: a test's own result is refused by its checker.
            SandboxError: the sandbox failed.
        """
        isolation = self._work.submission.isolation
        calls = [(index, test) for index, test in tests if isinstance(test, CallTest)]
        if isolation == "shuffled":
            random.shuffle(calls)
        done = 0
        if len(calls) > 1 and not self.apart and isolation != "test":
            self.is_together = True
            for result in self._together(calls):
                done += 1
                yield result
            self.is_together, self.apart = False, True
            yield None
        self.apart = True
        for index, test in calls[done:]:
            try:
                yield self._call(index, test)
            except ProgramKilledJailError as killed:
                yield self._work.result(index, Verdict.RTE, f"the program ended its jail: {killed}", None)

    def _together(self, calls: list[tuple[int, CallTest]]) -> Iterator[TestResult]:
        """Yield the passes that a shared box begins with, or the failure of its first call.

        The box has the CPU limit of one call, so every call that returned in it was within its own. Times are shares
        of the box's: the kernel measures boxes, and a box's own measurement cannot be trusted.
        """
        work = self._work
        try:
            answers = self._ask([test for _, test in calls])
        except ProgramKilledJailError:
            return
        outcome = answers.outcome
        if (failure := self._first_failure(calls, answers)) is not None:
            yield failure
            return
        if outcome.cpu_seconds > CPU_TOLERANCE * work.limits.cpu_seconds or work.flooded(outcome):
            return
        if outcome.peak_memory_bytes > work.limits.memory_bytes:
            return
        share = _share(outcome, len(calls))
        for (index, test), line in zip(calls, answers.lines, strict=False):
            if check_result(work.checker, line, test.output) is not None:
                return
            yield work.result(index, Verdict.AC, None, share)

    def _first_failure(self, calls: list[tuple[int, CallTest]], answers: Answers) -> TestResult | None:
        """Return the result of the first call if it failed, and would have failed in a box of its own."""
        work, (index, test) = self._work, calls[0]
        verdict, message = work.judge(answers.outcome)
        if verdict == Verdict.TLE and not answers.lines:
            return work.result(index, verdict, message, answers.outcome)
        if verdict not in (Verdict.AC, Verdict.RTE) or not answers.lines:
            return None
        message = check_result(work.checker, answers.lines[0], test.output)
        if message is None:
            return None
        self._check_solvable(index, test)
        return work.result(index, Verdict.WA, message, _share(answers.outcome, len(answers.lines)))

    def _call(self, index: int, test: CallTest) -> TestResult:
        work = self._work
        answers = self._ask([test])
        verdict, message = work.judge(answers.outcome)
        returned = bool(answers.lines) and verdict in (Verdict.AC, Verdict.RTE)
        if returned:  # how it ended after that does not matter
            message = check_result(work.checker, answers.lines[0], test.output)
            if message is not None:
                self._check_solvable(index, test)
            verdict = Verdict.AC if message is None else Verdict.WA
        elif verdict == Verdict.AC:
            verdict, message = Verdict.RTE, "the program ended without returning from the call"
        elif verdict == Verdict.RTE:
            message = answers.misfit or message
        return work.result(index, verdict, message, answers.outcome)

    def _check_solvable(self, index: int, test: CallTest) -> None:
        """Raise BadTestError if no result is right: NaN, anywhere in the expected value, equals nothing."""
        if (reason := refusal(self._work.checker, test.output)) is not None:
            raise BadTestError(f"test {index}: its expected value is refused by its own checker: {reason}")

    def _ask(self, tests: list[CallTest]) -> Answers:
        """Make the calls in one box; return its outcome, and the results there are, in order."""
        work = self._work
        if self._works.has_driver:
            return ask(work, self._works.driven, list(map(call_of, tests)))
        work.check_cancelled()
        wanted = json.dumps([_wanted(test) for test in tests]).encode()
        program, limits, count = work.program, work.limits, len(tests)
        outcome, results = work.run(lambda jail: jail.run_calls(program, wanted, count, limits), lambda found: found[0])
        written = max(outcome.stdout_bytes, len(results))  # results count as output
        return Answers(outcome._replace(stdout_bytes=written), results.split(b"\n", len(tests))[:-1])


def _wanted(test: CallTest) -> dict[str, object]:
    return {"function": test.function, "args": test.args, "kwargs": test.kwargs, "calls": test.calls}


def _share(outcome: Outcome, calls: int) -> Outcome:
    return outcome._replace(cpu_seconds=outcome.cpu_seconds / calls, wall_seconds=outcome.wall_seconds / calls)
