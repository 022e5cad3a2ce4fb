"""`POST /api/v2/execute` and `GET /api/v2/runtimes` as Piston answers them: open-r1 asks for them, and many tools.

Asked: `{language, version, files: [{name, content, encoding}], stdin, run_timeout, run_cpu_time, run_memory_limit}`, in
milliseconds and bytes; stdin is given a newline at its end if it has none. Answered: `{language, version, run,
compile}`, each `{stdout, stderr, output, code, signal, message, status, cpu_time, wall_time, memory}`. Piston compiles
no Python, but open-r1 reads `compile.code` of every answer: so it is there, 0 for what is Python and 1 for what is not.

open-r1's package for Codeforces (`cf_python3`: the files main.python, input.txt, correct_output.txt, grader_config) is
graded here, outside of the jail: `run.stdout` is `1` or `0`, as its own grader prints them.

open-r1 waits for 30 s and asks five times more for whatever is not 200, then counts a failed test. What can never be
served is 400 with a message, as in Piston; a fault is 503 with one.

What is otherwise than there: files beside the program, arguments, a special judge (checker.py), files instead of stdin
and the languages that are not installed are 400; `run_timeout` is of CPU time, with two seconds more by the clock.
"""

from __future__ import annotations

import base64
import binascii
import signal
from collections.abc import Mapping
from typing import Any, TypeAlias

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field, ValidationError

from sandbox_service import languages
from sandbox_service.api.compat.desk import Desk
from sandbox_service.api.compat.running import Run, python_version, run
from sandbox_service.api.documents import refuses, takes
from sandbox_service.api.intake import describe
from sandbox_service.api.trouble import UNAVAILABLE_RETRY_SECONDS
from sandbox_service.errors import BadRequest, BodyTooLarge, ComeBackLater, ProctorError, Unavailable
from sandbox_service.queues.base import JobQueue
from sandbox_service.schema import WALL_FACTOR, TestResult, Verdict
from sandbox_service.settings import Settings

PATIENCE_SECONDS = 28.0  # open-r1 waits for 30
GRACE_SECONDS = 8.0  # for those who wait longer
DEFAULT_MILLISECONDS = 3000.0
SLACK_SECONDS = 2.0
MOST_WALL_SECONDS = 24.0  # of a test that sleeps, if it may have more
CODEFORCES = "cf_python3"
NOT_INSTALLED = frozenset({"cms_ioi", "c++", "c++17", "cpp", "c"})
STATUSES: Mapping[Verdict, str] = {Verdict.TLE: "TO", Verdict.OLE: "OL", Verdict.MLE: "SG"}
MIB = 1 << 20

Stage: TypeAlias = dict[str, Any]


class File(BaseModel):
    """A file of a program's."""

    content: str
    name: str = ""
    encoding: str = "utf8"

    @property
    def text(self) -> str:
        """Raises BadRequest if it is none."""
        try:
            return self._bytes.decode()
        except (binascii.Error, ValueError) as error:
            raise BadRequest(f"file {self.name[:80]!r} is not text in {self.encoding[:20]}: {error}") from None

    @property
    def _bytes(self) -> bytes:
        if self.encoding == "base64":
            return base64.b64decode(self.content, validate=True)
        return bytes.fromhex(self.content) if self.encoding == "hex" else self.content.encode()


class PistonJob(BaseModel):
    """What is asked. Milliseconds, bytes; a limit of 0 or less is none of its own."""

    language: str
    version: str
    files: list[File] = Field(min_length=1)
    stdin: str | None = ""
    args: list[str] | None = None
    run_timeout: float = Field(DEFAULT_MILLISECONDS, ge=0)
    run_cpu_time: float = Field(0, ge=0)
    run_memory_limit: int = -1

    @property
    def cpu(self) -> float:
        """Seconds."""
        return (self.run_cpu_time or self.run_timeout or DEFAULT_MILLISECONDS) / 1000

    @property
    def wall(self) -> float:
        """Seconds."""
        return max(self.cpu, self.run_timeout / 1000) + SLACK_SECONDS

    @property
    def program(self) -> Run:
        """To be run. Raises BadRequest for what cannot be."""
        if self.args:
            raise BadRequest("args: a program is given no arguments here")
        if len(self.files) > 1:
            raise BadRequest("files: this service puts no files beside a program")
        stdin = self.stdin or ""
        return Run(
            self.files[0].text,
            stdin if stdin.endswith("\n") else stdin + "\n",
            self.language,
            self.cpu,
            self.wall,
            self.run_memory_limit if self.run_memory_limit > 0 else None,
        )


def routes(queue: JobQueue, settings: Settings) -> APIRouter:
    """`POST /api/v2/execute`, `GET /api/v2/runtimes`."""
    router = APIRouter(prefix="/api/v2", tags=["Piston"])
    desk = Desk(queue, settings, "piston")

    @router.post(
        "/execute",
        openapi_extra=takes(PistonJob),
        responses=refuses() | {status: {"description": "`{message}`"} for status in (400, 413, 503)},
        summary="Run a program, as Piston does",
    )
    async def execute(request: Request, response: Response) -> dict[str, Any]:
        try:
            asked = await desk.read(request, PistonJob)
            compiled, ran = await _run(desk, request, asked)
        except ValidationError as error:
            response.status_code = 400
            return {"message": describe(error)}
        except ProctorError as error:
            return _trouble(error, response)
        return {"run": ran, "compile": compiled, "language": asked.language, "version": python_version(queue)}

    @router.get("/runtimes", summary="What can be run, as Piston says it")
    async def runtimes() -> list[dict[str, Any]]:
        python = languages.find("python")
        known = {"python": list(python.aliases), CODEFORCES: []}
        return [{"language": name, "version": python_version(queue), "aliases": known[name]} for name in known]

    return router


async def _run(desk: Desk, request: Request, asked: PistonJob) -> tuple[Stage, Stage]:
    """What became of compiling and of running. Raises as `Desk.verdict` does."""
    if asked.language == CODEFORCES:
        return await _graded(desk, request, {file.name: file for file in asked.files})
    if asked.language in NOT_INSTALLED or languages.find(asked.language).name != "python":
        raise BadRequest(f"{asked.language}-{asked.version[:20]} is not installed; GET /api/v2/runtimes lists what is")
    if asked.version != "*" and not asked.version.startswith("3"):
        raise BadRequest(f"{asked.language}-{asked.version[:20]} runtime is unknown; ask for version *")
    result = await run(desk, request, asked.program, max(PATIENCE_SECONDS, asked.wall + GRACE_SECONDS))
    return stages_of(result, stage_of(result))


async def _graded(desk: Desk, request: Request, files: Mapping[str, File]) -> tuple[Stage, Stage]:
    """A test of open-r1's package for Codeforces."""
    if "checker.py" in files:
        raise BadRequest("checker.py: there is no special judge here; leave out problems with a generated_checker")
    program = next((file for name, file in files.items() if name.startswith("main.")), None)
    if program is None or not {"input.txt", "correct_output.txt"} <= files.keys():
        raise BadRequest("files: the package is made of main.python, input.txt, correct_output.txt and grader_config")
    fields = {
        "code": program.text,
        "tests": [{"type": "stdin", "input": files["input.txt"].text, "output": files["correct_output.txt"].text}],
        "limits": _limits(files["grader_config"].text if "grader_config" in files else ""),
    }
    [result] = (await desk.verdict(request, fields, PATIENCE_SECONDS)).tests
    is_right = result.verdict == Verdict.AC
    facts = _stage(result, stdout="1" if is_right else "0")
    return stages_of(result, facts | {"message": None if is_right else f"{result.verdict}: {result.message}"})


def _limits(config: str) -> dict[str, Any]:
    """Seconds and MiB from lines such as `TIME_LIMIT=2.0`. Raises BadRequest."""
    said = {name.strip(): value.strip() for name, _, value in (line.partition("=") for line in config.splitlines())}
    mode = said.get("INPUT_MODE") or "stdio"
    if mode not in ("stdio", "None"):
        raise BadRequest(f"grader_config: INPUT_MODE is {mode[:20]!r}, and a program reads its stdin only")
    limits: dict[str, Any] = {}
    try:
        if "TIME_LIMIT" in said:
            cpu = limits["cpu_seconds"] = float(said["TIME_LIMIT"])
            limits["wall_seconds"] = max(cpu + SLACK_SECONDS, min(WALL_FACTOR * cpu + SLACK_SECONDS, MOST_WALL_SECONDS))
        if "MEMORY_LIMIT" in said:
            limits["memory_bytes"] = max(64, int(float(said["MEMORY_LIMIT"]))) * MIB
    except (ValueError, OverflowError) as error:
        raise BadRequest(f"grader_config: {error}") from None
    return limits


def stages_of(result: TestResult, ran: Stage) -> tuple[Stage, Stage]:
    """As in Piston, what cannot be compiled is not run, and both stages say so."""
    if result.verdict != Verdict.CE:
        return _stage(), ran
    refused = _stage(stderr=result.message or "") | {"code": 1, "status": "RE"}
    return refused, refused


def stage_of(result: TestResult) -> Stage:
    """What became of a program, in Piston's words."""
    is_over = result.verdict in STATUSES
    number = signal.SIGKILL if is_over else result.signal
    if not is_over and number is None:
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
    """A stage that ended well."""
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


def _trouble(error: ProctorError, response: Response) -> dict[str, str]:
    response.status_code = 413 if isinstance(error, BodyTooLarge) else 400
    if isinstance(error, (ComeBackLater, Unavailable)):
        response.status_code = 503
        response.headers["Retry-After"] = str(round(UNAVAILABLE_RETRY_SECONDS))
    return {"message": str(error)}
