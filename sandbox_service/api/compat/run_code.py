"""`POST /run_code` as SandboxFusion serves it: verl, SkyRL, ROLL and SandboxFusion's own SDK ask for it.

A program is run and what it prints is compared by the client, so nothing here can be wrong about an answer; but a
client that has a program test itself believes the program.

A fault of ours, and a queue that is too long, are 504, after which alone verl tries again. It must come before the
client stops waiting: verl waits for 10 s more than a program may take, SkyRL (which sends no `compile_timeout`) for 2 s
more, ROLL (which sends an `expected_stdout`) for 30 s.

Otherwise than there: `run_timeout` is of CPU time, and the wall clock has `compile_timeout` more; a program that prints
over 4 MiB has failed; files are neither put beside a program nor fetched (422, but for files without content, which are
nothing there too); languages that are not here are 422. A program that is no Python has failed with status 1 and says
so on stderr, as Python does: nothing was compiled.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from sandbox_service.api.compat.desk import Desk
from sandbox_service.api.compat.running import Run, run
from sandbox_service.api.documents import refuses, takes
from sandbox_service.errors import BadRequest, Overdue, Unavailable
from sandbox_service.queues.base import JobQueue
from sandbox_service.schema import TestResult, Verdict
from sandbox_service.settings import Settings

VERL_GRACE_SECONDS = 8.0  # of 10
SKYRL_GRACE_SECONDS = 1.5  # of 2
ROLL_SECONDS = 29.0  # of 30
MIB = 1 << 20
OVER_A_LIMIT = frozenset({Verdict.TLE, Verdict.MLE, Verdict.OLE})


class RunCode(BaseModel):
    """A program to run. Times in seconds."""

    code: str
    language: str
    compile_timeout: float = Field(10, ge=0, allow_inf_nan=False)
    run_timeout: float = Field(10, gt=0, allow_inf_nan=False)
    memory_limit_MB: int = Field(-1, description="up to 0: the default")  # noqa: N815
    stdin: str | None = None
    files: dict[str, str | None] = Field(default_factory=dict, description="none")
    fetch_files: list[str] = Field(default_factory=list, description="none")
    expected_stdout: Any = Field(None, description="not looked at: the client compares")

    @property
    def program(self) -> Run:
        """To be run."""
        memory = self.memory_limit_MB * MIB if self.memory_limit_MB > 0 else None
        wall = self.run_timeout + self.compile_timeout  # there is nothing to compile
        return Run(self.code, self.stdin or "", self.language, self.run_timeout, wall, memory)

    @property
    def seconds(self) -> float:
        """How long the client waits, less what the way takes."""
        if "expected_stdout" in self.model_fields_set:
            return ROLL_SECONDS
        if "compile_timeout" not in self.model_fields_set:
            return self.run_timeout + SKYRL_GRACE_SECONDS
        return self.compile_timeout + self.run_timeout + VERL_GRACE_SECONDS

    @property
    def has_files(self) -> bool:
        """Whether it wants more than a program that reads and writes."""
        return bool(self.fetch_files) or any(content is not None for content in self.files.values())


def routes(queue: JobQueue, settings: Settings) -> APIRouter:
    """`POST /run_code`, `GET /v1/ping`."""
    router = APIRouter(tags=["SandboxFusion"])
    desk = Desk(queue, settings, "run_code")

    @router.post(
        "/run_code",
        openapi_extra=takes(RunCode),
        responses=refuses(504),
        summary="Run a program, as SandboxFusion does",
    )
    async def run_code(request: Request) -> dict[str, Any]:
        try:
            asked = await desk.read(request, RunCode)
            if asked.has_files:
                raise BadRequest("files: this service puts no files beside a program, and fetches none")
            return answer_of(await run(desk, request, asked.program, asked.seconds))
        except Unavailable as error:
            raise Overdue(str(error)) from None

    @router.get("/v1/ping", summary="Whether the service lives, as SandboxFusion says it")
    async def ping() -> str:
        return "pong"

    return router


def answer_of(result: TestResult) -> dict[str, Any]:
    """What became of a program, in SandboxFusion's words. `message` is for its own faults: there are none here."""
    return {
        "status": "Success" if result.verdict == Verdict.AC else "Failed",
        "message": "",
        "compile_result": None,
        "run_result": _run_result(result),
        "executor_pod_name": None,
        "files": {},
    }


def _run_result(result: TestResult) -> dict[str, Any]:
    is_late = result.verdict == Verdict.TLE
    return {
        "status": "TimeLimitExceeded" if is_late else "Finished",
        "execution_time": result.wall_seconds,
        "cpu_time": result.cpu_seconds,
        "return_code": None if is_late else _return_code(result),
        "stdout": result.stdout,
        "stderr": _stderr(result),
    }


def _return_code(result: TestResult) -> int:
    """As a shell's parent sees it: negative for a signal; what went over a limit has failed, however it ended."""
    if result.signal is not None:
        return -result.signal
    return result.exit_code or (0 if result.verdict == Verdict.AC else 1)


def _stderr(result: TestResult) -> str:
    """What the program said, and why it was ended, where it was not the one to end it."""
    if result.verdict == Verdict.CE or not _has_ended(result):
        return result.stderr + (result.message or "")
    if result.verdict in OVER_A_LIMIT:
        return f"{result.stderr}{result.verdict}: {result.message}"
    return result.stderr


def _has_ended(result: TestResult) -> bool:
    return result.exit_code is not None or result.signal is not None
