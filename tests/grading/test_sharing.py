"""The audit of shared boxes: what it makes of the second grade, and when sharing stops."""

from __future__ import annotations

import random

import pytest

from sandbox_service.grading.sharing import Sharing
from sandbox_service.schema import Grade, SharingAudit, Submission, TestResult, Verdict


def grade(verdict: Verdict, *, shared: int = 0, output: str = "") -> Grade:
    tests = [TestResult(index=0, verdict=verdict, stdout=output)]
    return Grade(id="x", verdict=verdict, reward=float(verdict == Verdict.AC), shared=shared, tests=tests)


SHARED, FRESH, WRONG = grade(Verdict.AC, shared=4, output="7"), grade(Verdict.AC), grade(Verdict.WA, output="8")


def submission(isolation: str | None = None) -> Submission:
    body = {"id": "x", "code": "", "tests": [{"type": "stdin", "output": ""}], "isolation": isolation}
    return Submission.model_validate(body)


def test_fresh_boxes_that_agree_change_nothing() -> None:
    sharing = Sharing(audit_share=1)
    found = sharing.audited(SHARED, lambda: FRESH)
    assert found == SHARED.model_copy(update={"sharing_audit": SharingAudit.AGREED})
    assert (sharing.audits, sharing.flips) == (1, 0)


def test_fresh_boxes_decide() -> None:
    found = Sharing(audit_share=1).audited(SHARED, lambda: WRONG)
    assert (found.verdict, found.reward, found.sharing_audit) == (Verdict.WA, 0, SharingAudit.FLIPPED)
    assert found.tests == WRONG.tests


@pytest.mark.parametrize("first", [FRESH, WRONG, grade(Verdict.WA, shared=4)])
def test_only_accepted_submissions_with_a_shared_box_are_audited(first: Grade) -> None:
    def again() -> Grade:
        raise AssertionError("graded again")

    assert Sharing(audit_share=1).audited(first, again) is first


@pytest.mark.parametrize("second", [None, grade(Verdict.IE)])
def test_a_pause_or_a_fault_is_no_audit(second: Grade | None) -> None:
    sharing = Sharing(audit_share=1)
    assert sharing.audited(SHARED, lambda: second) is SHARED
    assert sharing.audits == 0


def test_a_share_is_audited() -> None:
    sharing = Sharing(audit_share=0.1, rng=random.Random(1))
    for _ in range(2000):
        sharing.audited(SHARED, lambda: FRESH)
    assert 150 < sharing.audits < 250


def test_too_many_flips_stop_the_sharing() -> None:
    sharing = Sharing(by_default=True, audit_share=1, flip_share=0.4)
    seconds = [WRONG, FRESH, FRESH, FRESH, WRONG, WRONG]
    audits = []
    for second in seconds:
        assert sharing.allows(submission())
        audits.append(sharing.audited(SHARED, lambda second=second: second).sharing_audit)  # type: ignore[misc]
    assert audits == ["flipped", "agreed", "agreed", "agreed", "flipped", "stopped"]
    assert not sharing.allows(submission())
    assert not sharing.allows(submission("submission"))


@pytest.mark.parametrize(
    ("by_default", "isolation", "allowed"),
    [
        (False, None, False),
        (True, None, True),
        (False, "submission", True),
        (True, "test", False),
        (True, "calls", False),
        (True, "shuffled", False),
    ],
)
def test_a_submission_overrides_the_setting(*, by_default: bool, isolation: str | None, allowed: bool) -> None:
    assert Sharing(by_default=by_default).allows(submission(isolation)) == allowed
