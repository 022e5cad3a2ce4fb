"""The heart: a submission in, a grade out.

language → program → jail → facts → verdict → checker → reward. Expected answers stay on this side of the wall; what
comes back from the other side is facts and values, never a verdict. The exception is an assert test, whose verdict
is written by a trusted program in a box that the submission never enters.
"""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import TypeVar

from sandbox_service import languages
from sandbox_service.errors import JailUnsafe, SandboxFault
from sandbox_service.jails.base import Outcome
from sandbox_service.jails.files import Program
from sandbox_service.jails.firejail import Jail, PairResult
from sandbox_service.jails.pool import JailPool, ProgramKilledJail
from sandbox_service.jails.quiet import NoQuiet, Quiet
from sandbox_service.judging import mathematics
from sandbox_service.judging.checkers import check_any
from sandbox_service.judging.extraction import extract
from sandbox_service.judging.numeric import tolerance_of
from sandbox_service.judging.reward import score
from sandbox_service.judging.values import check_value
from sandbox_service.judging.verdict import is_suspect, judge, overall
from sandbox_service.schema import (
    AssertTest,
    CallTest,
    Grade,
    GraderIdentity,
    Limits,
    StdinTest,
    Submission,
    TestCase,
    TestResult,
    Timing,
    Verdict,
)
from sandbox_service.suites import chosen

T = TypeVar("T")
SET_TAG = "__set__"
NO_CODE = "no code block"
NO_BOX = "no boxed answer"
CPU_TOLERANCE = 1.05  # the kernel ends a box within a tick of its limit

# what comparing two mathematical answers may take: the boxes hold themselves to less CPU time, and neither ever waits
COMPARING = Limits(cpu_seconds=5, wall_seconds=30, output_bytes=1 << 20)

# what a tester's report means where the candidate was alive and well
REPORTED = {
    "passed": Verdict.AC,
    "failed": Verdict.WA,
    "raised": Verdict.RTE,
    "load_failed": Verdict.RTE,
    "not_plain": Verdict.RTE,
}


class Cancelled(Exception):
    """Nobody waits for this grade any more."""


class BadTest(SandboxFault):
    """The test itself cannot be run: never the candidate's fault."""


class Grader:
    """Grades submissions one at a time with the jails of one slot."""

    def __init__(
        self, jails: JailPool, identity: GraderIdentity, display_bytes: int = 4096, quiet: Quiet | NoQuiet | None = None
    ) -> None:
        self._jails = jails
        self._identity = identity
        self._display_bytes = display_bytes
        self._quiet = quiet or NoQuiet()

    def grade(self, submission: Submission, is_cancelled: Callable[[], bool] = lambda: False) -> Grade:
        """Run the submission's tests (its `tests`; who grades a suite has put them there) and say what they came to.

        Raises Cancelled between two tests, if so asked.
        """
        if submission.sample is None:
            return self._grade_all(submission, is_cancelled)
        tests = chosen(submission.tests or (), submission.sample)
        only = {"tests": [test for _, test in tests], "sample": None}
        grade = self._grade_all(submission.model_copy(update=only), is_cancelled)
        # they were judged by their place in the sample; who reads the grade has the suite
        placed = [result.model_copy(update={"index": tests[result.index][0]}) for result in grade.tests]
        return grade.model_copy(update={"tests": placed})

    def _grade_all(self, submission: Submission, is_cancelled: Callable[[], bool]) -> Grade:
        begin = time.monotonic()
        source = _source(submission)
        results: list[TestResult] = []
        fault: SandboxFault | None = None
        if source is not None:
            with self._quiet.shared(), Program(source, once=_one_box(submission)) as program:
                work = _Work(self, submission, program, is_cancelled)
                results = work.done
                try:
                    work.run()
                except SandboxFault as error:
                    fault = error
                    results.append(self.result(len(results), Verdict.IE, str(error), None))
        return self._grade(submission, results, fault, source is None, time.monotonic() - begin)

    def _grade(
        self, submission: Submission, results: list[TestResult], fault: SandboxFault | None, no_code: bool, took: float
    ) -> Grade:
        tests = submission.tests or ()
        total = len(tests)
        weights = [test.weight for test in tests]
        verdict = Verdict.CE if no_code else overall(results, total)
        reward = score(submission.reward, verdict, results, weights, no_format=no_code)
        failed = next((result for result in results if result.verdict == verdict != Verdict.AC), None)
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
            tests=results,
            timing=Timing(graded_seconds=took),
            grader=self._identity,
        )

    def run(self, kind: str, limits: Limits, action: Callable[[Jail], T], outcome_of: Callable[[T], Outcome]) -> T:
        """Run in a jail; once more if it was killed from outside, and once more alone if a time-out is suspect.

        Raises SandboxFault, or ProgramKilledJail.
        """
        result = self._jails.run(kind, action)
        if _killed_from_outside(outcome_of(result), limits):
            result = self._jails.run(kind, action)
            if _killed_from_outside(outcome_of(result), limits):
                raise SandboxFault("the box was killed from outside, twice: is the machine out of memory?")
        if is_suspect(outcome_of(result), limits):
            with self._quiet.alone():
                result = self._jails.run(kind, action)
        return result

    def result(
        self, index: int, verdict: Verdict, message: str | None, outcome: Outcome | None, shown: int | None = None
    ) -> TestResult:
        """A test's result for display, with `shown` bytes of its output."""
        if outcome is None:
            return TestResult(index=index, verdict=verdict, message=message)
        shown = self._display_bytes if shown is None else shown
        return TestResult(
            index=index,
            verdict=verdict,
            message=message,
            exit_code=outcome.exit_code,
            signal=outcome.signal,
            cpu_seconds=round(outcome.cpu_seconds, 6),
            wall_seconds=round(outcome.wall_seconds, 6),
            peak_memory_bytes=outcome.peak_memory_bytes,
            stdout=outcome.stdout[:shown].decode("utf-8", "replace"),
            stdout_truncated=outcome.stdout_bytes > shown,
            stderr=outcome.stderr[:shown].decode("utf-8", "replace"),
        )


class _Work:
    """One submission's tests, in order."""

    def __init__(
        self, grader: Grader, submission: Submission, program: Program, is_cancelled: Callable[[], bool]
    ) -> None:
        self._grader = grader
        self._submission = submission
        self._limits = submission.limits
        self._program = program
        self._is_cancelled = is_cancelled
        self._compiled = False
        self._comparing_seconds = 0.0
        self._source = _source(submission) or ""
        kind = languages.find(submission.language).jail_kind
        self._kind = kind(self._source, submission.limits) if kind else None
        self.done: list[TestResult] = []

    def run(self) -> None:
        """Run the tests, or up to the first failure; `done` has their results. Raises SandboxFault, Cancelled."""
        numbered = enumerate(self._submission.tests or ())
        if self._kind is None and not all(isinstance(test, StdinTest) for test in self._submission.tests or ()):
            raise BadTest("a text can be compared with outputs, and not be called or asserted about")
        for is_call, group in groupby(numbered, key=lambda item: isinstance(item[1], CallTest)):
            tests = list(group)
            for result in self._calls(tests) if is_call else self._singles(tests):
                self.done.append(result)
                if result.verdict == Verdict.CE or (result.verdict != Verdict.AC and self._submission.stop_on_failure):
                    return

    def _singles(self, tests: list[tuple[int, TestCase]]) -> Iterator[TestResult]:
        for index, test in tests:
            self._check_cancelled()
            try:
                if isinstance(test, StdinTest):
                    yield self._stdin(index, test) if self._kind else self._text(index, test)
                elif isinstance(test, AssertTest):
                    yield self._assert(index, test)
            except ProgramKilledJail as killed:
                yield self._result(index, Verdict.RTE, f"the program ended its jail: {killed}", None)

    def _check_cancelled(self) -> None:
        if self._is_cancelled():
            raise Cancelled

    # --- stdin tests

    def _stdin(self, index: int, test: StdinTest) -> TestResult:
        outcome = self._run(
            lambda jail: jail.run_stdin(self._program, test.input.encode("utf-8"), self._limits), lambda found: found
        )
        verdict, message = self._judge(outcome)
        if verdict == Verdict.AC:
            message = self._check(index, test, outcome.stdout)
            verdict = Verdict.AC if message is None else Verdict.WA
        return self._result(index, verdict, message, outcome)

    def _text(self, index: int, test: StdinTest) -> TestResult:
        """What was submitted is the output. Its CPU time is what comparing took."""
        self._comparing_seconds = 0.0
        output = self._source.encode("utf-8", "replace")
        message = self._check(index, test, output)
        verdict = Verdict.AC if message is None else Verdict.WA
        return self._result(index, verdict, message, _said(output, self._comparing_seconds))

    def _check(self, index: int, test: StdinTest, output: bytes) -> str | None:
        """Why the output is not right, or None. Raises BadTest, SandboxFault."""
        checker = self._submission.checker
        if checker.type == "math":
            return self._mathematics(index, mathematics.accepted(test.outputs), output)
        message = check_any(checker, output, test.outputs)
        if message is not None:
            self._check_solvable(index, test)
        return message

    def _check_solvable(self, index: int, test: StdinTest) -> None:
        """A test whose own answer its checker refuses (NaN among numbers, say) says nothing about a program."""
        for output in test.outputs:
            if (reason := check_any(self._submission.checker, output.encode("utf-8"), [output])) is not None:
                raise BadTest(f"test {index}: its expected output is refused by its own checker: {reason}")

    # --- mathematics

    def _mathematics(self, index: int, expected: list[str], output: bytes) -> str | None:
        """Why this is not an expected answer, or None. Raises BadTest, SandboxFault."""
        tolerant = tolerance_of(self._submission.checker) is not None
        decided, message = mathematics.at_once(output, expected, tolerant=tolerant)
        if decided:
            return message
        question = mathematics.question(expected, self._submission.checker)
        with Program(output.decode("utf-8", "replace").strip(), once=True) as answer:
            pair = self._grader.run(
                "mathematics", COMPARING, lambda jail: jail.run_pair(answer, "", question, COMPARING), _deciding_outcome
            )
        self._comparing_seconds = pair.candidate.cpu_seconds + pair.tester.cpu_seconds
        result, message = mathematics.answer(pair.report)
        if result == "passed":
            return None
        if result == "failed":
            return message
        if result == "gone":
            return f"the answer cannot be read: {judge(pair.candidate, COMPARING)[1] or 'its reader said nothing'}"
        if result == "bad_test":
            raise BadTest(f"test {index}: {message}")
        raise SandboxFault(message)

    # --- call tests

    def _calls(self, tests: list[tuple[int, TestCase]]) -> Iterator[TestResult]:
        """All calls in one box; from the first that is not a clean pass on, each again in a box of its own."""
        calls = [(index, test) for index, test in tests if isinstance(test, CallTest)]
        clean = 0
        if len(calls) > 1:
            for result in self._together(calls):
                clean += 1
                yield result
        for index, test in calls[clean:]:
            try:
                yield self._call(index, test)
            except ProgramKilledJail as killed:
                yield self._result(index, Verdict.RTE, f"the program ended its jail: {killed}", None)

    def _together(self, calls: list[tuple[int, CallTest]]) -> Iterator[TestResult]:
        """The clean passes that a shared box begins with.

        The box has the CPU limit of one call, so every call that returned in it was within its own. Times are shares
        of the box's: the kernel counts boxes, and a box's own count is not to be believed.
        """
        try:
            outcome, lines = self._ask([test for _, test in calls])
        except ProgramKilledJail:
            return
        if outcome.cpu_seconds > CPU_TOLERANCE * self._limits.cpu_seconds or self._flooded(outcome):
            return
        share = _share(outcome, len(calls))
        for (index, test), line in zip(calls, lines, strict=False):
            if _compare(self._submission, line, test) is not None:
                return
            yield self._result(index, Verdict.AC, None, share)

    def _call(self, index: int, test: CallTest) -> TestResult:
        outcome, lines = self._ask([test])
        verdict, message = self._judge(outcome)
        if lines and verdict in (Verdict.AC, Verdict.RTE):  # it returned; how it ended after that does not matter
            message = _compare(self._submission, lines[0], test)
            verdict = Verdict.AC if message is None else Verdict.WA
        elif verdict == Verdict.AC:
            verdict, message = Verdict.RTE, "the program ended without returning from the call"
        return self._result(index, verdict, message, outcome)

    def _ask(self, tests: list[CallTest]) -> tuple[Outcome, list[bytes]]:
        """Make the calls in one box: its outcome, and the results there are, in order."""
        self._check_cancelled()
        wanted = json.dumps([_wanted(test) for test in tests]).encode()
        outcome, results = self._run(
            lambda jail: jail.run_calls(self._program, wanted, self._limits), lambda found: found[0]
        )
        written = max(outcome.stdout_bytes, len(results))  # results count as output
        return replace(outcome, stdout_bytes=written), results.split(b"\n")[:-1]

    def _flooded(self, outcome: Outcome) -> bool:
        return outcome.stdout_bytes > self._limits.output_bytes

    # --- assert tests

    def _assert(self, index: int, test: AssertTest) -> TestResult:
        wanted = json.dumps({"code": test.code, "prelude": test.prelude, "entry_point": test.entry_point}).encode()
        pair = self._run(
            lambda jail: jail.run_pair(self._program, test.prelude or "", wanted, self._limits), _deciding_outcome
        )
        verdict, message = self._judge_pair(pair)
        return self._result(index, verdict, message, pair.candidate)

    def _judge_pair(self, pair: PairResult) -> tuple[Verdict, str | None]:
        reported = pair.report.get("result") if pair.report else None
        message = str(pair.report.get("message") or "") if pair.report else ""
        refusal = self._refusal()
        if refusal is not None:
            return Verdict.CE, refusal
        if reported == "bad_test":
            raise BadTest(message)
        if self._flooded(pair.candidate):
            return judge(pair.candidate, self._limits)
        if reported in ("raised", "load_failed") and message.startswith("MemoryError"):
            return Verdict.MLE, message
        if reported in REPORTED and pair.tester.exit_code is not None:
            return REPORTED[reported], message or None
        if reported == "gone":
            verdict, why = judge(pair.candidate, self._limits)
            if verdict == Verdict.AC:
                return Verdict.RTE, "the program ended while it was being tested"
            return verdict, why
        # the tester did not get to its end: it was slow or waited, on values that the candidate chose
        verdict, why = judge(_deciding_outcome(pair), self._limits)
        return (verdict, why) if verdict != Verdict.AC else (Verdict.RTE, "the test program did not come to its end")

    # --- common

    def _result(self, index: int, verdict: Verdict, message: str | None, outcome: Outcome | None) -> TestResult:
        return self._grader.result(index, verdict, message, outcome, self._submission.display_bytes)

    def _run(self, action: Callable[[Jail], T], outcome_of: Callable[[T], Outcome]) -> T:
        assert self._kind is not None
        return self._grader.run(self._kind, self._limits, action, outcome_of)

    def _refusal(self) -> str | None:
        if self._compiled:
            return None
        refusal = self._program.refusal()
        self._compiled = refusal is None
        return refusal

    def _judge(self, outcome: Outcome) -> tuple[Verdict, str | None]:
        refusal = self._refusal()
        return (Verdict.CE, refusal) if refusal is not None else judge(outcome, self._limits)


def _source(submission: Submission) -> str | None:
    if submission.code is not None:
        return submission.code
    return extract(submission.completion or "", submission.extraction, languages.find(submission.language).name)


def _nothing_found(submission: Submission) -> str:
    return NO_BOX if submission.extraction in ("boxed", "boxed_after_thinking") else NO_CODE


def _said(output: bytes, cpu_seconds: float) -> Outcome:
    """The outcome of what is not run."""
    return Outcome(
        exit_code=0,
        signal=None,
        timed_out=False,
        cpu_seconds=cpu_seconds,
        wall_seconds=0.0,
        starved_seconds=0.0,
        peak_memory_bytes=0,
        stdout=output,
        stderr=b"",
        stdout_bytes=len(output),
    )


def _one_box(submission: Submission) -> bool:
    """Whether all its tests are likely to be run in one box."""
    tests = submission.tests or ()
    return len(tests) == 1 or all(isinstance(test, CallTest) for test in tests)


def _failure_kind(fault: SandboxFault) -> str:
    if isinstance(fault, BadTest):
        return "bad_test"
    return "jail_unsafe" if isinstance(fault, JailUnsafe) else "sandbox"


def _killed_from_outside(outcome: Outcome, limits: Limits) -> bool:
    """A box cannot kill itself with SIGKILL, so one without a reason of its own came from the machine."""
    if outcome.signal != signal.SIGKILL or outcome.timed_out:
        return False
    return judge(outcome, limits)[0] == Verdict.RTE


def _wanted(test: CallTest) -> dict[str, object]:
    return {"function": test.function, "args": test.args, "kwargs": test.kwargs, "calls": test.calls}


def _share(outcome: Outcome, calls: int) -> Outcome:
    return replace(outcome, cpu_seconds=outcome.cpu_seconds / calls, wall_seconds=outcome.wall_seconds / calls)


def _compare(submission: Submission, line: bytes, test: CallTest) -> str | None:
    try:
        got = json.loads(line, object_hook=_untag)
    except (ValueError, RecursionError) as error:
        return f"the result cannot be read: {error}"
    return check_value(submission.checker, got, test.output)


def _untag(found: dict[str, object]) -> object:
    tagged = found.get(SET_TAG)
    if len(found) != 1 or not isinstance(tagged, list):
        return found
    try:
        return frozenset(_hashable(value) for value in tagged)
    except TypeError:
        return found


def _hashable(value: object) -> object:
    return tuple(_hashable(each) for each in value) if isinstance(value, list) else value


def _deciding_outcome(pair: PairResult) -> Outcome:
    """The box whose end explains the pair's: the candidate's, unless it was still alive when the tester ended."""
    if pair.tester.timed_out:
        tester = pair.tester
        return replace(
            pair.candidate, timed_out=True, wall_seconds=tester.wall_seconds, starved_seconds=tester.starved_seconds
        )
    report = pair.report or {}
    return pair.candidate if report.get("result") == "gone" else pair.tester
