"""The messages between the service and a process for large requests, in the frames of `slots.protocol`.

A frame's key is the number of a request or of a waiter; the process assigns both.

A large content, the bytes of a suite or a program, is not in the frame: the process writes it to an anonymous file, and
the service reads this file in a thread, which does not block the event loop.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from pydantic import TypeAdapter

from sandbox_service import errors
from sandbox_service.errors import ProctorError, RetryLaterError, UnavailableError
from sandbox_service.grading.suites import ID_LENGTH, Suite
from sandbox_service.queues.base import Job, JobQueue
from sandbox_service.schema import AnyChecker, JudgeProgram, Limits, TestGroup

CONFIGURATION = 1  # service → process, once
SUITE, JOBS, SUBMIT, RELEASE, PUT, FACTS, FIND, MISSING = range(2, 10)  # process → service
TAKEN, REFUSED, ANSWER, FAILED, FOUND = range(10, 15)  # service → process

MOST_JOBS, MOST_BYTES = 256, 256 << 10  # of one frame, which the service unpacks without a pause
WAITER_BITS = 20  # low bits of a waiter's number: the submission's index in the request

LARGE_BYTES = 512 << 10
NO_FILE = -1

SHARED_FIELDS = (
    "tests",
    "client",
    "priority",
    "labels",
    "keep",
    "languages",
    "memory_bytes",
    "most_cpu_seconds",
    "has_default_memory",
)
_LENGTH = struct.Struct("<I")
_PARTS: dict[str, TypeAdapter[Any]] = {
    "checker": TypeAdapter(AnyChecker),
    "limits": TypeAdapter(Limits),
    "interactor": TypeAdapter(JudgeProgram),
    "groups": TypeAdapter(list[TestGroup]),
}


class QueueState(NamedTuple):
    """The state of the service's queue when it took a request."""

    languages: list[str]
    pending: int
    cpu_seconds: float
    slots: int


def state_frame(queue: JobQueue) -> bytes:
    """Return the payload of TAKEN."""
    depth, slots = queue.depth(), sum(worker.ready for worker in queue.workers())
    return orjson.dumps((queue.languages(), depth.submissions, depth.cpu_seconds, slots))


def state_of(payload: bytes) -> QueueState:
    """Return the state in the payload of TAKEN."""
    return QueueState(*orjson.loads(payload))


class MemoryFiles:
    """Anonymous files in memory, each with one large content; closed when the service has read them."""

    def __init__(self) -> None:
        self._open: list[int] = []

    def put(self, body: bytes) -> int:
        """Write a body to a new file and return its descriptor."""
        file = os.memfd_create("large")
        self._open.append(file)
        with open(file, "wb", closefd=False) as writer:
            writer.write(body)
        return file

    def close(self) -> None:
        """Close all files."""
        for file in self._open:
            os.close(file)
        self._open.clear()


def content(pid: int, file: int) -> bytes:
    """Return the content of another process's file. Blocks, without holding the GIL.

    Args:
        pid: The id of the process.
        file: The descriptor in that process.
    """
    with Path(f"/proc/{pid}/fd/{file}").open("rb", buffering=0) as reader:
        size = os.fstat(reader.fileno()).st_size
        return os.pread(reader.fileno(), size, 0)


def suite_frame(suite: Suite, files: MemoryFiles | None) -> bytes:
    """Return the payload with a suite's facts and bytes.

    Args:
        suite: The suite.
        files: The place for large bytes; None leaves the bytes out, because the service has them.
    """
    facts = {
        "count": suite.count,
        "given": {name: None if value is None else _PARTS[name].dump_python(value) for name, value in _parts_of(suite)},
    }
    body = b"" if files is None else suite.body
    facts["file"] = NO_FILE
    if files is not None and len(body) > LARGE_BYTES:
        facts["file"], body = files.put(body), b""
    head = orjson.dumps(facts)
    return b"".join((suite.id.encode(), _LENGTH.pack(len(head)), head, body))


def suite_of(payload: bytes) -> tuple[Suite, int]:
    """Return the suite in the payload of a `suite_frame`, and the file of its bytes or NO_FILE. An omitted body is
    empty.
    """
    suite_id = payload[:ID_LENGTH].decode()
    at = ID_LENGTH + _LENGTH.size
    end = at + _LENGTH.unpack_from(payload, ID_LENGTH)[0]
    facts = orjson.loads(payload[at:end])
    given = {name: _PARTS[name].validate_python(value) for name, value in facts["given"].items() if value is not None}
    return Suite(suite_id, payload[end:], [], **given, read_elsewhere=facts["count"]), facts["file"]


def _parts_of(suite: Suite) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a suite that apply to submissions without them, by name."""
    for name in _PARTS:
        yield name, getattr(suite, name)


def job_frames(jobs: Iterable[Job], files: MemoryFiles) -> Iterator[bytes]:
    """Yield payloads with the jobs in their order. A frame is bounded in size, and its jobs differ only in their
    bodies.

    Args:
        jobs: The jobs.
        files: The place for large bodies.
    """
    part: list[Job] = []
    size = 0
    for job in jobs:
        if part and (size + len(job.body) > MOST_BYTES or len(part) == MOST_JOBS or not _alike(job, part[0])):
            yield _job_frame(part, files)
            part, size = [], 0
        part.append(job)
        size += len(job.body)
    if part:
        yield _job_frame(part, files)


def _alike(job: Job, other: Job) -> bool:
    return job.suite.id == other.suite.id and _shared(job) == _shared(other)


def _shared(job: Job) -> list[Any]:
    return [job.suite.id, *(getattr(job, name) for name in SHARED_FIELDS)]


def _job_frame(jobs: Sequence[Job], files: MemoryFiles) -> bytes:
    bodies, rows = [], []
    for job in jobs:
        is_large = len(job.body) > LARGE_BYTES
        file = files.put(job.body) if is_large else NO_FILE
        bodies.append(b"" if is_large else job.body)
        rows.append([job.id, job.digest.hex(), job.own_bytes, len(bodies[-1]), file])
    head = orjson.dumps([_shared(jobs[0]), rows])
    return b"".join((_LENGTH.pack(len(head)), head, *bodies))


def jobs_of(payload: bytes, suites: Mapping[str, Suite]) -> list[tuple[Job, int]]:
    """Return the jobs of a payload, each with the file of its body or NO_FILE.

    Args:
        payload: The payload of a frame.
        suites: The suites that were sent before.

    Raises:
        KeyError: A suite was not sent before.
    """
    at = _LENGTH.size + _LENGTH.unpack_from(payload)[0]
    (suite_id, *values), rows = orjson.loads(payload[_LENGTH.size : at])
    suite = suites[suite_id]
    shared = dict(zip(SHARED_FIELDS, values, strict=True))
    shared["languages"] = tuple(shared["languages"])
    jobs = []
    for job_id, digest, own_bytes, length, file in rows:
        body = payload[at : at + length]
        at += length
        jobs.append((Job(job_id, body, bytes.fromhex(digest), suite, own_bytes=own_bytes, **shared), file))
    return jobs


def error_frame(error: ProctorError) -> bytes:
    """Return the payload for an error that the other side raises."""
    seconds = error.retry_after_seconds if isinstance(error, RetryLaterError) else None
    return orjson.dumps([type(error).__name__, str(error), seconds])


def error_of(payload: bytes) -> ProctorError:
    """Return the error in the payload of an `error_frame`."""
    name, message, seconds = orjson.loads(payload)
    kind = getattr(errors, name, UnavailableError)
    return kind(message) if seconds is None else kind(message, seconds)
