"""`POST /run_code` of SandboxFusion, which verl, SkyRL, ROLL and SandboxFusion's own SDK use.

The service runs the program and the client compares its output. The service cannot misjudge an answer then, but a
client that lets a program test itself believes the program.

A fault of the service, and a queue that is too long, are 504, the only status that verl retries. The answer must come
before the client's timeout: verl waits 10 s longer than the program's limits, ROLL (which sends an `expected_stdout`)
30 s. SkyRL, which sends no `compile_timeout`, waits 2 s longer than `run_timeout` and then asks another server; it
gets no earlier answer, because others that send none wait longer.

Differences: `run_timeout` limits CPU time, and wall time while the program sleeps; a wait for a processor counts for
neither. A program that prints over 4 MiB fails. `files` and `fetch_files` are for Python, in the program's folder
(/tmp). Other paths, other languages' files, languages that are not installed, and the runners pytest, jest, junit and
go_test are 422. C# is Mono's: `Debug.Assert` does nothing. A syntax error in Python is exit code 1 with a message on
stderr: there is no compile step.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import APIRouter, Request
from pydantic import BeforeValidator, Field

from sandbox_service import languages
from sandbox_service.api.compat import data_sets, host_files
from sandbox_service.api.compat.bodies import ForeignBody
from sandbox_service.api.compat.held_grading import HeldGrading
from sandbox_service.api.compat.program_run import Run, is_compiled, run
from sandbox_service.api.compat.wrapped_program import Wrapping, wrapping
from sandbox_service.api.openapi import compat_error_schemas, request_schema
from sandbox_service.errors import BadRequestError, OverdueError, UnavailableError
from sandbox_service.languages.assertions import combined
from sandbox_service.queues.base import JobQueue
from sandbox_service.schema import TestResult, Verdict
from sandbox_service.settings import Settings

VERL_GRACE_SECONDS = 8.0  # of 10
ROLL_SECONDS = 29.0  # of 30
MIB = 1 << 20
RUNNERS = frozenset({"pytest", "jest", "junit", "go_test", "D_ut"})
# SandboxFusion runs C# with the implicit usings of .NET
USINGS = (
    "".join(
        f"using {name}; "
        for name in ("System", "System.Collections.Generic", "System.IO", "System.Linq", "System.Threading")
    )
    + "\n#line 1\n"
)
_BEFORE_USINGS = re.compile(r"^[^\S\n]*+(?:#|extern\s+alias\b)", re.MULTILINE)
OVER_A_LIMIT = frozenset({Verdict.TLE, Verdict.MLE, Verdict.OLE})


def _few(files: Any) -> Any:
    """Raise ValueError for too many files, before each of them is validated."""
    if isinstance(files, dict) and len(files) > host_files.MOST_FILES:
        raise ValueError(f"{len(files)} files, the limit is {host_files.MOST_FILES}")
    return files


class RunCode(ForeignBody):
    """A program to run. Times in seconds."""

    code: str
    language: str = Field(min_length=1)
    compile_timeout: float = Field(10, ge=0, allow_inf_nan=False)
    run_timeout: float = Field(10, gt=0, allow_inf_nan=False)
    memory_limit_MB: int = Field(-1, description="0 or less: the default")  # noqa: N815
    stdin: str | None = None
    files: Annotated[dict[str, str | None], BeforeValidator(_few)] = Field(
        default_factory=dict, description="contents in base 64 by path"
    )
    fetch_files: Annotated[list[str], Field(fail_fast=True)] = Field(default_factory=list, description="paths")
    expected_stdout: Any = Field(None, description="ignored: the client compares")

    @property
    def program(self) -> Run:
        """The program with its limits. Raises BadRequestError for a language that is not supported."""
        if self.language in RUNNERS:
            raise BadRequestError(f"language: the runner {self.language} is not supported; /submit takes test programs")
        memory = self.memory_limit_MB * MIB if self.memory_limit_MB > 0 else None
        language = languages.find(data_sets.language_of(self.language)).name
        code = USINGS + self.code if language == "csharp" and not _BEFORE_USINGS.search(self.code) else self.code
        return Run(
            code,
            self.stdin or "",
            language,
            self.run_timeout,
            self.run_timeout,
            memory,
            self.wrapping,
            sources=combined.FILES.get(language, {}),  # SandboxFusion runs Java with -ea
        )

    @property
    def wrapping(self) -> Wrapping:
        """The files of the request. Raises BadRequestError for an invalid one."""
        try:
            return wrapping(self.files, self.fetch_files)
        except ValueError as error:
            raise BadRequestError(str(error)) from None

    @property
    def seconds(self) -> float:
        """Seconds that the client waits, less the time for transport."""
        if "expected_stdout" in self.model_fields_set:
            return ROLL_SECONDS
        return self.compile_timeout + self.run_timeout + VERL_GRACE_SECONDS


def routes(queue: JobQueue, settings: Settings) -> APIRouter:
    """Return `POST /run_code` and `GET /v1/ping`."""
    router = APIRouter(tags=["SandboxFusion"])
    grading = HeldGrading(queue, settings, "run_code")

    @router.post(
        "/run_code",
        openapi_extra=request_schema(RunCode),
        responses=compat_error_schemas(504),
        summary="Run a program (SandboxFusion)",
    )
    async def run_code(request: Request) -> dict[str, Any]:
        try:
            payload = await grading.read(request, RunCode)
            program = payload.program
            ran = await run(grading, request, program, payload.seconds)
            return answer_of(ran.result, compiles=is_compiled(program.language)) | {"files": ran.files}
        except UnavailableError as error:
            raise OverdueError(str(error)) from None

    @router.get("/v1/ping", summary="Liveness (SandboxFusion)")
    async def ping() -> str:
        return "pong"

    return router


def answer_of(result: TestResult, *, compiles: bool = False) -> dict[str, Any]:
    """Return the result of a run in SandboxFusion's format.

    Args:
        result: The result.
        compiles: The language has a compile step. A program that does not compile is not run.
    """
    refused = compiles and result.verdict == Verdict.CE
    return {
        "status": "Success" if result.verdict == Verdict.AC else "Failed",
        "message": "",
        "compile_result": _compile_result(result) if compiles else None,
        "run_result": None if refused else _run_result(result),
        "executor_pod_name": None,
        "files": {},
    }


def _compile_result(result: TestResult) -> dict[str, Any]:
    refused = result.verdict == Verdict.CE
    return {
        "status": "Finished",
        "execution_time": None,
        "return_code": int(refused),
        "stdout": "",
        "stderr": (result.message or "") if refused else "",
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
    """Return the exit code as a shell sees it: negative for a signal, and never 0 for a program over a limit."""
    if result.signal is not None:
        return -result.signal
    return result.exit_code or (0 if result.verdict == Verdict.AC else 1)


def _stderr(result: TestResult) -> str:
    """Return the program's stderr and, if a limit ended it, the reason."""
    if result.verdict == Verdict.CE or not _has_ended(result):
        return result.stderr + (result.message or "")
    if result.verdict in OVER_A_LIMIT:
        return f"{result.stderr}{result.verdict}: {result.message}"
    return result.stderr


def _has_ended(result: TestResult) -> bool:
    return result.exit_code is not None or result.signal is not None
