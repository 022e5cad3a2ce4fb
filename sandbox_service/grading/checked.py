"""Tests of type stdin with a checker program, in one pass or in several."""

from __future__ import annotations

from sandbox_service.grading.judges import NEXT_PASS, Judge
from sandbox_service.grading.work import BadCheckerError, Work
from sandbox_service.judging.judges import Judgement
from sandbox_service.sandbox.base import Outcome
from sandbox_service.schema import StdinTest, TestResult, Verdict


def grade(work: Work, judge: Judge, index: int, test: StdinTest) -> TestResult:
    """Run the program, and then the checker on its output; again while the checker leaves another input.

    Args:
        work: the submission.
        judge: the checker.
        index: the test's place in the submission.
        test: the test.

    Returns:
        The result, with the times of all passes.

    Raises:
        BadCheckerError: the checker failed.
        SandboxError: a sandbox failed.
        too_many_passes: the checker wants more passes than it may have; a BadCheckerError.
    """
    stdin, answer = test.input.encode(), test.outputs[0].encode()
    judge.turn_to(test)
    judge.begin()
    before: Outcome | None = None
    for number in range(judge.program.passes):
        work.program.begin_pass(number)
        given = stdin
        outcome, checked = _run(work, judge, given, answer)
        verdict, message = work.judge(outcome)
        outcome = sum_of(before, outcome)
        if verdict != Verdict.AC:
            return work.result(index, verdict, message, outcome)
        found, _ = judge.check(f"test {index}", given, outcome.stdout, answer, test.input.encode(), checked)
        following = next_pass(judge, found)
        if following is None:
            return judged(work, index, found, outcome)
        stdin, before = following, outcome
    raise too_many_passes(judge, index)


def grade_text(work: Work, judge: Judge, index: int, test: StdinTest, outcome: Outcome) -> TestResult:
    """As `grade`, for a text, which is its own output.

    Args:
        work: the submission.
        judge: the checker.
        index: the test's place in the submission.
        test: the test.
        outcome: the text as an outcome.

    Returns:
        The result. Its CPU time is the checker's.
    """
    judge.turn_to(test)
    judge.begin()
    found, seconds = judge.check(f"test {index}", test.input.encode(), outcome.stdout, test.outputs[0].encode())
    return judged(work, index, found, outcome._replace(cpu_seconds=seconds))


def next_pass(judge: Judge, found: Judgement) -> bytes | None:
    """Return the input of the next pass, or None if there is none."""
    return judge.next_pass() if found.verdict == Verdict.AC and judge.has_passes else None


def too_many_passes(judge: Judge, index: int) -> BadCheckerError:
    """Return the error for a judge that wants more passes than it may have, in the test with this index."""
    return BadCheckerError(f"test {index}: the judge left {NEXT_PASS} after the last of {judge.program.passes} passes")


def sum_of(before: Outcome | None, outcome: Outcome) -> Outcome:
    """Return the outcome of the last pass, with the times of all passes and the greatest memory."""
    if before is None:
        return outcome
    return outcome._replace(
        cpu_seconds=before.cpu_seconds + outcome.cpu_seconds,
        wall_seconds=before.wall_seconds + outcome.wall_seconds,
        peak_memory_bytes=max(before.peak_memory_bytes, outcome.peak_memory_bytes),
    )


def judged(work: Work, index: int, found: Judgement, outcome: Outcome) -> TestResult:
    """Return the result of the test with this index, which a judge decided.

    Args:
        work: the submission.
        index: the test's place in it.
        found: the judge's decision.
        outcome: the run that was judged.
    """
    result = work.result(index, found.verdict, found.message, outcome)
    if found.share is None and not found.provoked:
        return result
    return result.model_copy(update={"share": found.share, "provoked": found.provoked})


def _run(work: Work, judge: Judge, stdin: bytes, answer: bytes) -> tuple[Outcome, Outcome | None]:
    """Run the program, and the checker at once after it if one launcher can run both."""
    if not judge.follows(work.kind):
        return work.run_stdin(stdin), None
    return work.run_checked(stdin, lambda: judge.check_after(stdin, answer))
