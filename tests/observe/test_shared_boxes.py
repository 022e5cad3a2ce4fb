"""Audits of shared boxes are counted, and a flip is logged without what the submission wrote."""

from __future__ import annotations

import logging

import pytest
from prometheus_client import CollectorRegistry

from sandbox_service.grading import suites
from sandbox_service.grading.encoded_grade import EncodedGrade
from sandbox_service.observe.events import EventBatcher
from sandbox_service.observe.shared_boxes import SharingCounts
from sandbox_service.queues.base import job_of
from sandbox_service.queues.observers import GradedEvent
from sandbox_service.schema import Grade, SharingAudit, StdinTest, Submission, TestResult, Verdict

SECRET = "what the program printed"


def test_a_flip_is_counted_and_named_without_its_output(caplog: pytest.LogCaptureFixture) -> None:
    suite = suites.of_tests([StdinTest(input="", output=SECRET)])
    job = job_of(Submission(id="x", code=SECRET, tests=suite.tests), suite)
    events, counts = EventBatcher(), SharingCounts(CollectorRegistry())
    counts.read_from(events)
    for audit, verdict in ((None, Verdict.AC), (SharingAudit.AGREED, Verdict.AC), (SharingAudit.FLIPPED, Verdict.WA)):
        test = TestResult(index=0, verdict=verdict, stdout=SECRET, message=SECRET)
        grade = Grade(id="x", verdict=verdict, reward=0.0, shared=2, sharing_audit=audit, tests=[test], message=SECRET)
        events.add(GradedEvent(job, EncodedGrade(grade.model_dump_json().encode()), 0.0, 0.0))
    with caplog.at_level(logging.WARNING):
        assert counts.report() == {"stopped": False, "tests": 6, "audits": 2, "flips": 1}
    [record] = caplog.records
    said = {name: getattr(record, name) for name in ("before", "after", "suite", "digest")}
    assert said == {"before": "AC", "after": "WA", "suite": suite.id, "digest": job.digest.hex()}
    assert SECRET not in str(vars(record))
