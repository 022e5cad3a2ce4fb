"""Decodes the service's answers. A grade that is masked or has no verdict has no reward, whatever it contains."""

from __future__ import annotations

from pydantic import ValidationError

from sandbox_service.schema import FailureKind, Grade, Verdict

LOST = (FailureKind.SUITE_LOST, FailureKind.FORGOTTEN)  # kinds of fault after which the submission is sent again


def grade_of(answer: bytes) -> Grade | None:
    """Return the grade, or None if the answer is not a grade. Unknown fields of a newer service are ignored."""
    try:
        grade = Grade.model_validate_json(answer, extra="ignore", strict=True)
    except ValidationError:
        return None
    if (grade.verdict == Verdict.IE or grade.mask_sample) and grade.reward is not None:
        return grade.model_copy(update={"reward": None})
    return grade


def reason_of(grade: Grade) -> str:
    """Return the reason why the grade has no reward, or its message; empty if there is none."""
    if grade.reward is not None:
        return grade.message or ""
    return ": ".join(part for part in (grade.failure_kind, grade.failure_reason) if part) or "no reason given"


def given_up(submission_id: str, reason: str) -> Grade:
    """Return the fault, with its reason, of a submission that was retried too often."""
    return Grade.fault(submission_id, 0, FailureKind.GIVEN_UP, reason)
