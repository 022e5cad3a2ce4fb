"""A grade as the JSON that a slot made, which is passed on to the client without decoding all of it.

The results of the tests come last and are most of the text. The head before them is decoded on demand. The place where
the tests begin can be searched for: in a JSON string every quote has a backslash before it, so no text looks like a
field.
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
_BRACKET_AT = len(_TESTS) - 1
_RESULT = re.compile(rb'\{"index":\d+,"verdict":"([A-Z]+)"')


class EncodedGrade:
    """A grade as JSON."""

    __slots__ = ("_begin", "_head", "_tests", "body")

    def __init__(self, body: bytes) -> None:
        self.body = body
        self._begin = -1  # of the tests; negative: not searched for so far
        self._head: dict[str, Any] | None = None
        self._tests: Mapping[bytes, int] | None = None

    @property
    def head(self) -> dict[str, Any]:
        """All fields but the tests, decoded. Raises ValueError if the text is no grade."""
        if self._head is None:
            self._begin = begin_of_tests(self.body)
            self._head = orjson.loads(self.body[: self._begin] + b"}")
        return self._head

    @property
    def tests(self) -> Mapping[bytes, int]:
        """The number of results by verdict. A grade that is AC without a fault has passed all tests."""
        if self._tests is None:
            head = self.head
            is_clean = head["verdict"] == "AC" and head["failure_kind"] is None
            self._tests = {b"AC": head["total"]} if is_clean else Counter(_RESULT.findall(self.body))
        return self._tests

    def under(self, head: dict[str, Any]) -> Self:
        """Return the same tests with another head."""
        begin = self._begin if self._begin >= 0 else begin_of_tests(self.body)
        before = orjson.dumps(head)[:-1]
        answer = type(self)(before + self.body[begin:])
        answer._head, answer._begin = head, len(before)
        return answer

    @property
    def is_whole(self) -> bool:
        """True if the fields that the service reads are there, and of the right kind."""
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
                and self.body[self._begin + len(_TESTS)] in b"{]"
            )
        except (ValueError, TypeError, KeyError):
            return False

    @property
    def is_fault(self) -> bool:
        """True if the service failed, so that the submission may be sent again.

        The verdict may be that of a failed test although another test has none; there is no reward then.
        """
        return self.head.get("reward") is None

    @property
    def is_lasting(self) -> bool:
        """True if the same program would get the same verdict again, however busy the machine is."""
        return self.head["verdict"] in LASTING and not self.is_fault

    def grade(self) -> Grade:
        """Return the grade, decoded."""
        return Grade.model_validate_json(self.body)


def begin_of_tests(body: bytes) -> int:
    """Return where the tests begin in the JSON of a grade. Raises ValueError if there are none.

    The tests are the first list of most grades, and the C library finds a single byte many times as fast as Python
    finds several.

    Args:
        body: The grade.
    """
    begin = body.find(b"[") - _BRACKET_AT
    return begin if begin >= 0 and body.startswith(_TESTS, begin) else body.index(_TESTS)


def fault(submission_id: str, tests: int, kind: str, reason: str, attempts: int = 1) -> EncodedGrade:
    """Return the grade of a submission that the service could not grade.

    Args:
        submission_id: its id.
        tests: the number of its tests.
        kind: the grade's `failure_kind`.
        reason: the grade's `failure_reason`.
        attempts: how often it was tried.
    """
    return EncodedGrade(Grade.fault(submission_id, tests, kind, reason, attempts).model_dump_json().encode())


def again(answer: EncodedGrade, submission_id: str) -> EncodedGrade:
    """Return a cached grade under the id of another submission of the same work."""
    head = answer.head
    return answer.under(
        head
        | {
            "id": submission_id,
            "grader": head["grader"] | {"cached": True},
            "timing": {"queued_seconds": 0.0, "graded_seconds": 0.0},
        }
    )
