"""The Python client: a submission goes in, a `Grade` comes out, and what is in between is waited for.

    with Client("http://127.0.0.1:8080") as client:
        grade = client.grade(completion=text, tests=tests)
        grades = client.grade_many(({"completion": each} for each in texts), defaults={"tests": tests})

`AsyncClient` is the same in an event loop, and the one that does it; `Client` gives it a thread. It needs aiohttp and
pydantic and nothing else of the service but the nouns that cross the wire. What a verdict is worth is not decided here.

    synchronous ─→ asynchronous ─┬─→ grading    one submission
                                 ├─→ many       a call's submissions, in batches ─→ packing
                                 └─→ service    HTTP, and patience with who is away
"""

from __future__ import annotations

from sandbox_service.client.answers import reason_of
from sandbox_service.client.asynchronous import AsyncClient
from sandbox_service.client.errors import Away, Fault, Refused, Stranger
from sandbox_service.client.service import Peer
from sandbox_service.client.suites import Suite
from sandbox_service.client.synchronous import Client
from sandbox_service.schema import Grade, Submission

__all__ = [
    "AsyncClient",
    "Away",
    "Client",
    "Fault",
    "Grade",
    "Peer",
    "Refused",
    "Stranger",
    "Submission",
    "Suite",
    "reason_of",
]
