"""What `proctor grade` is given: a problem, and the programs or model's answers that claim to solve it."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sandbox_service.api.intake import describe
from sandbox_service.errors import BadRequest
from sandbox_service.problem import Problem
from sandbox_service.schema import Submission

COMPLETION_SUFFIXES = (".md", ".markdown")
NOT_THE_PROBLEMS = ("code", "completion", "id")


@dataclass(frozen=True)
class Solution:
    """One file: a program, or with `.md` a model's whole answer, from which the program is extracted."""

    id: str
    path: Path
    text: str

    def fields(self) -> dict[str, str]:
        """What it adds to the problem to make a submission."""
        kind = "completion" if self.path.suffix.lower() in COMPLETION_SUFFIXES else "code"
        return {"id": self.id, kind: self.text}


def read_problem(path: Path) -> dict[str, Any]:
    """The fields that all submissions share. Raises BadRequest saying what is wrong with the file."""
    problem = _parse(path)
    if isinstance(problem, list):
        problem = {"tests": problem}
    if not isinstance(problem, dict):
        raise BadRequest(f"{path}: neither a JSON object nor a list of tests")
    if "prompt" in problem or "messages" in problem:
        problem = _grading(problem, path)
    theirs = [name for name in NOT_THE_PROBLEMS if name in problem]
    if theirs:
        raise BadRequest(f"{path}: {theirs[0]} is not a problem's: programs are given as files of their own")
    unknown = [name for name in problem if name not in Submission.model_fields]
    if unknown:
        known = ", ".join(name for name in Submission.model_fields if name not in NOT_THE_PROBLEMS)
        raise BadRequest(f"{path}: unknown field {unknown[0]!r}; there are: {known}")
    if not problem.get("tests"):
        raise BadRequest(f"{path}: it has no tests, and what tests nothing passes nothing")
    try:
        Submission.model_validate({**problem, "code": ""})
    except ValidationError as error:
        raise BadRequest(f"{path}: {describe(error)}") from None
    return problem


def _grading(problem: dict[str, Any], path: Path) -> dict[str, Any]:
    """Of a problem as data sets have it, what a submission says."""
    try:
        Problem.model_validate(problem)
    except ValidationError as error:
        raise BadRequest(f"{path}: {describe(error)}") from None
    return {name: problem[name] for name in problem if name in Submission.model_fields and name != "id"}


def read_solution(path: Path) -> Solution:
    """A solution, as it is, under an id that was never used. Raises BadRequest."""
    return Solution(uuid.uuid4().hex, path, _text(path))


def batch(problem: dict[str, Any], solutions: list[Solution]) -> bytes:
    """The body of a request to grade them all."""
    return json.dumps({"defaults": problem, "submissions": [solution.fields() for solution in solutions]}).encode()


def _parse(path: Path) -> object:
    try:
        found: object = json.loads(_text(path))
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"{path}: not JSON: {error}") from None
    return found


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise BadRequest(f"{path}: not UTF-8: {error.reason} at byte {error.start}") from None
    except OSError as error:
        raise BadRequest(f"{path}: {error.strerror}") from None
