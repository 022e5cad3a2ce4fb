"""Runs the tests of a submission: scored tests up to the first failure that decides, then audit tests of selected ones.

A fault of the sandbox in an audit test is not one of the submission's verdict: the result of that test is IE.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import groupby

from pydantic import Field

from sandbox_service.errors import JailUnsafeError, SandboxError
from sandbox_service.grading import asserts, interactive, programs, stdin
from sandbox_service.grading.calls import Calls
from sandbox_service.grading.roles import audit_seconds, fault_result
from sandbox_service.grading.shared import FirstTests, Shared
from sandbox_service.grading.work import BadTestError, Work
from sandbox_service.grading.works import Works
from sandbox_service.judging import scoring
from sandbox_service.sandbox.pool import ProgramKilledJailError
from sandbox_service.schema import (
    AssertTest,
    CallTest,
    FrozenModel,
    InteractiveTest,
    StdinTest,
    Submission,
    TestCase,
    TestResult,
    Verdict,
)


class Progress(FrozenModel):
    """The progress of a submission that was paused: all that another slot needs to continue."""

    tests: list[TestResult] = Field(default_factory=list)
    graded_seconds: float = 0.0
    calls_apart: bool = False
    """Each call of the next group runs in a box of its own."""
    stdin_apart: bool = False
    """Each of the next stdin tests runs in a box of its own."""
    shared: int = 0
    """Stdin tests that passed in a box in which others had run before."""
    slow_alone: bool = False
    """A time-out of this submission was repeated alone and timed out again; its other time-outs are not repeated."""


class OrderedTests:
    """The tests of one submission, in order."""

    def __init__(
        self,
        works: Works,
        submission: Submission,
        progress: Progress,
        first: FirstTests,
        *,
        shares_stdin: bool,
        is_audited: Callable[[], bool],
    ) -> None:
        """Begin, or go on where a slot paused.

        Args:
            works: the programs of the submission.
            submission: with its tests.
            progress: of an earlier call.
            first: what the slot knows about first tests.
            shares_stdin: stdin tests may share a box.
            is_audited: asked when the scored tests passed; true if the audit tests run as well.
        """
        self._ask_audited = is_audited
        self._audit: TestResult | None = None  # of the audit test that ran in the boxes of the last scored test
        self._audit_seconds = 0.0  # its limit
        self._works, self._submission = works, submission
        self._tests = submission.tests or ()
        self.done: list[TestResult] = []
        self._failed: dict[tuple[str, bool], TestResult] = {}  # one for each way in which a group can fail
        self._lost: frozenset[str] = frozenset()
        for result in progress.tests:
            self._add(result)
        self.calls = Calls(works, apart=progress.calls_apart)
        apart = progress.stdin_apart or not shares_stdin
        self.shared = Shared(first, apart=apart, has_begun=bool(progress.tests), passes=progress.shared)

    def run(self, must_pause: Callable[[], bool]) -> bool:
        """Run the scored tests up to the first failure, and the audit tests of a selected one that passed all.

        `done` has all results. A fault of the sandbox in an audit test leaves the verdict as it is.

        Returns:
            False if `must_pause` returned true and tests are left.

        Raises:
            SandboxError: the sandbox failed.
            BadTestError: a test is at fault.
            GradingCancelledError: the submission was cancelled.
            JailUnsafeError: the canary did not prove the sandbox, whichever test runs.
        """
        if self._works.language == "text" and not all(isinstance(test, StdinTest) for test in self._tests):
            raise BadTestError("a submission in the language text can have tests of type stdin only")
        if not self._run("scored", must_pause):
            return False
        if not self._all_passed() or not self._has_audit_tests() or not self._is_audited:
            return True
        seconds = audit_seconds(self._submission.limits, self._tests, self.done)
        if self._audit is not None and (self._audit.verdict != Verdict.TLE or seconds <= self._audit_seconds):
            self._add(self._audit)
            if self._ends_with(self._audit) or len(self.done) == len(self._tests):
                return True
        if seconds < self._submission.limits.cpu_seconds:
            self._works.limit(seconds)
        try:
            return self._run("audit", must_pause)
        except JailUnsafeError:
            raise
        except SandboxError as error:
            self.done.append(fault_result(self._tests, self.done, "audit", error))
            return True

    @cached_property
    def _is_audited(self) -> bool:
        return self._ask_audited()

    def _has_audit_tests(self) -> bool:
        return any(test.role == "audit" for test in self._tests)

    def _all_passed(self) -> bool:
        passed = {result.index for result in self.done if result.verdict == Verdict.AC}
        return all(index in passed for index, test in enumerate(self._tests) if test.role == "scored")

    def _run(self, role: str, must_pause: Callable[[], bool]) -> bool:
        """Run the tests of a role that are not done; see `run`."""
        done = {result.index for result in self.done}
        left = [(at, test) for at, test in enumerate(self._tests) if at not in done and test.role == role]
        total = len(self.done) + len(left)
        for is_call, group in groupby(self._needed(left), key=lambda item: isinstance(item[1], CallTest)):
            for result in self._calls(list(group)) if is_call else self._singles(list(group), must_pause):
                if result is not None:
                    self._add(result)
                    if self._ends_with(result):
                        return True
                is_together = self.calls.is_together or self.shared.is_together
                if not is_together and len(self.done) < total and must_pause():
                    return False
            self.calls.apart = False
        return True

    def _needed(self, left: Iterable[tuple[int, TestCase]]) -> Iterator[tuple[int, TestCase]]:
        """Yield the tests whose result can still change the score, as results come in."""
        for index, test in left:
            if self._is_needed(test):
                yield index, test

    def _is_needed(self, test: TestCase) -> bool:
        return not (self._submission.stop_on_failure and test.group in self._lost)

    def _add(self, result: TestResult) -> None:
        self.done.append(result)
        groups = self._submission.groups
        if groups and result.verdict != Verdict.AC and self._tests[result.index].role == "scored":
            self._failed[self._tests[result.index].group, scoring.share_of(result) == 0] = result
            self._lost = scoring.lost(groups, self._tests, self._failed.values())

    def _ends_with(self, result: TestResult) -> bool:
        is_audit = self._tests[result.index].role == "audit"
        stops = is_audit or (self._submission.stop_on_failure and not self._submission.groups)
        return (result.verdict != Verdict.AC and stops) or result.verdict == Verdict.CE

    def _calls(self, tests: list[tuple[int, TestCase]]) -> Iterator[TestResult | None]:
        tests = list(self._needed(tests))  # a result that came since they were listed may have decided
        if not tests:
            return
        if (refused := self._works.called.refused) is not None:
            yield self._works.called.result(tests[0][0], Verdict.CE, refused, None)
            return
        yield from self.calls.grade(tests)

    def _singles(
        self, tests: list[tuple[int, TestCase]], must_pause: Callable[[], bool]
    ) -> Iterator[TestResult | None]:
        left = deque(tests)
        while left:
            index, test = left[0]
            if not self._is_needed(test):
                left.popleft()
                continue
            work = self._works.work_of(test)
            work.check_cancelled()
            if (refused := work.refused) is not None:
                programs.check_test_program(self._works, index, test, refused, compiled=False)
                yield work.result(index, Verdict.CE, refused, None)
                return
            may_share = work.can_share and not self.shared.apart  # else the tests that follow are not listed: it costs
            if may_share and self.shared.takes(work, following := self._following(left)):
                for result in self.shared.grade(work, following, must_pause):
                    if result is not None:
                        _remove(left, result.index)
                        self.shared.note(result)
                    yield result
                continue
            left.popleft()
            try:
                result = self._with_audit(work, index, test) or self._single(work, index, test)
            except ProgramKilledJailError as killed:
                result = work.result(index, Verdict.RTE, f"the program ended its jail: {killed}", None)
            self.shared.note(result)
            yield result

    def _with_audit(self, work: Work, index: int, test: TestCase) -> TestResult | None:
        """Run the first audit test in the boxes of the last scored test, where both are test programs in Python.

        Returns:
            The result of the scored test if it passed; else it runs alone.
        """
        if test.role == "audit" or self._works.language != "python" or not isinstance(test, AssertTest):
            return None  # before all tests are looked at: other submissions have thousands
        audit = next(((at, each) for at, each in enumerate(self._tests) if each.role == "audit"), None)
        if audit is None or not self._is_last(index):
            return None
        at, first = audit
        if not isinstance(first, AssertTest) or test.prelude != first.prelude:
            return None
        if self._submission.isolation == "test" or not self._is_audited:
            return None
        limits = self._submission.limits
        self._audit_seconds = audit_seconds(limits, self._tests, self.done)
        limits = limits.model_copy(update={"cpu_seconds": self._audit_seconds, "wall_seconds": limits.wall})
        both = asserts.grade_both(work, (index, test), (at, first), limits)
        self._audit = both.audit
        return both.scored

    def _is_last(self, index: int) -> bool:
        """Return whether this is the only scored test that is left, and all others passed."""
        passed = {result.index for result in self.done if result.verdict == Verdict.AC} | {index}
        return all(at in passed for at, test in enumerate(self._tests) if test.role == "scored")

    def _following(self, left: Iterable[tuple[int, TestCase]]) -> list[tuple[int, StdinTest]]:
        """Return the stdin tests that come next."""
        found: list[tuple[int, StdinTest]] = []
        for index, test in left:
            if not isinstance(test, StdinTest) or test.asks_for_a_judge:
                break
            if self._is_needed(test):
                found.append((index, test))
        return found

    def _single(self, work: Work, index: int, test: TestCase) -> TestResult:
        if isinstance(test, StdinTest):
            grade = stdin.grade_program if work.kind else stdin.grade_text
            return grade(work, index, test)
        if isinstance(test, InteractiveTest):
            return interactive.grade(work, index, test)
        assert isinstance(test, AssertTest)
        if self._works.language == "python":
            return asserts.grade(work, index, test)
        return programs.grade(self._works, index, test)


def _remove(left: deque[tuple[int, TestCase]], index: int) -> None:
    """Remove a test and all before it, which are not needed any more."""
    while left and left[0][0] <= index:
        left.popleft()
