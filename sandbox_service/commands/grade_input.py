"""Reads the files of `proctor grade`: a problem, and programs or model answers to grade."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sandbox_service import languages
from sandbox_service.errors import BadRequestError
from sandbox_service.errors.fields import describe
from sandbox_service.formats.problem import Problem
from sandbox_service.schema import Submission

COMPLETION_SUFFIXES = (".md", ".markdown")
MOST_BYTES = 256 << 20  # of a file; /dev/zero has no end
SOLUTION_FIELDS = ("code", "completion", "id")


@dataclass(frozen=True)
class Solution:
    """A file with a program, or with suffix `.md` a model's whole answer, from which the program is extracted."""

    id: str
    path: Path
    text: str

    def fields(self) -> dict[str, Any]:
        """Return the fields that complete the problem to a submission."""
        kind = "completion" if self.path.suffix.lower() in COMPLETION_SUFFIXES else "code"
        return {"id": self.id, kind: self.text}

    @property
    def language(self) -> dict[str, str]:
        """The field `language`, by the file's suffix; empty for a model's answer and a file without a suffix.

        Raises:
            BadRequestError: No language has the suffix.
        """
        suffix = self.path.suffix
        found = languages.by_suffix(suffix)
        if found is None and suffix and suffix.lower() not in (".py", *COMPLETION_SUFFIXES):
            raise BadRequestError(f"{self.path}: no language has the suffix {suffix}; give the problem a `language`")
        return {"language": found.name} if found else {}


def read_problem(path: Path) -> dict[str, Any]:
    """Return the fields that all submissions share. Raise BadRequestError if the file is invalid."""
    problem = _parse(path)
    if isinstance(problem, list):
        problem = {"tests": problem}
    if not isinstance(problem, dict):
        raise BadRequestError(f"{path}: neither a JSON object nor a list of tests")
    if "prompt" in problem or "messages" in problem:
        problem = _grading(problem, path)
    misplaced = [name for name in SOLUTION_FIELDS if name in problem]
    if misplaced:
        raise BadRequestError(f"{path}: remove {misplaced[0]!r}: programs are given as separate files")
    unknown = [name for name in problem if name not in Submission.model_fields]
    if unknown:
        known = ", ".join(name for name in Submission.model_fields if name not in SOLUTION_FIELDS)
        raise BadRequestError(f"{path}: unknown field {unknown[0]!r}; known fields: {known}")
    if not problem.get("tests"):
        raise BadRequestError(f"{path}: there are no tests")
    try:
        Submission.model_validate({**problem, "code": ""})
    except ValidationError as error:
        raise BadRequestError(f"{path}: {describe(error)}") from None
    return problem


def _grading(problem: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return the fields of a submission from a problem in the format of data sets."""
    try:
        Problem.model_validate(problem)
    except ValidationError as error:
        raise BadRequestError(f"{path}: {describe(error)}") from None
    return {name: problem[name] for name in problem if name in Submission.model_fields and name != "id"}


def read_solution(path: Path) -> Solution:
    """Return a solution under a new id. Raise BadRequestError if the file cannot be read."""
    return Solution(uuid.uuid4().hex, path, _text(path))


def batch(problem: dict[str, Any], solutions: Sequence[Solution]) -> bytes:
    """Return the body of a batch request.

    Args:
        problem: The fields that all submissions share.
        solutions: The solutions.
    """
    fields = [solution.fields() | ({} if "language" in problem else solution.language) for solution in solutions]
    return json.dumps({"defaults": problem, "submissions": fields}).encode()


def _parse(path: Path) -> object:
    try:
        found: object = json.loads(_text(path))
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise BadRequestError(f"{path}: a text has a lone surrogate, which UTF-8 cannot carry") from None
    except ValueError as error:
        raise BadRequestError(f"{path}: not JSON: {error}") from None
    except RecursionError:
        raise BadRequestError(f"{path}: the JSON is nested too deeply") from None
    return found


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            found = file.read(MOST_BYTES + 1)
        text = found.decode()
    except UnicodeDecodeError as error:
        raise BadRequestError(f"{path}: not UTF-8: {error.reason} at byte {error.start}") from None
    except OSError as error:
        raise BadRequestError(f"{path}: {error.strerror}") from None
    if len(found) > MOST_BYTES:
        raise BadRequestError(f"{path}: more than {MOST_BYTES >> 20} MiB")
    return text
