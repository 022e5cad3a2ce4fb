"""`POST /api/v2/execute` and `GET /api/v2/runtimes` of Piston, which open-r1 and many tools use.

Request: `{language, version, files: [{name, content, encoding}], stdin, run_timeout, run_cpu_time, run_memory_limit}`,
in milliseconds and bytes; a newline is appended to stdin if it has none. Response: `{language, version, run, compile}`,
each stage `{stdout, stderr, output, code, signal, message, status, cpu_time, wall_time, memory}`. Piston does not
compile Python, but open-r1 reads `compile.code` of every answer: here it is 0, or 1 for a syntax error.

open-r1's package for Codeforces (`piston_codeforces`) is graded here, outside of the jail: `run.stdout` is `1` or `0`,
as its own grader prints them.

open-r1 waits 30 s, retries five times on any status except 200, and then counts a failed test. A request that can never
be served is 400 with a message, as in Piston; a fault of the service is 503 with a message.

Differences: further files are for Python, in the program's folder, and for compiled languages, beside the source;
arguments are for Python. `cms_ioi`, files instead of stdin, and languages that are not installed are 400. `run_timeout`
is CPU time, with two more seconds of wall time.
"""

from __future__ import annotations

import base64
import binascii
import signal
from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field, ValidationError

from sandbox_service.api.compat import host_files, piston_codeforces
from sandbox_service.api.compat.bodies import ForeignBody
from sandbox_service.api.compat.held_grading import HeldGrading
from sandbox_service.api.compat.installed import versions
from sandbox_service.api.compat.piston_codeforces import SLACK_SECONDS
from sandbox_service.api.compat.program_run import Run, python_version, run
from sandbox_service.api.compat.wrapped_program import Wrapping
from sandbox_service.api.error_responses import UNAVAILABLE_RETRY_SECONDS
from sandbox_service.api.openapi import compat_error_schemas, request_schema
from sandbox_service.errors import BadRequestError, BodyTooLargeError, ProctorError, RetryLaterError, UnavailableError
from sandbox_service.errors.fields import describe
from sandbox_service.queues.base import JobQueue
from sandbox_service.schema import TestResult, Verdict
from sandbox_service.settings import Settings

PATIENCE_SECONDS = 28.0  # of open-r1's 30
GRACE_SECONDS = 8.0  # for clients that wait longer
DEFAULT_MILLISECONDS = 3000.0
CODEFORCES = "cf_python3"
NAMES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "python": ("python", ("py", "python3")),
    "c": ("c", ("gcc",)),
    "cpp": ("c++", ("cpp", "g++", "c++17")),
    "java": ("java", ()),
    "javascript": ("javascript", ("js", "node", "node-javascript", "node-js")),
    "typescript": ("typescript", ("ts", "node-ts")),
    "go": ("go", ("golang",)),
    "rust": ("rust", ("rs",)),
    "csharp": ("csharp", ("c#", "cs", "mono-csharp", "mono-c#")),
    "pypy": ("pypy", ("pypy3",)),
    "ruby": ("ruby", ("rb", "ruby3")),
    "bash": ("bash", ("sh",)),
    "lua": ("lua", ()),
    "sql": ("sqlite3", ("sqlite", "sql")),
}
"""Piston's names of languages and their aliases, by ours."""

STATUSES: Mapping[Verdict, str] = {Verdict.TLE: "TO", Verdict.OLE: "OL", Verdict.MLE: "SG"}

Stage: TypeAlias = dict[str, Any]


class File(BaseModel):
    """A file of a job."""

    content: str
    name: str = ""
    encoding: str = "utf8"

    @property
    def text(self) -> str:
        """The decoded content. Raises BadRequestError if it is not text."""
        try:
            return self._bytes.decode()
        except (binascii.Error, ValueError) as error:
            raise BadRequestError(f"file {self.name[:80]!r} is not text in {self.encoding[:20]}: {error}") from None

    @property
    def _bytes(self) -> bytes:
        if self.encoding == "base64":
            return base64.b64decode(self.content, validate=True)
        return bytes.fromhex(self.content) if self.encoding == "hex" else self.content.encode()


class PistonJob(ForeignBody):
    """A program to run. Times in milliseconds, memory in bytes; a limit of 0 or less stands for the default."""

    language: str
    version: str
    files: Annotated[list[File], Field(fail_fast=True)] = Field(min_length=1)
    stdin: str | None = ""
    args: Annotated[list[str], Field(fail_fast=True)] | None = None
    run_timeout: float = Field(DEFAULT_MILLISECONDS, ge=0)
    run_cpu_time: float = Field(0, ge=0)
    run_memory_limit: int = -1

    @property
    def cpu(self) -> float:
        """CPU time limit in seconds."""
        return (self.run_cpu_time or self.run_timeout or DEFAULT_MILLISECONDS) / 1000

    @property
    def wall(self) -> float:
        """Wall time limit in seconds."""
        return max(self.cpu, self.run_timeout / 1000) + SLACK_SECONDS

    @property
    def our_language(self) -> str:
        """The name of the language. Raises BadRequestError if there is none."""
        if self.language == CODEFORCES:
            return "python"
        name = self.language.lower()
        for ours, (theirs, aliases) in NAMES.items():
            if name in (ours, theirs, *aliases):
                return ours
        raise BadRequestError(f"{self.language[:40]} runtime is unknown; GET /api/v2/runtimes lists what is installed")

    @property
    def runtime(self) -> str:
        """Piston's name of the language, which its answers have instead of an alias."""
        return CODEFORCES if self.language == CODEFORCES else NAMES[self.our_language][0]

    @property
    def is_codeforces(self) -> bool:
        """True for a test of open-r1's package."""
        return self.language == CODEFORCES or {file.name for file in self.files} >= piston_codeforces.NEEDED

    @property
    def program(self) -> Run:
        """The program with its limits. Raises BadRequestError for options that are not supported."""
        language, stdin = self.our_language, self.stdin or ""
        others = {self._name(file): file for file in self.files[1:]}
        wrapping = Wrapping({name: file.text.encode() for name, file in others.items()}, {}, tuple(self.args or ()))
        return Run(
            self.files[0].text,
            stdin if stdin.endswith("\n") else stdin + "\n",
            language,
            self.cpu,
            self.wall,
            self.run_memory_limit if self.run_memory_limit > 0 else None,
            wrapping,
        )

    def _name(self, file: File) -> str:
        try:
            return host_files.name_of(file.name, "files")
        except ValueError as error:
            raise BadRequestError(str(error)) from None


def routes(queue: JobQueue, settings: Settings) -> APIRouter:
    """Return `POST /api/v2/execute` and `GET /api/v2/runtimes`."""
    router = APIRouter(prefix="/api/v2", tags=["Piston"])
    grading = HeldGrading(queue, settings, "piston")

    async def version_of(payload: PistonJob) -> str:
        """Return the version that runs the job. Raise BadRequestError if it is not the wanted one, or there is none."""
        name, wanted = payload.our_language, payload.version
        known = {"python": python_version(queue)} if name == "python" else await versions(queue, settings)
        if name not in known:
            raise BadRequestError(
                f"{payload.language}-{wanted[:20]} is not installed; GET /api/v2/runtimes lists what is"
            )
        if wanted != "*" and (known[name] or wanted).partition(".")[0] != wanted.partition(".")[0]:
            raise BadRequestError(f"{payload.language}-{wanted[:20]} runtime is unknown; use version *")
        return known[name]

    @router.post(
        "/execute",
        openapi_extra=request_schema(PistonJob),
        responses=compat_error_schemas() | {status: {"description": "`{message}`"} for status in (400, 413, 503)},
        summary="Run a program (Piston)",
    )
    async def execute(request: Request, response: Response) -> dict[str, Any]:
        try:
            payload = await grading.read(request, PistonJob)
            version = await version_of(payload)
            compiled, ran = await _run(grading, request, payload)
        except ValidationError as error:
            response.status_code = 400
            return {"message": describe(error)}
        except ProctorError as error:
            return _error(error, response)
        return {"run": ran, "compile": compiled, "language": payload.runtime, "version": version}

    @router.get("/runtimes", summary="Runtimes (Piston)")
    async def runtimes() -> list[dict[str, Any]]:
        known = await versions(queue, settings)
        named = [(*NAMES[name], version) for name, version in known.items() if name in NAMES]
        named.append((CODEFORCES, (), known["python"]))
        return [{"language": name, "version": text, "aliases": list(aliases)} for name, aliases, text in named]

    return router


async def _run(grading: HeldGrading, request: Request, payload: PistonJob) -> tuple[Stage, Stage]:
    """Return the stages compile and run. Raises like `HeldGrading.verdict`."""
    if payload.is_codeforces:
        return await _graded(grading, request, payload)
    ran = await run(grading, request, payload.program, max(PATIENCE_SECONDS, payload.wall + GRACE_SECONDS))
    return stages_of(ran.result, stage_of(ran.result))


async def _graded(grading: HeldGrading, request: Request, payload: PistonJob) -> tuple[Stage, Stage]:
    """Grade one test of open-r1's package for Codeforces."""
    fields = piston_codeforces.fields_of(payload.our_language, {file.name: file.text for file in payload.files})
    [result] = (await grading.verdict(request, fields, PATIENCE_SECONDS)).tests
    is_right = result.verdict == Verdict.AC
    facts = _stage(result, stdout="1" if is_right else "0")
    return stages_of(result, facts | {"message": None if is_right else f"{result.verdict}: {result.message}"})


def stages_of(result: TestResult, ran: Stage) -> tuple[Stage, Stage]:
    """Return the stages compile and run. As in Piston, a program that does not compile is not run, and both stages
    fail.
    """
    if result.verdict != Verdict.CE:
        return _stage(), ran
    refused = _stage(stderr=result.message or "") | {"code": 1, "status": "RE"}
    return refused, refused


def stage_of(result: TestResult) -> Stage:
    """Return the result of a run in Piston's format."""
    is_over_limit = result.verdict in STATUSES
    number = signal.SIGKILL if is_over_limit else result.signal
    if not is_over_limit and number is None:
        code = result.exit_code if result.exit_code is not None else 0 if result.verdict == Verdict.AC else 1
        return _stage(result, result.stdout, result.stderr) | _end(result, code, None, "RE" if code else None)
    return _stage(result, result.stdout, result.stderr) | _end(result, None, number, STATUSES.get(result.verdict, "SG"))


def _end(result: TestResult, code: int | None, number: int | None, status: str | None) -> Stage:
    name = None if number is None else _signal_name(number)
    return {"code": code, "signal": name, "status": status, "message": result.message}


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"


def _stage(result: TestResult | None = None, stdout: str = "", stderr: str = "") -> Stage:
    """Return a stage that ended with exit code 0."""
    result = result or TestResult(index=0, verdict=Verdict.AC)
    return {
        "stdout": stdout,
        "stderr": stderr,
        "output": stdout + stderr,
        "code": 0,
        "signal": None,
        "message": None,
        "status": None,
        "cpu_time": round(1000 * result.cpu_seconds),
        "wall_time": round(1000 * result.wall_seconds),
        "memory": result.peak_memory_bytes,
    }


def _error(error: ProctorError, response: Response) -> dict[str, str]:
    response.status_code = 413 if isinstance(error, BodyTooLargeError) else 400
    if isinstance(error, (RetryLaterError, UnavailableError)):
        response.status_code = 503
        response.headers["Retry-After"] = str(round(UNAVAILABLE_RETRY_SECONDS))
    return {"message": str(error)}
