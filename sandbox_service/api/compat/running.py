"""Programs that are only run: what they print is somebody else's to judge.

To the grader that is a submission whose one test nobody means; what it says of right and wrong is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request
from pydantic import ValidationError

from sandbox_service.api.compat.desk import Desk
from sandbox_service.api.intake import describe
from sandbox_service.errors import BadRequest
from sandbox_service.queues.base import JobQueue
from sandbox_service.schema import Limits, TestResult, Verdict

OUTPUT_BYTES = 4 << 20  # a program that prints more has gone over a limit, for what is cut could not be judged
LEAST_MEMORY_BYTES = 64 << 20


@dataclass(frozen=True)
class Run:
    """A program and its input. `memory_bytes`: None for the default; too little for an interpreter is raised."""

    code: str
    stdin: str = ""
    language: str = "python"
    cpu_seconds: float = 10.0
    wall_seconds: float | None = None
    memory_bytes: int | None = None
    processes: int = 1

    @property
    def limits(self) -> Limits:
        """As a submission has them. Raises BadRequest."""
        memory = {} if self.memory_bytes is None else {"memory_bytes": max(self.memory_bytes, LEAST_MEMORY_BYTES)}
        more = {} if self.wall_seconds is None else {"wall_seconds": self.wall_seconds}
        given = {"cpu_seconds": self.cpu_seconds, "output_bytes": OUTPUT_BYTES, "processes": self.processes}
        try:
            return Limits.model_validate(given | memory | more)
        except ValidationError as error:
            raise BadRequest(describe(error, ("limits",))) from None


async def run(desk: Desk, request: Request, wanted: Run, seconds: float) -> TestResult:
    """What it did. A verdict of AC says that it ended well, whatever it printed.

    Raises as `Desk.verdict` does.
    """
    fields = {
        "code": wanted.code,
        "language": wanted.language,
        "tests": [{"type": "stdin", "input": wanted.stdin, "output": ""}],
        "checker": {"type": "exact"},
        "limits": wanted.limits,
        "display_bytes": OUTPUT_BYTES,
    }
    [result] = (await desk.verdict(request, fields, seconds)).tests
    return unjudged(result)


def unjudged(result: TestResult) -> TestResult:
    """What a program did, whether or not it printed what it should."""
    if result.verdict != Verdict.WA:
        return result
    return result.model_copy(update={"verdict": Verdict.AC, "message": None})


def python_version(queue: JobQueue) -> str:
    """Such as 3.11.2, without its maker's name."""
    return next(iter(queue.languages()), "3").rpartition(" ")[2]
