"""`POST /test_program` and `/test_program_stdio` of open-instruct's code server.

Request: `{program, tests, max_execution_time}`. Tests are a list of assertions or of `{input, output, fn_name?}`; JSON
text of such a list; or the list as open-instruct packs it (pickle, zlib, base 64), which is read without unpickling.
Response: `{"results": [0 | 1], "runtimes": [seconds]}` in the order of the tests; a failed test has the time -1.

The client waits ten times `max_execution_time`, at least 30 and at most 300 s, and takes any error for a reward of 0
without a retry. So a fault of the service is 503 only after all retries.

An assertion need not use the program: `assert True` passes if the program loads.

Differences: times are CPU time, with half a second more of wall time; assertions do not share a process with the
program, and outputs are compared outside of it; no import is forbidden (in open-instruct a program with `import os`
fails every test); unreadable or missing tests are 422, not an empty list.
"""

from __future__ import annotations

import asyncio
import math
from typing import Any

from fastapi import APIRouter, Request
from pydantic import Field

from sandbox_service.api.compat.bodies import ForeignBody
from sandbox_service.api.compat.held_grading import HeldGrading, tests_of
from sandbox_service.api.openapi import compat_error_schemas, request_schema
from sandbox_service.api.request_body import LargeBodyError, max_unpacked_bytes, reads_small_only
from sandbox_service.errors import BadRequestError
from sandbox_service.formats import unpacking
from sandbox_service.queues.base import JobQueue
from sandbox_service.schema import AssertTest, Grade, Verdict
from sandbox_service.settings import Settings

ZLIB = "e"  # base 64 of zlib's first byte; no JSON value begins like this
GRACE_SECONDS = 2.0
SLACK_SECONDS = 0.5  # of wall time: the original's limit is wall time
PATIENCE, LEAST_PATIENCE_SECONDS, MOST_PATIENCE_SECONDS = 10, 30, 300
FAILED = -1.0


class TestedProgram(ForeignBody):
    """A program and its tests."""

    program: str
    tests: Any
    max_execution_time: float = Field(1.0, gt=0, allow_inf_nan=False)

    @property
    def seconds(self) -> float:
        """Seconds that the client waits, less the time for transport."""
        waited = max(LEAST_PATIENCE_SECONDS, min(MOST_PATIENCE_SECONDS, PATIENCE * self.max_execution_time))
        return waited - GRACE_SECONDS


def routes(queue: JobQueue, settings: Settings) -> APIRouter:
    """Return `POST /test_program` for assertions and `POST /test_program_stdio` for inputs and outputs."""
    router = APIRouter(tags=["open-instruct"])
    grading = HeldGrading(queue, settings, "test_program")

    async def graded(request: Request, *, whole_seconds: bool) -> dict[str, Any]:
        payload = await grading.read(request, TestedProgram)
        seconds = payload.max_execution_time
        cpu = float(math.ceil(seconds)) if whole_seconds else seconds
        given = tests_of(await _tests(request, payload.tests, settings.max_body_bytes))
        if whole_seconds and any(isinstance(each, AssertTest) for each in given.get("tests", ())):
            raise BadRequestError("tests: this route takes inputs and outputs; send assertions to /test_program")
        fields = {
            **_as_there(given),
            "code": payload.program,
            "checker": {"type": "lcb"},
            "limits": {"cpu_seconds": cpu, "wall_seconds": cpu + SLACK_SECONDS},
            "reward": {"scheme": "fraction"},  # each test counts, so a fault in one is a fault of the submission
            "stop_on_failure": False,
        }
        return answer_of(await grading.verdict(request, fields, payload.seconds))

    @router.post(
        "/test_program",
        openapi_extra=request_schema(TestedProgram),
        responses=compat_error_schemas(),
        summary="Test a program with assertions (open-instruct)",
    )
    async def test_program(request: Request) -> dict[str, Any]:
        return await graded(request, whole_seconds=False)

    @router.post(
        "/test_program_stdio",
        openapi_extra=request_schema(TestedProgram),
        responses=compat_error_schemas(),
        summary="Test a program with inputs and outputs (open-instruct)",
    )
    async def test_program_stdio(request: Request) -> dict[str, Any]:
        return await graded(request, whole_seconds=True)

    return router


def _as_there(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields with assertions that need not use the program: `assert True` passes if the program loads."""
    tests = [
        each.model_copy(update={"needs_call": False}) if isinstance(each, AssertTest) else each
        for each in fields.get("tests", ())
    ]
    return {**fields, "tests": tests} if tests else fields


def answer_of(grade: Grade) -> dict[str, Any]:
    """Return the passed tests and their CPU times."""
    passed = {result.index: result.cpu_seconds for result in grade.tests if result.verdict == Verdict.AC}
    return {
        "results": [int(index in passed) for index in range(grade.total)],
        "runtimes": [passed.get(index, FAILED) for index in range(grade.total)],
    }


async def _tests(request: Request, given: Any, most_bytes: int) -> Any:
    """Return the tests, unpacked in a thread. Raise BadRequestError or LargeBodyError."""
    if not isinstance(given, str) or not given.startswith(ZLIB):
        return given
    try:
        return await asyncio.to_thread(unpacking.packed_value, given, max_unpacked_bytes(request, most_bytes))
    except unpacking.TooLargeError as error:
        if reads_small_only(request):
            raise LargeBodyError from None
        raise BadRequestError(f"tests: {error}") from None
    except ValueError as error:
        raise BadRequestError(f"tests: {error}") from None
