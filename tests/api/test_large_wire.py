"""Jobs between the service and a process for large requests: each field arrives."""

from __future__ import annotations

from dataclasses import fields, replace

from sandbox_service.api.large import wire
from sandbox_service.queues.base import Job
from sandbox_service.schema import Limits
from tests.fakes import made, suite_of

INTERNAL = {"fresh"}  # set by the service itself


def test_every_field_of_a_job_arrives() -> None:
    labels = {"client": "anna", "priority": "low"}
    job = made("a", key="key", keep=True, labels=labels, limits=Limits(memory_bytes=64 << 20), language="bash")
    job = replace(job, has_default_memory=True)  # as no job is that has a memory limit
    plain = Job("", b"", b"", suite_of(), 0)
    names = [each.name for each in fields(Job) if each.name not in INTERNAL | {"suite"}]
    assert [name for name in names if getattr(job, name) == getattr(plain, name)] == []  # all are told apart
    files = wire.MemoryFiles()
    [frame] = wire.job_frames([job], files)
    [(found, file)] = wire.jobs_of(frame, {job.suite.id: job.suite})
    assert (found, file) == (job, wire.NO_FILE)
