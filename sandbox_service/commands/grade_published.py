"""Reads one problem of a published data set for `proctor grade`, by the readers of `proctor validate`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sandbox_service.commands import grade_input
from sandbox_service.errors import BadRequestError, ConfigurationError
from sandbox_service.formats.problem import Problem
from sandbox_service.schema import Submission
from sandbox_service.validation import sources
from sandbox_service.validation.sources import Malformed, ours

NAMED = 5  # ids in a message
PACKED = (".parquet", ".gz", ".zst", ".ndjson")


def is_published(path: Path) -> bool:
    """Return whether a file is of a data set: it has several rows, or one in a form that is not the service's own."""
    if path.suffix.lower() in PACKED:
        return True
    try:
        with path.open("rb") as file:
            text = file.read(grade_input.MOST_BYTES + 1)  # a problem that is longer is refused; of rows, two are enough
    except OSError:
        return False  # reading the problem says why
    try:
        row = json.loads(text)
    except (ValueError, RecursionError):
        return _has_rows(text)
    return isinstance(row, dict) and _is_foreign(row)


def read(path: Path, wanted: str) -> dict[str, Any]:
    """Return the fields that all submissions to a problem share.

    Args:
        path: A file of a data set.
        wanted: The id of the problem, or the number of its row from 0; empty if there is only one.

    Raises:
        BadRequestError: No problem, or several ones, are meant, or the row cannot become a problem.
        ConfigurationError: The file cannot be read, or no reader fits.
    """
    found: list[Problem | Malformed] = []
    for number, each in enumerate(sources.read(str(path))):
        name = each.id if isinstance(each, Problem) else ""
        if wanted in (name, str(number)):
            return _fields(each, path)
        if not wanted:
            found.append(each)
            if len(found) > NAMED:
                break
    if wanted:
        raise BadRequestError(f"{path}: no problem {wanted!r}; give its id or the number of its row, from 0")
    if len(found) == 1:
        return _fields(found[0], path)
    names = ", ".join(each.id if isinstance(each, Problem) else each.place for each in found[:NAMED])
    raise BadRequestError(
        f"{path}: several problems; name one with --id, such as {names}" if found else f"{path}: empty"
    )


def _fields(found: Problem | Malformed, path: Path) -> dict[str, Any]:
    if isinstance(found, Malformed):
        raise BadRequestError(f"{path}: {found.place}: {found.reason}")
    given = {name for name in Submission.model_fields if name != "id" and getattr(found, name, None) is not None}
    return found.model_dump(mode="json", include=given)


def _has_rows(text: bytes) -> bool:
    """Return whether the first two lines are JSON objects."""
    lines = text.split(b"\n", 2)[:2]
    try:
        return len(lines) == 2 and all(isinstance(json.loads(line), dict) for line in lines)
    except (ValueError, RecursionError):
        return False


def _is_foreign(row: dict[str, Any]) -> bool:
    try:
        return sources.detect(row) is not ours.READER
    except ConfigurationError:
        return False
