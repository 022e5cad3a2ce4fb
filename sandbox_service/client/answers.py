"""What the service says of a submission. An answer without a verdict has no value, whatever else it says."""

from __future__ import annotations

from pydantic import ValidationError

from sandbox_service.schema import Grade, Verdict

LOST = ("suite_lost", "forgotten")  # kinds of fault that say: send it again


def grade_of(answer: bytes) -> Grade | None:
    """A grade, or None for what is none. What a newer service says on top is left out."""
    try:
        grade = Grade.model_validate_json(answer, extra="ignore", strict=True)
    except ValidationError:
        return None
    if grade.verdict == Verdict.IE and grade.reward is not None:
        return grade.model_copy(update={"reward": None})
    return grade


def reason_of(grade: Grade) -> str:
    """Why it has no reward, or what was wrong; empty if nothing was."""
    if grade.reward is not None:
        return grade.message or ""
    return ": ".join(part for part in (grade.failure_kind, grade.failure_reason) if part) or "no reason given"


def given_up(submission_id: str, reason: str) -> Grade:
    """For what the service lost, or failed at, again and again."""
    return Grade.fault(submission_id, 0, "given_up", reason)
