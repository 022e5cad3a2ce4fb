"""Grades a submission: its tests in order, then its verdict and its reward.

Expected answers stay in this process. A sandbox returns facts and values; `judging` compares them. The exception is an
assert test (asserts.py), whose verdict comes from a trusted program in a box that the submission never enters.

This package knows the sandbox protocol (sandbox/base.py) and the runtime protocol (languages/base.py), and neither an
isolation tool nor a language.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

from sandbox_service import languages
from sandbox_service.errors import JailUnsafeError, SandboxError
from sandbox_service.grading.audit_selection import AuditSelection
from sandbox_service.grading.judges import JudgeBench, Judges
from sandbox_service.grading.ordered_tests import OrderedTests, Progress
from sandbox_service.grading.roles import fault_result, ranked, split
from sandbox_service.grading.runner import Runner
from sandbox_service.grading.shared import FirstTests
from sandbox_service.grading.sharing import Sharing
from sandbox_service.grading.suites import chosen
from sandbox_service.grading.work import BadCheckerError, BadTestError, Work
from sandbox_service.grading.works import Works
from sandbox_service.judging import scoring
from sandbox_service.judging.extraction import extract
from sandbox_service.judging.reward import score
from sandbox_service.judging.verdict import overall
from sandbox_service.languages.base import Runtime, Source
from sandbox_service.sandbox.exclusive import ExclusiveRun, NoExclusiveRun
from sandbox_service.sandbox.pool import JailPool
from sandbox_service.schema import (
    CallTest,
    FailureKind,
    Grade,
    GraderIdentity,
    Limits,
    Submission,
    TestCase,
    TestResult,
    Timing,
    Verdict,
)

NO_CODE = "no code block"
NO_BOX = "no boxed answer"
HIDDEN_FAILED = "a hidden test failed"


class Grader:
    """Grades submissions one at a time with the sandboxes of one slot."""

    def __init__(
        self,
        jails: JailPool,
        runtimes: Mapping[str, Runtime],
        identity: GraderIdentity,
        display_bytes: int = 4096,
        exclusive: ExclusiveRun | NoExclusiveRun | None = None,
        compile_limits: Limits | None = None,
        bench: JudgeBench | None = None,
        *,
        sharing: Sharing | None = None,
        audit_share: float = 1.0,
    ) -> None:
        """Grade with these sandboxes.

        Args:
            jails: the slot's sandboxes, open.
            runtimes: by name, as the rows of `languages.LANGUAGES` name them.
            identity: what a grade says of its grader.
            display_bytes: bytes of stdout and stderr in a result, unless the submission says otherwise.
            exclusive: the locks of the machine's slots; None if there is only one.
            compile_limits: those of compilers, where a submission asks for no others.
            bench: what the slot has for judges.
            sharing: says whether stdin tests may share a box; None for never, unless a submission asks for it.
            audit_share: of accepted submissions that do not seem to know their tests, those on which audit tests run.
        """
        self._compile_limits = compile_limits or Limits()
        self._runner = Runner(jails, exclusive or NoExclusiveRun())
        self._runtimes = runtimes
        self._identity = identity
        self._display_bytes = display_bytes
        self._bench = bench or JudgeBench()
        self._sharing = sharing or Sharing()
        self._audits = AuditSelection(audit_share)
        self._first = FirstTests()

    def grade(self, submission: Submission, is_cancelled: Callable[[], bool] = lambda: False) -> Grade:
        """Return the grade of a submission with its tests, from the first to the last; see `go_on`."""
        grade = self.go_on(submission, Progress(), is_cancelled, lambda: False)
        assert isinstance(grade, Grade)
        return grade

    def go_on(
        self,
        submission: Submission,
        progress: Progress,
        is_cancelled: Callable[[], bool],
        must_pause: Callable[[], bool],
    ) -> Grade | Progress:
        """Grade from where `progress` ends to the last test, or until `must_pause` returns true after a test.

        Args:
            submission: with its tests, a suite's too.
            progress: of an earlier call; an empty one to begin.
            is_cancelled: asked between two tests.
            must_pause: asked after each test.

        Returns:
            The grade; or the progress, if it was paused.

        Raises:
            GradingCancelledError: `is_cancelled` returned true.
        """
        self._runner.slow_alone = progress.slow_alone
        if submission.limits.reference is not None:
            submission = submission.model_copy(update={"limits": submission.limits.resolved()})
        if submission.sample is None:
            return self._audited(submission, progress, is_cancelled, must_pause)
        tests = chosen(submission.tests or (), submission.sample.of(submission.id))
        only = {"tests": [test for _, test in tests], "sample": None}
        found = self._audited(submission.model_copy(update=only), progress, is_cancelled, must_pause)
        if isinstance(found, Progress):
            return found
        # their index is the place in the sample; the client has the suite
        placed = {
            name: [result.model_copy(update={"index": tests[result.index][0]}) for result in results]
            for name, results in (("tests", found.tests), ("audit", found.audit))
            if results is not None
        }
        return found.model_copy(update=placed)

    def _audited(
        self,
        submission: Submission,
        progress: Progress,
        is_cancelled: Callable[[], bool],
        must_pause: Callable[[], bool],
    ) -> Grade | Progress:
        found = self._go_on(submission, progress, is_cancelled, must_pause)
        if isinstance(found, Progress):
            return found

        def again() -> Grade | None:
            apart = submission.model_copy(update={"isolation": "calls"})
            fresh = self._go_on(apart, Progress(), is_cancelled, must_pause)
            return fresh if isinstance(fresh, Grade) else None

        return self._sharing.audited(found, again)

    def _go_on(
        self,
        submission: Submission,
        progress: Progress,
        is_cancelled: Callable[[], bool],
        must_pause: Callable[[], bool],
    ) -> Grade | Progress:
        begin = time.monotonic()
        language = languages.find(submission.language)
        source = submission.code
        if source is None:
            source = extract(submission.completion or "", submission.extraction, language.family)
        if source is None:
            return self._grade(submission, [], None, True, progress.graded_seconds + time.monotonic() - begin, [])
        runtime = self._runtimes[language.runtime] if language.runtime else None
        given = self._source(submission, language.name, source)
        results: list[TestResult] = list(progress.tests)
        notes: list[str] = []
        shared = progress.shared
        fault: SandboxError | None = None
        try:
            with ExitStack() as opened:
                judges = opened.enter_context(Judges(self._runner, self._runtimes, submission, self._bench))

                def prepare(each: Source) -> Work:
                    program = None
                    if runtime is not None:
                        once = _one_box(submission)
                        program = opened.enter_context(runtime.prepare(each, self._runner, once=once))
                    return self._work(submission, each, runtime, program, is_cancelled, judges)

                works = Works(prepare, given, list(submission.tests or ()))
                shares = self._sharing.allows(submission)
                is_audited = partial(self._audits.selects, source, submission.tests or ())
                tests = OrderedTests(
                    works, submission, progress, self._first, shares_stdin=shares, is_audited=is_audited
                )
                results, notes = tests.done, judges.notes
                if not tests.run(must_pause):
                    return self._progress(tests, progress.graded_seconds + time.monotonic() - begin)
                shared = tests.shared.passes
                results.sort(key=lambda result: result.index)  # they may have been shuffled
        except SandboxError as error:
            fault = error
            results.append(fault_result(submission.tests or (), results, "scored", error))
        seconds = progress.graded_seconds + time.monotonic() - begin
        described = runtime.described(given) if runtime else ""
        return self._grade(submission, results, fault, False, seconds, notes, described, shared)

    def _source(self, submission: Submission, language: str, text: str) -> Source:
        limits, asked = self._compile_limits, submission.compile_limits
        if asked.model_fields_set:
            limits = limits.model_copy(update=asked.model_dump(exclude_none=True))
        return Source(language, text, submission.limits, submission.files, limits)

    def _work(
        self,
        submission: Submission,
        source: Source,
        runtime: Runtime | None,
        program: Any,
        is_cancelled: Callable[[], bool],
        judges: Judges,
    ) -> Work:
        shown = self._display_bytes if submission.display_bytes is None else submission.display_bytes
        kind = runtime.kind_of(source) if runtime else None
        limits = runtime.limits_of(source) if runtime else None
        return Work(self._runner, submission, source.text, program, kind, is_cancelled, shown, judges, limits)

    def _progress(self, tests: OrderedTests, seconds: float) -> Progress:
        return Progress(
            tests=tests.done,
            graded_seconds=seconds,
            calls_apart=tests.calls.apart,
            stdin_apart=tests.shared.apart,
            shared=tests.shared.passes,
            slow_alone=self._runner.slow_alone,
        )

    def _grade(
        self,
        submission: Submission,
        results: list[TestResult],
        fault: SandboxError | None,
        no_code: bool,
        took: float,
        notes: list[str],
        described: str = "",
        shared: int = 0,
    ) -> Grade:
        tests = submission.tests or ()
        results, audit = split(tests, results)
        total = sum(test.role == "scored" for test in tests)
        weights = [test.weight if test.role == "scored" else 0.0 for test in tests]
        suspect = any(result.verdict not in (Verdict.AC, Verdict.IE) for result in audit)
        verdict = Verdict.CE if no_code else overall(ranked(tests, results), total)
        groups = scoring.group_results(submission.groups, tests, results) if submission.groups else None
        reward = score(submission.reward, verdict, results, weights, no_format=no_code, suspect=suspect, groups=groups)
        failed = next((result for result in results if result.verdict == verdict != Verdict.AC), None)
        provoked = any(result.provoked for result in (*results, *audit))
        results, audit = _shown(tests, results), _shown(tests, audit)
        if failed is not None and tests[failed.index].hidden:
            failed = failed.model_copy(update={"message": HIDDEN_FAILED})
        return Grade(
            id=submission.id,
            verdict=verdict,
            reward=reward,
            mask_sample=reward is None,
            failure_kind=_failure_kind(fault) if fault else None,
            failure_reason=str(fault) if fault else None,
            passed=sum(result.verdict == Verdict.AC for result in results),
            total=total,
            message=_nothing_found(submission) if no_code else failed.message if failed else None,
            score=sum(group.score for group in groups) if groups else None,
            groups=groups,
            shared=shared,
            notes=notes or None,
            suspect=suspect,
            provoked=provoked,
            audit=audit or None,
            tests=results,
            forgeable=any(result.forgeable for result in (*results, *audit)),
            timing=Timing(graded_seconds=took),
            grader=self._identity.model_copy(update={"language": described}) if described else self._identity,
        )


def _shown(tests: Sequence[TestCase], results: Iterable[TestResult]) -> list[TestResult]:
    return [_hidden(result) if tests[result.index].hidden else result for result in results]


def _hidden(result: TestResult) -> TestResult:
    """Return the part of a result that the answer shows of a hidden test: verdict, times and memory."""
    kept = result.model_dump(include={"index", "verdict", "cpu_seconds", "wall_seconds", "peak_memory_bytes"})
    return TestResult(hidden=True, **kept)


def _nothing_found(submission: Submission) -> str:
    return NO_BOX if submission.extraction in ("boxed", "boxed_after_thinking") else NO_CODE


def _one_box(submission: Submission) -> bool:
    """Return whether all its tests are likely to be run in one box."""
    tests = [test for test in submission.tests or () if test.role == "scored"]  # few programs run audit tests
    if len(tests) == 1:
        return True
    return submission.isolation != "test" and all(isinstance(test, CallTest) for test in tests)


def _failure_kind(fault: SandboxError) -> FailureKind:
    if isinstance(fault, BadTestError):
        return FailureKind.BAD_TEST
    if isinstance(fault, BadCheckerError):
        return FailureKind.BAD_CHECKER
    return FailureKind.JAIL_UNSAFE if isinstance(fault, JailUnsafeError) else FailureKind.SANDBOX
