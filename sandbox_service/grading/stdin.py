"""Grades tests of type stdin: runs a program on an input, or takes an answer in text as the output, and compares it."""

from __future__ import annotations

from sandbox_service.grading import checked, mathematics
from sandbox_service.grading.work import BadTestError, Work
from sandbox_service.judging import standard_checkers
from sandbox_service.judging.checkers import check_any
from sandbox_service.sandbox.base import Outcome
from sandbox_service.schema import StdinTest, TestResult, Verdict


def grade_program(work: Work, index: int, test: StdinTest) -> TestResult:
    """Run the program on the test's input, and check its output.

    Args:
        work: the submission.
        index: the test's place in it.
        test: the test.

    Returns:
        The result of the test.

    Raises:
        BadTestError: the checker refuses the test's own answer.
        SandboxError: the sandbox failed.
    """
    judge = work.judges.checker
    if judge is not None:
        return checked.grade(work, judge, index, test)
    return judged(work, index, test, work.run_stdin(test.input.encode("utf-8")))


def judged(work: Work, index: int, test: StdinTest, outcome: Outcome, wrong: str | None = None) -> TestResult:
    """Return the result of a test whose program was run.

    Args:
        work: the submission.
        index: the test's place in it.
        test: the test.
        outcome: the outcome of the program.
        wrong: why its output is wrong, if that is known.

    Raises:
        BadTestError: the checker refuses the test's own answer.
        SandboxError: the sandbox failed.
    """
    verdict, message = work.judge(outcome)
    if verdict == Verdict.AC and wrong is not None:
        _check_solvable(work, index, test)
        return work.result(index, Verdict.WA, wrong, outcome)
    if verdict == Verdict.AC:
        message, _ = _check(work, index, test, outcome.stdout)
        verdict = Verdict.AC if message is None else Verdict.WA
    return work.result(index, verdict, message, outcome)


def grade_text(work: Work, index: int, test: StdinTest) -> TestResult:
    """Check the submitted text as if a program had printed it.

    Args:
        work: the submission.
        index: the test's place in it.
        test: the test; its input is not used.

    Returns:
        The result. Its CPU time is that of the comparison.
    """
    output = work.source.encode("utf-8", "replace")
    judge = work.judges.checker
    if judge is not None:
        return checked.grade_text(work, judge, index, test, _outcome_of_text(output, 0.0))
    message, seconds = _check(work, index, test, output)
    verdict = Verdict.AC if message is None else Verdict.WA
    return work.result(index, verdict, message, _outcome_of_text(output, seconds))


def _check(work: Work, index: int, test: StdinTest, output: bytes) -> tuple[str | None, float]:
    """Return why the output is wrong, or None, and the CPU seconds that boxes took to compare it."""
    checker = work.checker
    if test.asks_for_a_judge and work.judges.replacement is None:
        raise BadTestError(f"test {index}: its judge_arguments or its full_score are for a checker program")
    if checker.type == "math":
        return mathematics.compare(work, index, test.outputs, output)
    compare = check_any if work.judges.replacement is None else standard_checkers.check
    message = compare(checker, output, test.outputs)
    if message is not None:
        _check_solvable(work, index, test)
    return message, 0.0


def _check_solvable(work: Work, index: int, test: StdinTest) -> None:
    """Raise BadTestError if the checker refuses the test's own answer (NaN among numbers, say)."""
    for output in test.outputs:
        if (reason := check_any(work.checker, output.encode("utf-8"), [output])) is not None:
            raise BadTestError(f"test {index}: its expected output is refused by its own checker: {reason}")


def _outcome_of_text(output: bytes, cpu_seconds: float) -> Outcome:
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
