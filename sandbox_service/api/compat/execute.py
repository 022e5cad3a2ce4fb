"""`POST /execute` as NeMo-Skills' sandbox answered it while it answered at once; NeMo Gym's competitions ask so, too.

Asked: `{generated_code, std_input, language, timeout, max_output_characters}`. Answered: `{process_status, stdout,
stderr}`, where the status is `completed` for every program that ended by itself, however it ended, `timeout`, or
`error` for one that went over its limit of memory or output. Longer outputs are cut, and say so.

Its client waits for five seconds more than `timeout`, asks once, and takes no answer for a time-out. A fault is 503.

What is otherwise than there: only Python is run, and no session is kept, so `ipython`, `shell` and `lean4` are 422;
`timeout` is of CPU time, with two seconds more by the clock; `traceback_verbosity` is not asked after. Newer servers
answer 202 and a job, whose result is asked for again and again; that is not served.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from sandbox_service.api.compat.desk import Desk
from sandbox_service.api.compat.running import Run, run
from sandbox_service.api.documents import refuses, takes
from sandbox_service.queues.base import JobQueue
from sandbox_service.schema import TestResult, Verdict
from sandbox_service.settings import Settings

GRACE_SECONDS = 4.0  # the client waits for five
SLACK_SECONDS = 2.0
CUT = "<output cut>"


class Execution(BaseModel):
    """What is asked."""

    generated_code: str
    language: str
    std_input: str | None = ""
    timeout: float = Field(10.0, gt=0)
    max_output_characters: int = Field(1000, ge=0)

    @property
    def program(self) -> Run:
        """To be run."""
        wall = self.timeout + SLACK_SECONDS
        return Run(self.generated_code, self.std_input or "", self.language, self.timeout, wall)


def routes(queue: JobQueue, settings: Settings) -> APIRouter:
    """`POST /execute`."""
    router = APIRouter(tags=["NeMo-Skills"])
    desk = Desk(queue, settings, "execute")

    @router.post(
        "/execute",
        openapi_extra=takes(Execution),
        responses=refuses(),
        summary="Run a program, as NeMo-Skills' sandbox does",
    )
    async def execute(request: Request) -> dict[str, Any]:
        asked = await desk.read(request, Execution)
        return answer_of(await run(desk, request, asked.program, asked.timeout + GRACE_SECONDS), asked)

    return router


def answer_of(result: TestResult, asked: Execution) -> dict[str, Any]:
    """What became of a program, in NeMo-Skills' words."""
    if result.verdict == Verdict.TLE:
        said = f"Execution timed out after {asked.timeout:g} seconds\n"
        return {"process_status": "timeout", "stdout": "", "stderr": said}
    return {
        "process_status": "completed" if _has_ended(result) else "error",
        "stdout": _cut(result.stdout, asked.max_output_characters),
        "stderr": _cut(_stderr(result), asked.max_output_characters),
    }


def _has_ended(result: TestResult) -> bool:
    """By itself; what is no Python has, as it would have there."""
    if result.verdict in (Verdict.MLE, Verdict.OLE):
        return False
    return result.verdict == Verdict.CE or result.exit_code is not None or result.signal is not None


def _stderr(result: TestResult) -> str:
    if result.verdict == Verdict.CE:
        return f"{result.message}\n"
    return result.stderr if _has_ended(result) else f"{result.stderr}{result.verdict}: {result.message}\n"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + CUT
