"""The Python client: sends submissions to the service and returns `Grade`s.

    with Client("http://127.0.0.1:8080") as client:
        grade = client.grade(completion=text, tests=tests)
        grades = client.grade_many(({"completion": each} for each in texts), defaults={"tests": tests})

`AsyncClient` is the same for asyncio; `Client` runs it in a thread. The client needs aiohttp, pydantic and the
service's `schema` and `errors`, nothing else. It does not interpret verdicts.

    synchronous ─→ asynchronous ─┬─→ single_grading    one submission
                                 ├─→ batch_grading     the submissions of a call, in batches ─→ batching
                                 └─→ transport         HTTP with retries
"""

from __future__ import annotations

from sandbox_service.client.asynchronous import AsyncClient
from sandbox_service.client.errors import GraderFaultError, NotProctorError, RefusedError, ServiceUnavailableError
from sandbox_service.client.grade_decoding import reason_of
from sandbox_service.client.retries import Peer
from sandbox_service.client.suites import Suite
from sandbox_service.client.synchronous import Client
from sandbox_service.schema import REQUEST_FAULTS, Grade, Submission

__all__ = [
    "REQUEST_FAULTS",
    "AsyncClient",
    "Client",
    "Grade",
    "GraderFaultError",
    "NotProctorError",
    "Peer",
    "RefusedError",
    "ServiceUnavailableError",
    "Submission",
    "Suite",
    "reason_of",
]
