"""Decides whether stdin tests may share a box, and audits that: a share of accepted submissions is graded once more.

Fresh boxes decide. If they do not accept what a shared box did, that is a flip: the answer is theirs and says so, and
observe/shared_boxes.py logs it. With too many flips this grader shares no more.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from sandbox_service.schema import Grade, SharingAudit, Submission, Verdict

LEAST_FLIPS = 2  # one may be a program that measures time


class Sharing:
    """The rule of one grader.

    Attributes:
        audits: how many submissions were graded once more.
        flips: how many of these were not accepted by fresh boxes.
    """

    def __init__(
        self,
        *,
        by_default: bool = False,
        audit_share: float = 0.0,
        flip_share: float = 1.0,
        rng: random.Random | None = None,
    ) -> None:
        """Begin without audits.

        Args:
            by_default: share where a submission says nothing.
            audit_share: of accepted submissions that shared a box, from 0 to 1, that are graded once more.
            flip_share: of the audits that may be flips; with more, nothing is shared.
            rng: chooses the submissions; for tests.
        """
        self.audits = self.flips = 0
        self._by_default = by_default
        self._audit_share = audit_share
        self._flip_share = flip_share
        self._rng = rng or random.Random()  # noqa: S311 no secret

    @property
    def is_stopped(self) -> bool:
        """Return whether there were too many flips."""
        return self.flips >= LEAST_FLIPS and self.flips > self._flip_share * self.audits

    def allows(self, submission: Submission) -> bool:
        """Return whether the stdin tests of a submission may share a box."""
        if self.is_stopped:
            return False
        return self._by_default if submission.isolation is None else submission.isolation == "submission"

    def audited(self, grade: Grade, again: Callable[[], Grade | None]) -> Grade:
        """Return a grade, or the grade of fresh boxes in place of it.

        Args:
            grade: of a submission.
            again: grades it in fresh boxes; None if it was asked to pause.
        """
        if not grade.shared or grade.verdict != Verdict.AC or self._rng.random() >= self._audit_share:
            return grade
        fresh = again()
        if fresh is None or fresh.verdict == Verdict.IE:
            return grade
        self.audits += 1
        if fresh.verdict == Verdict.AC:
            return grade.model_copy(update={"sharing_audit": SharingAudit.AGREED})
        self.flips += 1
        return fresh.model_copy(
            update={"sharing_audit": SharingAudit.STOPPED if self.is_stopped else SharingAudit.FLIPPED}
        )
