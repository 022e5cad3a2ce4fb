"""`POST /test_program` and `/test_program_stdio` as open-instruct's code server answers them.

Asked: `{program, tests, max_execution_time}`. Tests are a list of assertions, or of `{input, output, fn_name?}`; JSON
text with that list; or the list as open-instruct packs it (pickle, zlib, base 64), which is not unpickled. Answered:
`{"results": [0 | 1], "runtimes": [seconds]}`, a test each in their order; the time of one that failed is -1.

Its client waits for ten times `max_execution_time`, but for 30 to 300 s, and takes whatever goes wrong for a reward of
0, without another try: so a fault is 503 only after all tries are made.

What is otherwise than there: seconds are of CPU time, not of the clock, and the runtimes too; assertions do not share
a process with the program, and outputs are compared outside of it; no import is forbidden (there a program that says
`import os` fails every test); tests that cannot be read, or none, are 422, and not an empty list.
"""

from __future__ import annotations

import asyncio
import math
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from sandbox_service import unpacking
from sandbox_service.api.compat.desk import Desk, tests_of
from sandbox_service.api.documents import refuses, takes
from sandbox_service.errors import BadRequest
from sandbox_service.queues.base import JobQueue
from sandbox_service.schema import Grade, Verdict
from sandbox_service.settings import Settings

ZLIB = "e"  # how its first byte begins in base 64, and nothing that is JSON
GRACE_SECONDS = 2.0
PATIENCE, LEAST_PATIENCE_SECONDS, MOST_PATIENCE_SECONDS = 10, 30, 300
FAILED = -1.0


class TestedProgram(BaseModel):
    """A program and its tests."""

    program: str
    tests: Any
    max_execution_time: float = Field(1.0, gt=0)

    @property
    def seconds(self) -> float:
        """How long the client waits, less what the way takes."""
        patience = max(LEAST_PATIENCE_SECONDS, min(MOST_PATIENCE_SECONDS, PATIENCE * self.max_execution_time))
        return patience - GRACE_SECONDS


def routes(queue: JobQueue, settings: Settings) -> APIRouter:
    """`POST /test_program` for assertions, `POST /test_program_stdio` for programs; each takes both."""
    router = APIRouter(tags=["open-instruct"])
    desk = Desk(queue, settings, "test_program")

    async def graded(request: Request, *, whole_seconds: bool) -> dict[str, Any]:
        asked = await desk.read(request, TestedProgram)
        seconds = asked.max_execution_time
        fields = {
            **tests_of(await _tests(asked.tests, settings.max_body_bytes)),
            "code": asked.program,
            "checker": {"type": "lcb"},
            "limits": {"cpu_seconds": float(math.ceil(seconds)) if whole_seconds else seconds},
            "reward": {"scheme": "fraction"},  # each test counts, so a fault in any is a fault of the whole
            "stop_on_failure": False,
        }
        return answer_of(await desk.verdict(request, fields, asked.seconds))

    @router.post(
        "/test_program",
        openapi_extra=takes(TestedProgram),
        responses=refuses(),
        summary="Test a program with assertions, as open-instruct does",
    )
    async def test_program(request: Request) -> dict[str, Any]:
        return await graded(request, whole_seconds=False)

    @router.post(
        "/test_program_stdio",
        openapi_extra=takes(TestedProgram),
        responses=refuses(),
        summary="Test a program with inputs and outputs, as open-instruct does",
    )
    async def test_program_stdio(request: Request) -> dict[str, Any]:
        return await graded(request, whole_seconds=True)

    return router


def answer_of(grade: Grade) -> dict[str, Any]:
    """The tests that were passed, and their times."""
    passed = {result.index: result.cpu_seconds for result in grade.tests if result.verdict == Verdict.AC}
    return {
        "results": [int(index in passed) for index in range(grade.total)],
        "runtimes": [passed.get(index, FAILED) for index in range(grade.total)],
    }


async def _tests(given: Any, most_bytes: int) -> Any:
    """The tests, unpacked. Elsewhere, since that may take a second."""
    if not isinstance(given, str) or not given.startswith(ZLIB):
        return given
    try:
        return await asyncio.to_thread(unpacking.packed_value, given, most_bytes)
    except ValueError as error:
        raise BadRequest(f"tests: {error}") from None
