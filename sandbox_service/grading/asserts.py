"""Grades tests of type assert: a test program runs in a box of its own and calls the candidate in another.

The verdict comes from the report of the tester's box, which the submission never enters.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from sandbox_service.grading.work import BadTestError, Work
from sandbox_service.judging.plain_asserts import PlainTest, plain_test
from sandbox_service.judging.replies import BothReplies, Open, Replies
from sandbox_service.judging.verdict import judge
from sandbox_service.sandbox.base import Outcome, PairResult, Sandbox
from sandbox_service.schema import AssertTest, Limits, TestResult, Verdict

# the fields of a test that the tester reads
SENT = {"code", "prelude", "entry_point", "needs_call"}

# the verdict for a tester's report, if both boxes ended as they should
REPORTED = {
    "passed": Verdict.AC,
    "failed": Verdict.WA,
    "raised": Verdict.RTE,
    "load_failed": Verdict.RTE,
    "not_plain": Verdict.RTE,
}


def grade(work: Work, index: int, test: AssertTest) -> TestResult:
    """Run the test program against the submission.

    Args:
        work: the submission.
        index: the test's place in it.
        test: the test.

    Returns:
        The result of the test.

    Raises:
        BadTestError: the test program is at fault.
        SandboxError: the sandbox failed.
    """
    plain = plain_test(test.code, test.entry_point, test.prelude or "")
    if plain is not None and (found := _grade_plain(work, index, test, plain)) is not None:
        return found
    wanted = json.dumps(test.model_dump(include=SENT)).encode()
    program, prelude, limits = work.program, test.prelude or "", work.limits
    pair = work.run(lambda jail: jail.run_pair(program, prelude, wanted, limits), deciding_outcome)
    verdict, message = _judge(work, pair)
    return work.result(index, verdict, message, _shown(pair))


def _grade_plain(work: Work, index: int, test: AssertTest, plain: PlainTest) -> TestResult | None:
    """Have the submission answer the calls of plain assertions in one box, and compare its results here.

    Returns:
        The result of the test; None if the submission's replies are such that only the test program can judge them.
    """
    program, limits = work.program, work.limits

    def run(jail: Sandbox) -> tuple[Outcome, Replies]:
        replies = Replies(plain)
        return jail.run_candidate(program, test.prelude or "", plain.requests, replies.read, limits), replies

    outcome, replies = work.run(run, lambda found: found[0])
    verdict, message = work.judge(outcome)
    if verdict in (Verdict.AC, Verdict.RTE, Verdict.TLE):  # answers before the end count
        finding = replies.finding
        if finding is Open.UNREADABLE:
            return None
        if not isinstance(finding, Open) and (finding[0] != Verdict.AC or verdict != Verdict.TLE):
            verdict, message = finding
        elif verdict == Verdict.AC:
            verdict, message = Verdict.RTE, "the program ended while it was being tested"
    return work.result(index, verdict, message, outcome)


@dataclass(frozen=True)
class Both:
    """The results of an audit test and a scored test in the same boxes.

    Attributes:
        scored: a pass; None if the scored test has to run in boxes of its own.
        audit: None if the audit test has to.
    """

    scored: TestResult | None = None
    audit: TestResult | None = None


def grade_both(work: Work, numbered: tuple[int, AssertTest], audit: tuple[int, AssertTest], limits: Limits) -> Both:
    """Run an audit test and then a scored test against the submission, in the same boxes.

    The audit test has the submission's fresh process, so that its result is that of boxes of its own. Of the scored
    test only a pass is believed.

    Args:
        work: the submission.
        numbered: the scored test, with its place.
        audit: the audit test, with its place; it has the same prelude.
        limits: of both together.

    Returns:
        The results that are final.

    Raises:
        SandboxError: the sandbox failed.
    """
    (index, test), (audit_index, first) = numbered, audit
    scored_plain, audit_plain = (plain_test(each.code, each.entry_point, test.prelude or "") for each in (test, first))
    if scored_plain is not None and audit_plain is not None and scored_plain.look == audit_plain.look:
        both = _both_plain(work, (index, scored_plain), (audit_index, audit_plain), test.prelude or "", limits)
        if both is not None:
            return both
    asked = test.model_dump(include=SENT) | {"audit": first.model_dump(include=SENT)}
    program, wanted = work.program, json.dumps(asked).encode()
    assert work.kind is not None
    pair = work.runner.run(
        work.kind, limits, lambda jail: jail.run_pair(program, test.prelude or "", wanted, limits), deciding_outcome
    )
    is_whole = not work.flooded(pair.candidate) and pair.candidate.peak_memory_bytes <= work.limits.memory_bytes
    if work.refusal() is not None or not is_whole:
        return Both()
    shown = _shown(pair)
    shown = shown._replace(cpu_seconds=shown.cpu_seconds / 2)  # the kernel measures boxes: each test has a share
    verdict, message = _audit_verdict(pair, limits)
    found = None if verdict is None else work.result(audit_index, verdict, message, shown)
    has_passed = (pair.second_report or {}).get("result") == "passed" and pair.tester.exit_code is not None
    is_within = pair.candidate.cpu_seconds <= limits.cpu_seconds
    return Both(work.result(index, Verdict.AC, None, shown) if has_passed and is_within else None, found)


def _both_plain(
    work: Work, numbered: tuple[int, PlainTest], audit: tuple[int, PlainTest], prelude: str, limits: Limits
) -> Both | None:
    """Have the submission answer the calls of both tests in one box; see `grade_both`.

    Returns:
        The results that are final; None if the submission's replies are such that only the test program can judge them.
    """
    (index, test), (audit_index, first) = numbered, audit
    program, requests = work.program, first.look + first.calls + test.calls

    def run(jail: Sandbox) -> tuple[Outcome, BothReplies]:
        replies = BothReplies(first, test)
        return jail.run_candidate(program, prelude, requests, replies.read, limits), replies

    assert work.kind is not None
    outcome, replies = work.runner.run(work.kind, limits, run, lambda found: found[0])
    if replies.audit.finding is Open.UNREADABLE or replies.scored.finding is Open.UNREADABLE:
        return None
    is_whole = not work.flooded(outcome) and outcome.peak_memory_bytes <= work.limits.memory_bytes
    if work.refusal() is not None or not is_whole:
        return Both()
    ended, why = judge(outcome, limits)
    shown = outcome._replace(cpu_seconds=outcome.cpu_seconds / 2)  # the kernel measures boxes: each test has a share
    finding = replies.audit.finding if not isinstance(replies.audit.finding, Open) else (ended, why)
    # without a reply and without a failure it has to run alone
    is_found = finding[0] != Verdict.AC or not isinstance(replies.audit.finding, Open)
    found = work.result(audit_index, *finding, shown) if is_found else None
    has_passed = replies.scored.finding == (Verdict.AC, None) and ended in (Verdict.AC, Verdict.RTE)
    return Both(work.result(index, Verdict.AC, None, shown) if has_passed else None, found)


def _audit_verdict(pair: PairResult, limits: Limits) -> tuple[Verdict | None, str | None]:
    """Return the verdict of the test program that ran first, and its reason; None if it has to run alone."""
    reported, message = _reported(pair)
    if reported in ("raised", "load_failed") and message.startswith("MemoryError"):
        return Verdict.MLE, message
    if reported in REPORTED:
        return REPORTED[reported], message or None
    if reported is not None and reported != "gone":
        return None, None
    verdict, why = judge(deciding_outcome(pair), limits)
    return (verdict, why) if verdict != Verdict.AC else (None, None)


def deciding_outcome(pair: PairResult) -> Outcome:
    """Return the box whose end explains the pair's: the candidate's, unless it was alive when the tester ended."""
    if pair.tester.timed_out:
        tester = pair.tester
        return pair.candidate._replace(
            timed_out=True, wall_seconds=tester.wall_seconds, starved_seconds=tester.starved_seconds
        )
    report = pair.report or {}
    return pair.candidate if report.get("result") == "gone" else pair.tester


def _judge(work: Work, pair: PairResult) -> tuple[Verdict, str | None]:
    reported, message = _reported(pair)
    if reported == "bad_test":  # first: the candidate is stopped when the test ends, and may not have compiled by then
        raise BadTestError(message)
    refusal = work.refusal()
    if refusal is not None:
        return Verdict.CE, refusal
    if work.flooded(pair.candidate) or pair.candidate.peak_memory_bytes > work.limits.memory_bytes:
        return judge(pair.candidate, work.limits)
    if reported in ("raised", "load_failed") and message.startswith("MemoryError"):
        return Verdict.MLE, message
    if reported in REPORTED and pair.tester.exit_code is not None:
        return REPORTED[reported], message or None
    if reported == "gone":
        verdict, why = judge(pair.candidate, work.limits)
        if verdict == Verdict.AC:
            return Verdict.RTE, "the program ended while it was being tested"
        return verdict, why
    # the tester did not get to its end: it was slow or waited, on values that the candidate chose
    verdict, why = judge(deciding_outcome(pair), work.limits)
    return (verdict, why) if verdict != Verdict.AC else (Verdict.RTE, "the test program did not come to its end")


def _reported(pair: PairResult) -> tuple[str | None, str]:
    """Return the tester's result and its reason, as text that UTF-8 can carry."""
    report = pair.report or {}
    result, message = report.get("result"), str(report.get("message") or "")
    return result if isinstance(result, str) else None, message.encode("utf-8", "backslashreplace").decode()


def _shown(pair: PairResult) -> Outcome:
    """Return the outcome to show: the candidate's, with the time of the whole run, which ends when the tester does.

    The CPU time is the tester's if that was stopped while it worked on the candidate's values.
    """
    candidate, tester = pair.candidate, pair.tester
    cpu = candidate.cpu_seconds if pair.report else max(candidate.cpu_seconds, tester.cpu_seconds)
    return candidate._replace(wall_seconds=max(candidate.wall_seconds, tester.wall_seconds), cpu_seconds=cpu)
