"""Tests of type interactive: the program and an interactor run at the same time, joined by two pipes.

Several things can go wrong at once, and one side's end causes the other's. The order in which they count is in
`decide`; docs/judges.md gives the reasons.
"""

from __future__ import annotations

from sandbox_service.grading import checked
from sandbox_service.grading.judges import Judge
from sandbox_service.grading.work import BadTestError, Work
from sandbox_service.judging import standard_checkers
from sandbox_service.judging.judges import ANSWER, INPUT, PROTOCOLS, TOUT, Judgement
from sandbox_service.sandbox import relay
from sandbox_service.sandbox.base import Outcome, Sandbox
from sandbox_service.sandbox.relay import Interaction
from sandbox_service.schema import InteractiveTest, Limits, TestResult, Verdict

DEADLOCK = "deadlock: the program and the interactor wait for each other"
IDLE_AFTER_END = "idle: the program waits although the interactor has ended"
TRANSCRIPT_BYTES = 8192


def grade(work: Work, index: int, test: InteractiveTest) -> TestResult:
    """Run the program and the interactor, in one pass or in several.

    Args:
        work: the submission.
        index: the test's place in it.
        test: the test.

    Returns:
        The result, with the times of all passes and the transcript of the last one.

    Raises:
        BadTestError: there is no interactor.
        BadCheckerError: the interactor failed.
        SandboxError: a sandbox failed.
        too_many_passes: the interactor wants more passes than it may have; a BadCheckerError.
    """
    judge = work.judges.interactor
    if judge is None:
        raise BadTestError(f"test {index}: a test of type interactive needs an interactor")
    if PROTOCOLS[judge.program.protocol].interacts is None:
        raise BadTestError(f"test {index}: the protocol {judge.program.protocol} has no interactors")
    judge.check_compiled(f"test {index}")
    stdin, answer = test.input.encode(), test.output.encode()
    judge.turn_to(test)
    judge.begin()
    before: Outcome | None = None
    for number in range(judge.program.passes):
        work.program.begin_pass(number)
        found = _converse(work, judge, stdin, answer)
        judgement, outcome = _judged(work, judge, index, found)
        outcome = checked.sum_of(before, outcome)
        following = checked.next_pass(judge, judgement)
        if following is None:
            judgement = _checked(work, judge, index, test, judgement)
            result = checked.judged(work, index, judgement, outcome)
            shown = found.transcript[: work.display_bytes].decode("utf-8", "replace")
            return result.model_copy(update={"transcript": shown})
        stdin, before = following, outcome
    raise checked.too_many_passes(judge, index)


def _converse(work: Work, judge: Judge, stdin: bytes, answer: bytes) -> Interaction:
    limits, judges_limits = judge.limits_beside(work.limits)
    transcript_bytes = min(TRANSCRIPT_BYTES, work.display_bytes)
    program = work.program

    def run(sandbox: Sandbox, judges_sandbox: Sandbox) -> Interaction:
        if judge.program.passes == 1:
            judge.begin()
        call = judge.fill({INPUT: stdin, ANSWER: answer}, interacts=True)
        return relay.converse(
            lambda reads, writes: sandbox.start_program(program, reads, writes, limits),
            lambda reads, writes: judges_sandbox.start_judge(judge.source, call, reads, writes, judges_limits),
            limits.output_bytes,
            judges_limits.output_bytes,
            lambda outcome: judge.judgement(outcome).verdict != Verdict.AC,
            transcript_bytes,
        )

    return work.runner.run_both((work.kind or "", judge.kind), limits, run, program_outcome)


def program_outcome(found: Interaction) -> Outcome:
    """Return the program's outcome; if the host ended it, as if it had ended well."""
    if not found.program_killed:
        return found.program
    return found.program._replace(exit_code=0, signal=None, timed_out=False)


def _judged(work: Work, judge: Judge, index: int, found: Interaction) -> tuple[Judgement, Outcome]:
    outcome = program_outcome(found)
    verdict, message = work.judge(outcome, was_stopped=found.program_killed)
    if judge.limits.output_bytes < found.judge_bytes:
        said = Judgement(Verdict.IE, message=f"it wrote more than {judge.limits.output_bytes} bytes")
    elif found.judge_killed:
        said = Judgement(Verdict.IE, message="it did not end although the program had ended")
    else:
        said = judge.judgement(found.judge)
    decided = decide(found, Judgement(verdict, message=message), said, work.limits)
    if decided.verdict == Verdict.IE:
        acted = found.judge_read > 0 or found.judge_was_told  # neither depends on who ended first
        decided = judge.failed(f"test {index}", decided, provoked=acted and judge.can_be_provoked(found.judge))
    return decided, outcome


def decide(found: Interaction, program: Judgement, judge: Judgement, limits: Limits) -> Judgement:
    """Return the verdict of an interaction.

    1. A program that does not compile.
    2. The judge failed, unless it did so only after it was told of the end of a program that had failed.
    3. The judge rejected without having been told of the program's end: nothing that the program does can matter.
    4. The program failed or exceeded a limit, even if the judge had accepted.
    5. The two wait for each other, or the program waits after the judge accepted.
    6. The judge's verdict.

    Args:
        found: how both ended.
        program: the verdict on the program's own end.
        judge: the judge's verdict.
        limits: the program's limits.
    """
    failed = program.verdict != Verdict.AC
    if program.verdict == Verdict.CE:
        return program
    if program.verdict == Verdict.TLE and found.program.timed_out and found.waited_for_judge >= limits.wall / 2:
        return Judgement(Verdict.IE, message=f"the program waited {found.waited_for_judge:.1f} s for it")
    if found.idle and found.program_killed:
        return Judgement(Verdict.TLE, message=DEADLOCK if found.judge_killed else IDLE_AFTER_END)
    if judge.verdict == Verdict.IE and not (failed and found.judge_was_told):
        return judge
    if judge.verdict == Verdict.WA and not found.judge_was_told:
        return judge
    return program if failed else judge


def _checked(work: Work, judge: Judge, index: int, test: InteractiveTest, found: Judgement) -> Judgement:
    """Return the verdict of the checker on the output file of a testlib interactor, if there is a checker."""
    if judge.program.protocol != "testlib" or found.verdict != Verdict.AC:
        return found
    left = judge.folder.feedback(TOUT, judge.limits.output_bytes)
    if left is None and TOUT in judge.folder.left():
        raise judge.failure(f"test {index}", Judgement(Verdict.IE, message=f"it left a {TOUT} that is no regular file"))
    left = left or b""
    if work.judges.replacement is not None:
        reason = standard_checkers.check(work.judges.replacement, left, [test.output])
        return found if reason is None else Judgement(Verdict.WA, message=reason)
    checker = work.judges.checker
    if checker is None:
        return found
    checker.turn_to(test)
    checker.begin()
    return checker.check(f"test {index}", test.input.encode(), left, test.output.encode())[0]
