"""What Judge0's clients send and hear: programs with their limits, and results with a status of fourteen.

Nothing is graded here; `judge0` has the routes, and says what is otherwise than there.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from sandbox_service.api.compat.running import OUTPUT_BYTES, Run, unjudged
from sandbox_service.schema import Grade, TestResult, Verdict

CPU_SECONDS = 5.0
PYTHON = (71, 92, 100, 109)
KIB = 1 << 10
COMPARED, RUN = "cmp-", "run-"  # how tokens begin

STATUSES = {
    1: "In Queue",
    2: "Processing",
    3: "Accepted",
    4: "Wrong Answer",
    5: "Time Limit Exceeded",
    6: "Compilation Error",
    7: "Runtime Error (SIGSEGV)",
    8: "Runtime Error (SIGXFSZ)",
    9: "Runtime Error (SIGFPE)",
    10: "Runtime Error (SIGABRT)",
    11: "Runtime Error (NZEC)",
    12: "Runtime Error (Other)",
    13: "Internal Error",
    14: "Exec Format Error",
}
IN_QUEUE, NZEC, OTHER, INTERNAL = 1, 11, 12, 13
VERDICTS = {Verdict.AC: 3, Verdict.WA: 4, Verdict.TLE: 5, Verdict.CE: 6, Verdict.OLE: 8, Verdict.MLE: OTHER}
SIGNALS = {11: 7, 25: 8, 8: 9, 6: 10}
NOT_SERVED = (
    "command_line_arguments", "additional_files", "callback_url", "enable_network", "redirect_stderr_to_stdout",
)  # fmt: skip


class Wrong(Exception):
    """Fields, and what is wrong with each."""

    def __init__(self, **fields: str) -> None:
        super().__init__()
        self.fields = {name: [words] for name, words in fields.items()}


class Judge0Submission(BaseModel):
    """A program, perhaps with the output that it should have."""

    source_code: str
    language_id: int
    stdin: str | None = None
    expected_output: str | None = None
    cpu_time_limit: float | None = Field(None, gt=0)
    wall_time_limit: float | None = Field(None, gt=0)
    memory_limit: float | None = Field(None, gt=0)
    command_line_arguments: str | None = None
    additional_files: str | None = None
    callback_url: str | None = None
    enable_network: bool | None = None
    redirect_stderr_to_stdout: bool | None = None

    @property
    def is_compared(self) -> bool:
        """Whether there is anything to compare with."""
        return self.expected_output is not None

    def fields(self) -> dict[str, Any]:
        """A submission's. Raises BadRequest."""
        memory = None if self.memory_limit is None else int(self.memory_limit * KIB)
        cpu = self.cpu_time_limit or CPU_SECONDS
        limits = Run("", cpu_seconds=cpu, wall_seconds=self.wall_time_limit, memory_bytes=memory).limits
        return {
            "code": self.source_code,
            "tests": [{"type": "stdin", "input": self.stdin or "", "output": self.expected_output or ""}],
            "checker": {"type": "lines"},
            "limits": limits,
            "display_bytes": OUTPUT_BYTES,
        }


def token_of(asked: Judge0Submission) -> str:
    """A new one."""
    return (COMPARED if asked.is_compared else RUN) + secrets.token_hex(16)


def asked_of(given: Mapping[str, Any], is_encoded: bool) -> Judge0Submission:
    """What is asked. Raises Wrong."""
    try:
        asked = Judge0Submission.model_validate(given)
    except ValidationError as error:
        raise Wrong(**{str(each["loc"][0]): each["msg"] for each in error.errors()}) from None
    if asked.language_id not in PYTHON:
        known = ", ".join(map(str, PYTHON))
        raise Wrong(language_id=f"language with id {asked.language_id} doesn't exist here; Python is {known}")
    wanted = [name for name in NOT_SERVED if getattr(asked, name)]
    if wanted:
        raise Wrong(**dict.fromkeys(wanted, "is not served here"))
    return _decoded(asked) if is_encoded else asked


def _decoded(asked: Judge0Submission) -> Judge0Submission:
    """Raises Wrong."""
    changes = {}
    for name in ("source_code", "stdin", "expected_output"):
        packed = getattr(asked, name)
        if packed is not None:
            try:
                changes[name] = base64.b64decode("".join(packed.split()), validate=True).decode()
            except ValueError as error:
                raise Wrong(**{name: f"is not text in base 64: {error}"}) from None
    return asked.model_copy(update=changes)


def answer_of(grade: Grade, token: str) -> dict[str, Any]:
    """What became of a program, in Judge0's words."""
    if grade.reward is None:
        return empty(token, INTERNAL, f"{grade.failure_kind}: {grade.failure_reason}")
    [result] = grade.tests
    if result.verdict == Verdict.CE:
        return empty(token, VERDICTS[Verdict.CE]) | {"compile_output": result.message}
    if token.startswith(RUN):
        result = unjudged(result)
    return empty(token, _status_id(result), result.message) | {
        "stdout": result.stdout or None,
        "stderr": result.stderr or None,
        "exit_code": result.exit_code,
        "exit_signal": result.signal,
        "time": f"{result.cpu_seconds:.3f}",
        "wall_time": f"{result.wall_seconds:.3f}",
        "memory": result.peak_memory_bytes // KIB,
    }


def _status_id(result: TestResult) -> int:
    if result.verdict in VERDICTS:
        return VERDICTS[result.verdict]
    return NZEC if result.signal is None else SIGNALS.get(result.signal, OTHER)


def status_of(number: int) -> dict[str, Any]:
    """A status as answers have it."""
    return {"id": number, "description": STATUSES[number]}


def empty(token: str, status: int, message: str | None = None) -> dict[str, Any]:
    """Of a program that nothing is known of."""
    unknown = ("stdout", "stderr", "compile_output", "exit_code", "exit_signal", "time", "wall_time", "memory")
    return {**dict.fromkeys(unknown), "message": message, "token": token, "status": status_of(status)}


def encoded(answer: dict[str, Any], isencoded: bool) -> dict[str, Any]:
    """With its texts in base 64, if that was asked for."""
    if not isencoded:
        return answer
    texts = {name: answer[name] for name in ("stdout", "stderr", "compile_output", "message") if answer[name]}
    return answer | {name: base64.b64encode(text.encode()).decode() for name, text in texts.items()}
