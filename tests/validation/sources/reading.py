"""Reads a folder that holds one problem."""

from __future__ import annotations

from pathlib import Path

from sandbox_service.formats.problem import Problem
from sandbox_service.validation import sources
from sandbox_service.validation.sources import Malformed


def one(folder: Path) -> Problem:
    """The problem of a folder."""
    (found,) = sources.read(str(folder))
    assert isinstance(found, Problem), found
    return found


def refused(folder: Path) -> str:
    """Why the problem of a folder is refused."""
    (found,) = sources.read(str(folder))
    assert isinstance(found, Malformed), found
    return found.reason
