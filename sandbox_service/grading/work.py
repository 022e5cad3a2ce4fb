"""One submission while it is graded: its program, its results so far, and the verdicts on its runs.

What is common to all kinds of test. The kinds are in stdin.py, calls.py and asserts.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from sandbox_service.grading.faults import BadCheckerError as BadCheckerError
from sandbox_service.grading.faults import BadTestError as BadTestError
from sandbox_service.grading.judges import Judges
from sandbox_service.grading.runner import Runner
from sandbox_service.judging.verdict import judge
from sandbox_service.sandbox.base import Check, Outcome, Sandbox
from sandbox_service.schema import Checker, Limits, Submission, TestResult, Verdict

T = TypeVar("T")


class GradingCancelledError(Exception):
    """The grade is not wanted any more."""


class Work:
    """One submission with its program.

    Attributes:
        submission: the submission.
        limits: those of its runs.
        source: its program, or its text.
        kind: the kind of zygote that runs it; None if it is a text.
        runner: where it runs.
        display_bytes: bytes of stdout, stderr and transcript in a result.
        judges: the programs that judge it.
        notes: what the answer says about how it was graded.
    """

    def __init__(
        self,
        runner: Runner,
        submission: Submission,
        source: str,
        program: Any | None,
        kind: str | None,
        is_cancelled: Callable[[], bool],
        display_bytes: int,
        judges: Judges,
        limits: Limits | None = None,
    ) -> None:
        """Prepare to grade a submission.

        Args:
            runner: where it runs.
            submission: the submission with its tests.
            source: its program, or its text.
            program: the prepared program (`languages.base.Program`); None if it is a text.
            kind: the kind of zygote that runs it; None if it is a text.
            is_cancelled: asked between two runs.
            display_bytes: bytes of stdout and stderr in a result.
            judges: the programs that judge it.
            limits: those of a run; None for the submission's.
        """
        self.runner = runner
        self.submission = submission
        self.limits = limits or submission.limits
        self.source = source
        self.kind = kind
        self._program = program
        self._is_cancelled = is_cancelled
        self.display_bytes = display_bytes
        self.judges = judges
        self._compiled = False
        self.notes = judges.notes

    @property
    def checker(self) -> Checker:
        """The checker that compares; the default one of a submission with a checker program."""
        found = self.submission.checker
        return found if isinstance(found, Checker) else self.judges.replacement or Checker()

    @property
    def program(self) -> Any:
        """The prepared program, of a submission that is run."""
        assert self._program is not None
        return self._program

    @property
    def can_share(self) -> bool:
        """True if stdin tests can share a box: one process, and a program whose sandboxes can run shared boxes."""
        return self._program is not None and bool(self._program.can_share) and self.limits.processes == 1

    def check_cancelled(self) -> None:
        """Raise GradingCancelledError if the grade is not wanted any more."""
        if self._is_cancelled():
            raise GradingCancelledError

    def run(self, action: Callable[[Sandbox], T], outcome_of: Callable[[T], Outcome]) -> T:
        """Run in a sandbox of the program's kind; see `Runner.run`."""
        assert self.kind is not None
        return self.runner.run(self.kind, self.limits, action, outcome_of)

    def run_stdin(self, stdin: bytes) -> Outcome:
        """Run the program on an input; see `Runner.run`."""
        program, limits = self.program, self.limits
        return self.run(lambda jail: jail.run_stdin(program, stdin, limits), lambda outcome: outcome)

    def run_checked(self, stdin: bytes, check: Callable[[], Check]) -> tuple[Outcome, Outcome | None]:
        """Run the program on an input, and a checker after it; see `Sandbox.run_checked` and `Runner.run`.

        Args:
            stdin: the input.
            check: prepares a run of the checker.

        Returns:
            The outcome of the program, and that of the checker.
        """
        program, limits = self.program, self.limits
        return self.run(lambda jail: jail.run_checked(program, stdin, limits, check()), lambda both: both[0])

    @property
    def refused(self) -> str | None:
        """Why the program did not compile, if that is known before a run."""
        return None if self._program is None else self._program.refused

    def refusal(self, *, was_stopped: bool = False) -> str | None:
        """Return why the program did not compile, after a run; None if it did, or was stopped before that was known.

        Args:
            was_stopped: the host ended the box for another reason, perhaps while it compiled.
        """
        if self._compiled:
            return None
        refusal: str | None = self.program.refusal(was_stopped=was_stopped)
        self._compiled = refusal is None and not was_stopped
        return refusal

    def judge(self, outcome: Outcome, *, was_stopped: bool = False) -> tuple[Verdict, str | None]:
        """Judge a run by how it ended.

        Args:
            outcome: the facts of the run.
            was_stopped: the host ended the box for another reason, perhaps while it compiled.

        Returns:
            The verdict, AC if only the output is left to check; and its reason.
        """
        refusal = self.refusal(was_stopped=was_stopped)
        return (Verdict.CE, refusal) if refusal is not None else judge(outcome, self.limits)

    def flooded(self, outcome: Outcome) -> bool:
        """Return whether the box wrote more than it may."""
        return outcome.stdout_bytes > self.limits.output_bytes

    def result(
        self, index: int, verdict: Verdict, message: str | None, outcome: Outcome | None, peak: int | None = None
    ) -> TestResult:
        """Return a test's result.

        Args:
            index: the test's place in the submission.
            verdict: the verdict.
            message: its reason, for people.
            outcome: the box, whose times and beginning of output the result shows; None if there was none.
            peak: bytes of memory, if they are not those of the outcome.
        """
        if outcome is None:
            return TestResult(index=index, verdict=verdict, message=message)
        shown = self.display_bytes
        return TestResult(
            index=index,
            verdict=verdict,
            message=message,
            exit_code=outcome.exit_code,
            signal=outcome.signal,
            cpu_seconds=round(outcome.cpu_seconds, 6),
            wall_seconds=round(outcome.wall_seconds, 6),
            peak_memory_bytes=outcome.peak_memory_bytes if peak is None else peak,
            stdout=outcome.stdout[:shown].decode("utf-8", "replace"),
            stdout_truncated=outcome.stdout_bytes > shown,
            stderr=outcome.stderr[:shown].decode("utf-8", "replace"),
        )
