"""Grades on their way from a slot to a client: JSON that is made once, and of which those who carry it read the head.

The results of the tests are the end of it, and most of it; all else is before them. Where they begin is found without
reading them: within a JSON string no quote stands without a backslash before it, so no text can look like a field.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, Self

import orjson

from sandbox_service.schema import Grade, Verdict

LASTING = frozenset({Verdict.AC, Verdict.WA, Verdict.RTE, Verdict.CE})  # the same however busy the machine is

_TESTS = b',"tests":['
_RESULT = re.compile(rb'\{"index":\d+,"verdict":"([A-Z]+)"')


class Answer:
    """A grade as it travels."""

    __slots__ = ("_head", "_tests", "body")

    def __init__(self, body: bytes) -> None:
        self.body = body
        self._head: dict[str, Any] | None = None
        self._tests: Mapping[bytes, int] | None = None

    @property
    def head(self) -> dict[str, Any]:
        """All but the tests, as Python's own values. Raises ValueError if that is none."""
        if self._head is None:
            self._head = orjson.loads(self.body[: self.body.index(_TESTS)] + b"}")
        return self._head

    @property
    def tests(self) -> Mapping[bytes, int]:
        """How many were run, by verdict. What is AC without a fault has passed all of them, so they need no look."""
        if self._tests is None:
            head = self.head
            is_clean = head["verdict"] == "AC" and head["failure_kind"] is None
            self._tests = {b"AC": head["total"]} if is_clean else Counter(_RESULT.findall(self.body))
        return self._tests

    def under(self, head: dict[str, Any]) -> Self:
        """The same tests under another head."""
        answer = type(self)(orjson.dumps(head)[:-1] + self.body[self.body.index(_TESTS) :])
        answer._head = head
        return answer

    @property
    def is_whole(self) -> bool:
        """Whether it is a grade, as far as those who carry it read it."""
        try:
            head = self.head
            timing, grader, kind = head["timing"], head["grader"], head["failure_kind"]
            "".join([head["verdict"], grader["language"]])  # all text
            return bool(
                timing["graded_seconds"] >= 0 <= timing["queued_seconds"]
                and grader["attempts"] >= 0
                and head["total"] >= 0
                and (kind is None or isinstance(kind, str))
                and self.body.endswith(b"]}")
                and self.body[self.body.index(_TESTS) + len(_TESTS)] in b"{]"
            )
        except (ValueError, TypeError, KeyError):
            return False

    @property
    def is_fault(self) -> bool:
        """Whether we failed, so that the submission may be sent again.

        A test that was failed may be the verdict of the whole though another one has none; then there is no reward.
        """
        return self.head.get("reward") is None

    @property
    def is_lasting(self) -> bool:
        """Whether the same program would get the same verdict again, whatever the machine is doing."""
        return self.head["verdict"] in LASTING and not self.is_fault

    def grade(self) -> Grade:
        """The grade itself."""
        return Grade.model_validate_json(self.body)


def fault(submission_id: str, tests: int, kind: str, reason: str, attempts: int = 1) -> Answer:
    """The answer to a submission that we could not grade."""
    return Answer(Grade.fault(submission_id, tests, kind, reason, attempts).model_dump_json().encode())


def again(answer: Answer, submission_id: str) -> Answer:
    """A cached answer, given to another submission of the same work."""
    head = answer.head
    return answer.under(
        head
        | {
            "id": submission_id,
            "grader": head["grader"] | {"cached": True},
            "timing": {"queued_seconds": 0.0, "graded_seconds": 0.0},
        }
    )
