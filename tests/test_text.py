"""All text of an answer can be sent, whatever a box wrote."""

from __future__ import annotations

import json
import os
import socket
from typing import cast

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox_service.grading.encoded_grade import EncodedGrade
from sandbox_service.grading.grader import Grader
from sandbox_service.grading.suites import LruCache
from sandbox_service.judging.values import check_result
from sandbox_service.sandbox import files
from sandbox_service.sandbox.python_jail import _reports
from sandbox_service.schema import Checker, Grade, TestResult, Verdict, sendable
from sandbox_service.slots import protocol
from sandbox_service.slots.main import Slot
from sandbox_service.slots.protocol import BlockingConnection, Frame
from tests.fakes import made

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=())) | st.text(alphabet="\ud800\udfff\0a\x1b\u2028")
HALF = "a\ud800"


@given(text=ANY_TEXT)
def test_any_text_can_be_sent(text: str) -> None:
    sent = sendable(text)
    assert sent.encode("utf-8").decode("utf-8") == sent
    assert sent == text or any("\ud800" <= sign <= "\udfff" for sign in text)


@given(text=st.text())
def test_text_that_can_be_sent_is_left_alone(text: str) -> None:
    assert sendable(text) == text


@settings(deadline=None)
@given(text=ANY_TEXT)
def test_a_grade_of_any_text_is_written_and_read(text: str) -> None:
    result = TestResult(index=0, verdict=Verdict.WA, message=text, stdout=text, stderr=text)
    grade = Grade(id="", verdict=Verdict.WA, reward=0.0, message=text, failure_reason=text, total=1, tests=[result])
    body = grade.model_dump_json().encode()
    assert EncodedGrade(body).is_whole
    assert orjson.loads(body)["tests"][0]["stderr"] == sendable(text)
    assert Grade.fault("", 1, "sandbox", text).model_dump_json().encode()


@settings(deadline=None)
@given(text=ANY_TEXT)
def test_any_result_of_a_call_gives_a_reason_that_can_be_sent(text: str) -> None:
    for value in (text, {text: text}, [text], {"__set__": [text]}, {"a": {text: 1}}):
        for expected in (1, {"a": {"b": 1}}, ["x"], "x"):
            reason = check_result(Checker(), json.dumps(value).encode(), expected)
            if reason is not None:
                assert TestResult(index=0, verdict=Verdict.WA, message=reason).model_dump_json()


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (b'{"result": "failed", "message": "a\\ud800"}', "a\\ud800"),
        (b'{"result": "failed", "message": "a\xed\xa0\x80"}', "a\\ud800"),
        (b"[" * 60_000, None),
        (b"[]", None),
        (b"\xff", None),
        (b"", None),
    ],
)
def test_a_report_is_made_sendable_where_it_is_read(written: bytes, message: str | None) -> None:
    report = files.create(written)
    try:
        found = _reports(report)[0]
    finally:
        os.close(report)
    assert (None if found is None else found["message"]) == message


class Half:
    """A grader whose grade holds text that cannot be written, in a field that nobody thought of."""

    def go_on(self, *_: object) -> Grade:
        """See Grader."""
        return Grade.model_construct(id=HALF, verdict=Verdict.WA, reward=0.0, total=1)


def test_a_grade_that_cannot_be_written_is_a_fault_and_the_slot_lives() -> None:
    ours, theirs = socket.socketpair()
    ours.settimeout(5)
    with ours, theirs:
        slot = Slot.__new__(Slot)
        slot._line, slot._suites, slot._grader = (
            BlockingConnection(theirs),
            LruCache(2, 1 << 20),
            cast("Grader", Half()),
        )
        job = made("sub")
        slot._keep(job.suite.id.encode() + job.suite.body)
        slot._answer(Frame(protocol.SUBMIT, 7, job.suite.id.encode() + protocol.work_head(b"") + job.body))
        [frame] = protocol.Unpacker().feed(ours.recv(1 << 16))
    grade = orjson.loads(frame.payload)
    assert (frame.kind, frame.key) == (protocol.GRADE, 7)
    assert (grade["verdict"], grade["failure_kind"], grade["reward"]) == ("IE", "grader_error", None)
