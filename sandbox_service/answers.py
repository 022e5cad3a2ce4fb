"""Grades on their way from a slot to a client: JSON that is made once and read only by who needs to."""

from __future__ import annotations

from typing import Any

import orjson

from sandbox_service.schema import Grade, Verdict

LASTING = frozenset({Verdict.AC, Verdict.WA, Verdict.RTE, Verdict.CE})  # the same however busy the machine is


class Answer:
    """A grade as it travels: JSON, read only by who needs to."""

    __slots__ = ("_facts", "body")

    def __init__(self, body: bytes) -> None:
        self.body = body
        self._facts: dict[str, Any] | None = None

    @classmethod
    def of(cls, facts: dict[str, Any]) -> Answer:
        """An answer from what its JSON is to say."""
        answer = cls(orjson.dumps(facts))
        answer._facts = facts
        return answer

    @property
    def facts(self) -> dict[str, Any]:
        """The JSON as Python's own values."""
        if self._facts is None:
            self._facts = orjson.loads(self.body)
        return self._facts

    @property
    def is_whole(self) -> bool:
        """Whether it is a grade, as far as those who carry it read it."""
        try:
            facts = self.facts
            timing, grader, kind = facts["timing"], facts["grader"], facts["failure_kind"]
            "".join([facts["verdict"], grader["language"], *[test["verdict"] for test in facts["tests"]]])  # all text
            return bool(
                timing["graded_seconds"] >= 0 <= timing["queued_seconds"]
                and grader["attempts"] >= 0
                and (kind is None or isinstance(kind, str))
            )
        except (ValueError, TypeError, KeyError):
            return False

    @property
    def is_fault(self) -> bool:
        """Whether we failed, so that the submission may be sent again.

        A test that was failed may be the verdict of the whole though another one has none; then there is no reward.
        """
        return self.facts.get("reward") is None

    @property
    def is_lasting(self) -> bool:
        """Whether the same program would get the same verdict again, whatever the machine is doing."""
        return self.facts["verdict"] in LASTING and not self.is_fault

    def grade(self) -> Grade:
        """The grade itself."""
        return Grade.model_validate_json(self.body)


def fault(submission_id: str, tests: int, kind: str, reason: str, attempts: int = 1) -> Answer:
    """The answer to a submission that we could not grade."""
    facts = orjson.loads(Grade.fault(submission_id, tests, kind, reason).model_dump_json())
    facts["grader"]["attempts"] = attempts
    return Answer.of(facts)


def again(answer: Answer, submission_id: str) -> Answer:
    """A cached answer, given to another submission of the same work."""
    facts = orjson.loads(answer.body)
    facts["id"] = submission_id
    facts["grader"]["cached"] = True
    facts["timing"] = {"queued_seconds": 0.0, "graded_seconds": 0.0}
    return Answer.of(facts)
