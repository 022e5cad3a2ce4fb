"""Whether what a submission asks for goes together: its language, its checker and its tests."""

from __future__ import annotations

from collections.abc import Sequence

from sandbox_service import languages
from sandbox_service.errors import BadRequest, UnsupportedChecker
from sandbox_service.jails import libraries
from sandbox_service.judging import mathematics
from sandbox_service.schema import StdinTest, Submission, TestCase


def check(submission: Submission, tests: Sequence[TestCase]) -> None:
    """Raises BadRequest, or UnsupportedChecker if something is not installed here."""
    if languages.find(submission.language).jail_kind is None:
        _check_text(tests)
    if submission.checker.type == "math":
        _check_mathematics(tests)


def _check_text(tests: Sequence[TestCase]) -> None:
    for index, test in enumerate(tests):
        if not isinstance(test, StdinTest):
            raise BadRequest(f"tests.{index}: a text is no program, so only a test of type stdin can be made of it")
        if test.input:
            raise BadRequest(f"tests.{index}: a text is no program, and has no use for an input")


def _check_mathematics(tests: Sequence[TestCase]) -> None:
    if lacking := libraries.missing():
        raise UnsupportedChecker(f"checker math needs {', '.join(lacking)}, not installed here: {libraries.INSTALL}")
    for index, test in enumerate(tests):
        for output in test.outputs if isinstance(test, StdinTest) else ():
            if (reason := mathematics.refusal(output)) is not None:
                raise BadRequest(f"tests.{index}.output: {reason} cannot be compared as mathematics")
