"""`POST /execute` of NeMo-Skills' sandbox in its synchronous form, which NeMo Gym's competitions use as well.

Request: `{generated_code, std_input, language, timeout, max_output_characters}`. Response: `{process_status, stdout,
stderr}`. The status is `completed` for every program that ended by itself, whatever its exit code, `timeout`, or
`error` for a program over its memory or output limit. Longer outputs are truncated and marked.

The client waits five seconds longer than `timeout`, does not retry, and treats a missing answer as a time-out. A fault
of the service is 503.

Differences: a `session_id`, `ipython` and `lean4` are 422, as is a language that is not installed; `timeout` is CPU
time with two more seconds of wall time; `traceback_verbosity` is ignored. Newer servers answer 202 with a job to
poll; this is not supported.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from pydantic import Field

from sandbox_service.api.compat.bodies import ForeignBody
from sandbox_service.api.compat.held_grading import HeldGrading
from sandbox_service.api.compat.program_run import Run, run
from sandbox_service.api.openapi import compat_error_schemas, request_schema
from sandbox_service.errors import BadRequestError
from sandbox_service.queues.base import JobQueue
from sandbox_service.schema import TestResult, Verdict
from sandbox_service.settings import Settings

GRACE_SECONDS = 4.0  # of the client's five
SLACK_SECONDS = 2.0
CUT = "<output cut>"


class Execution(ForeignBody):
    """A program to run."""

    generated_code: str
    language: str
    std_input: str | None = ""
    timeout: float = Field(10.0, gt=0, allow_inf_nan=False)
    max_output_characters: int = Field(1000, ge=0)
    session_id: Any = Field(None, description="not supported")

    @property
    def program(self) -> Run:
        """The program with its limits. Raises BadRequestError for a session, whose earlier programs it might need."""
        if self.session_id is not None:
            raise BadRequestError("session_id: no session is kept here; send whole programs without it")
        wall = self.timeout + SLACK_SECONDS
        return Run(self.generated_code, self.std_input or "", self.language, self.timeout, wall)


def routes(queue: JobQueue, settings: Settings) -> APIRouter:
    """Return `POST /execute`."""
    router = APIRouter(tags=["NeMo-Skills"])
    grading = HeldGrading(queue, settings, "execute")

    @router.post(
        "/execute",
        openapi_extra=request_schema(Execution),
        responses=compat_error_schemas(),
        summary="Run a program (NeMo-Skills)",
    )
    async def execute(request: Request) -> dict[str, Any]:
        payload = await grading.read(request, Execution)
        ran = await run(grading, request, payload.program, payload.timeout + GRACE_SECONDS)
        return answer_of(ran.result, payload)

    return router


def answer_of(result: TestResult, payload: Execution) -> dict[str, Any]:
    """Return the result of a run in NeMo-Skills' format."""
    if result.verdict == Verdict.TLE:
        message = f"Execution timed out after {payload.timeout:g} seconds\n"
        return {"process_status": "timeout", "stdout": "", "stderr": message}
    return {
        "process_status": "completed" if _has_ended(result) else "error",
        "stdout": _cut(result.stdout, payload.max_output_characters),
        "stderr": _cut(_stderr(result), payload.max_output_characters),
    }


def _has_ended(result: TestResult) -> bool:
    """Return True if the program ended by itself. A syntax error counts, as in the original."""
    if result.verdict in (Verdict.MLE, Verdict.OLE):
        return False
    return result.verdict == Verdict.CE or result.exit_code is not None or result.signal is not None


def _stderr(result: TestResult) -> str:
    if result.verdict == Verdict.CE:
        return f"{result.message}\n"
    return result.stderr if _has_ended(result) else f"{result.stderr}{result.verdict}: {result.message}\n"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + CUT
