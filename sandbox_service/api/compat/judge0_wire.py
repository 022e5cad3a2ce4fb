"""Judge0's wire format: submissions with their limits, and results with one of fourteen statuses.

This module does not grade; `judge0` has the routes and lists the differences to Judge0.
"""

from __future__ import annotations

import base64
import re
import secrets
import uuid
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from sandbox_service import languages
from sandbox_service.api.compat import judge0_languages, judge0_programs
from sandbox_service.api.compat.bodies import false_numbers, misspelt
from sandbox_service.api.compat.judge0_config import CPU_SECONDS, KIB
from sandbox_service.api.compat.program_run import OUTPUT_BYTES, Run, without_comparison
from sandbox_service.errors.fields import wrong_fields
from sandbox_service.schema import Grade, TestResult, Verdict

# the first digit of a token's fourth group, which a random UUID may choose, says whether output is compared
COMPARED, RUN = "89", "ab"
TOKEN = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")

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
MOST_KIB = 1e15  # of memory: the limit of the service is lower, and says so
IN_QUEUE, NZEC, OTHER, INTERNAL = 1, 11, 12, 13
VERDICTS = {Verdict.AC: 3, Verdict.WA: 4, Verdict.TLE: 5, Verdict.CE: 6, Verdict.OLE: 8, Verdict.MLE: OTHER}
SIGNALS = {11: 7, 25: 8, 8: 9, 6: 10}
# options for Python only
OF_PYTHON = ("command_line_arguments", "additional_files", "redirect_stderr_to_stdout")


class InvalidRequestError(Exception):
    """Invalid fields, each with its message."""

    def __init__(self, **fields: str) -> None:
        super().__init__()
        self.fields = {name: [words] for name, words in fields.items()}


class Judge0Submission(BaseModel):
    """A program, optionally with its expected output."""

    source_code: str | None = None
    language_id: int
    stdin: str | None = None
    expected_output: str | None = None
    cpu_time_limit: float | None = Field(None, gt=0)
    wall_time_limit: float | None = Field(None, gt=0)
    memory_limit: float | None = Field(None, gt=0, le=MOST_KIB)
    command_line_arguments: str | None = None
    additional_files: str | None = None
    callback_url: str | None = None
    enable_network: bool | None = None
    redirect_stderr_to_stdout: bool | None = None
    compiler_options: str | None = None

    @property
    def is_compared(self) -> bool:
        """True if there is an expected output."""
        return self.expected_output is not None

    @property
    def language(self) -> str:
        """The name of the language."""
        return judge0_languages.name_of(self.language_id) or ""

    def fields(self) -> dict[str, Any]:
        """Return the fields of a submission. Raise BadRequestError for an invalid limit."""
        memory = None if self.memory_limit is None else int(self.memory_limit * KIB)
        cpu = self.cpu_time_limit or CPU_SECONDS
        limits = Run("", cpu_seconds=cpu, wall_seconds=self.wall_time_limit, memory_bytes=memory).limits
        return {
            "code": self.program(),
            "language": self.language,
            "tests": [{"type": "stdin", "input": self.stdin or "", "output": self.expected_output or ""}],
            "checker": {"type": "lines"},
            "limits": limits,
            "display_bytes": OUTPUT_BYTES,
        }

    def program(self) -> str:
        """Return the program with its files and arguments. Raise InvalidRequestError."""
        try:
            files = judge0_programs.unpacked(self.additional_files) if self.additional_files else {}
            if self.language_id == judge0_languages.MULTI_FILE:
                return judge0_programs.multi_file(files)
        except ValueError as error:
            raise InvalidRequestError(additional_files=str(error)) from None
        merged, arguments = bool(self.redirect_stderr_to_stdout), self.command_line_arguments or ""
        try:
            wrapping = judge0_programs.arranged(files, arguments, merged=merged)
        except ValueError as error:
            raise InvalidRequestError(command_line_arguments=str(error)) from None
        code = self.source_code or ""
        return wrapping.source(code) if wrapping.is_needed else code


def token_of(payload: Judge0Submission) -> str:
    """Return a new token, a UUID."""
    made = str(uuid.UUID(bytes=secrets.token_bytes(16), version=4))
    return made[:19] + secrets.choice(COMPARED if payload.is_compared else RUN) + made[20:]


def id_of(token: str) -> str:
    """Return the id of the submission with this token, which no other route's submissions have by chance."""
    return f"judge0-{token}"


def is_token(text: str) -> bool:
    """Return whether a text has the form of a token."""
    return TOKEN.fullmatch(text) is not None


def is_compared(token: str) -> bool:
    """Return whether the output of the program with this token is compared."""
    return token[19:20] in COMPARED


def parse_submission(given: Mapping[str, Any], is_encoded: bool) -> Judge0Submission:
    """Return the validated submission.

    Args:
        given: The JSON object.
        is_encoded: True if its texts are in base 64.

    Raises:
        InvalidRequestError: A field is invalid or not supported.
    """
    if wrong := false_numbers(Judge0Submission, given):
        raise InvalidRequestError(**wrong)
    try:
        payload = Judge0Submission.model_validate(given)
    except ValidationError as error:
        raise InvalidRequestError(**wrong_fields(error)) from None
    wrong = misspelt(set(given) - set(Judge0Submission.model_fields), Judge0Submission.model_fields, given)
    if wrong:
        raise InvalidRequestError(**{name: f"is not known; use {meant}" for name, meant in wrong.items()})
    _check(payload)
    payload = _decoded(payload) if is_encoded else payload
    if not (payload.source_code or "").strip() and payload.language_id != judge0_languages.MULTI_FILE:
        raise InvalidRequestError(source_code="can't be blank")
    return payload


def _check(payload: Judge0Submission) -> None:
    """Raise InvalidRequestError for a language or an option that is not supported."""
    if not payload.language:
        raise InvalidRequestError(
            language_id=f"language with id {payload.language_id} doesn't exist here; see GET /languages"
        )
    if payload.enable_network:
        raise InvalidRequestError(enable_network="is not supported")
    toolchain = languages.find(payload.language).toolchain
    if payload.compiler_options and toolchain is not None and toolchain.is_compiled:
        raise InvalidRequestError(compiler_options="is not supported: programs are compiled as GET /v1/languages says")
    is_archive = payload.language_id == judge0_languages.MULTI_FILE
    others = [name for name in OF_PYTHON if getattr(payload, name) and not (is_archive and name == "additional_files")]
    if others and payload.language != "python":
        raise InvalidRequestError(**dict.fromkeys(others, "is supported for Python only"))


def _decoded(payload: Judge0Submission) -> Judge0Submission:
    """Decode the texts. Raise InvalidRequestError if one is not base 64 of UTF-8."""
    changes = {}
    for name in ("source_code", "stdin", "expected_output"):
        packed = getattr(payload, name)
        if packed is not None:
            try:
                changes[name] = base64.b64decode("".join(packed.split()), validate=True).decode()
            except ValueError as error:
                raise InvalidRequestError(**{name: f"is not UTF-8 text in base 64: {error}"}) from None
    return payload.model_copy(update=changes)


def answer_of(grade: Grade, token: str) -> dict[str, Any]:
    """Return a grade in Judge0's format, as the result of this token."""
    if grade.reward is None:
        return empty(token, INTERNAL, f"{grade.failure_kind}: {grade.failure_reason}")
    [result] = grade.tests
    if result.verdict == Verdict.CE:
        return empty(token, VERDICTS[Verdict.CE]) | {"compile_output": result.message}
    if not is_compared(token):
        result = without_comparison(result)
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
    """Return the status with this number in Judge0's format."""
    return {"id": number, "description": STATUSES[number]}


def empty(token: str, status: int, message: str | None = None) -> dict[str, Any]:
    """Return a result without facts about the program.

    Args:
        token: names the submission.
        status: number of a status of Judge0.
        message: says why there are no facts.
    """
    unknown = ("stdout", "stderr", "compile_output", "exit_code", "exit_signal", "time", "wall_time", "memory")
    return {**dict.fromkeys(unknown), "message": message, "token": token, "status": status_of(status)}


def encoded(answer: dict[str, Any], is_encoded: bool) -> dict[str, Any]:
    """Return the answer with its texts in base 64 if `is_encoded`."""
    if not is_encoded:
        return answer
    texts = {name: answer[name] for name in ("stdout", "stderr", "compile_output", "message") if answer[name]}
    return answer | {name: base64.b64encode(text.encode()).decode() for name, text in texts.items()}
