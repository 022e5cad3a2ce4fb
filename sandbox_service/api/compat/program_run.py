"""Runs programs without judging their output; the client compares it.

To the grader a run is a submission with one test whose expected output is ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from fastapi import Request
from pydantic import ValidationError

from sandbox_service import languages
from sandbox_service.api.compat.held_grading import HeldGrading
from sandbox_service.api.compat.wrapped_program import Wrapping
from sandbox_service.errors import BadRequestError
from sandbox_service.errors.fields import describe
from sandbox_service.queues.base import JobQueue
from sandbox_service.schema import Limits, TestResult, Verdict

OUTPUT_BYTES = 4 << 20  # more is over the limit: the client could not judge truncated output
LEAST_MEMORY_BYTES = 64 << 20


@dataclass(frozen=True)
class Run:
    """A program and its input.

    Attributes:
        memory_bytes: None for the service's default; a value too small for an interpreter is raised to the minimum.
        wrapping: What it is given beside its input.
        sources: Further sources by name, for languages other than Python.
    """

    code: str
    stdin: str = ""
    language: str = "python"
    cpu_seconds: float = 10.0
    wall_seconds: float | None = None
    memory_bytes: int | None = None
    wrapping: Wrapping = field(default_factory=lambda: Wrapping({}, {}))
    sources: Mapping[str, str] = field(default_factory=dict)
    processes: int = 1

    @property
    def source(self) -> str:
        """The source to run. Raises BadRequestError for what only programs in Python can be given."""
        if self.language == "python":
            return self.wrapping.source(self.code) if self.wrapping.is_needed else self.code
        if replace(self.wrapping, files={}).is_needed:
            raise BadRequestError(f"arguments and files to be returned are for python, not for {self.language}")
        return self.code

    @property
    def files(self) -> dict[str, str]:
        """The files beside the source. Raises BadRequestError for one that is no text: only Python can have it."""
        if self.language == "python":
            return {}
        try:
            return {**self.sources, **{name: content.decode() for name, content in self.wrapping.files.items()}}
        except UnicodeDecodeError:
            raise BadRequestError(f"files beside a program in {self.language} are texts in UTF-8") from None

    @property
    def limits(self) -> Limits:
        """The limits of a submission. Raises BadRequestError if one is invalid."""
        memory = {} if self.memory_bytes is None else {"memory_bytes": max(self.memory_bytes, LEAST_MEMORY_BYTES)}
        more = {} if self.wall_seconds is None else {"wall_seconds": self.wall_seconds}
        given = {"cpu_seconds": self.cpu_seconds, "output_bytes": OUTPUT_BYTES, "processes": self.processes}
        try:
            return Limits.model_validate(given | memory | more)
        except ValidationError as error:
            raise BadRequestError(describe(error, ("limits",))) from None


@dataclass(frozen=True)
class Ran:
    """The result of a run.

    Attributes:
        result: The verdict AC says that the program ended normally, whatever it printed.
        files: The wanted files that it left, in base 64.
    """

    result: TestResult
    files: Mapping[str, str]


async def run(grading: HeldGrading, request: Request, wanted: Run, seconds: float) -> Ran:
    """Run a program.

    Args:
        grading: Grades the submission.
        request: The request, whose body was read.
        wanted: The program.
        seconds: The time limit for an answer.

    Returns:
        The result and files.

    Raises:
        BadRequestError: The program cannot be run as requested.
        UnavailableError: It was not run in time.
    """
    fields = {
        "code": wanted.source,
        "language": wanted.language,
        "tests": [{"type": "stdin", "input": wanted.stdin, "output": ""}],
        "checker": {"type": "exact"},
        "limits": wanted.limits,
        "display_bytes": OUTPUT_BYTES,
        "files": wanted.files,
    }
    [result] = (await grading.verdict(request, fields, seconds)).tests
    printed, files = wanted.wrapping.parted(wanted.code, result.stdout)
    return Ran(without_comparison(result).model_copy(update={"stdout": printed}), files)


def without_comparison(result: TestResult) -> TestResult:
    """Return the result with WA replaced by AC: the expected output has no meaning."""
    if result.verdict != Verdict.WA:
        return result
    return result.model_copy(update={"verdict": Verdict.AC, "message": None})


def is_compiled(language: str) -> bool:
    """Return whether a language has a compile step that makes a program; in others it only checks the source."""
    toolchain = languages.find(language).toolchain
    return toolchain is not None and toolchain.is_compiled


def python_version(queue: JobQueue) -> str:
    """Return the version number of the workers' Python, such as 3.11.2."""
    return next(iter(queue.languages()), "3").rpartition(" ")[2]
