"""From a request's bytes to submissions that may be queued: parsed, given an id, and within what is allowed here."""

from __future__ import annotations

import math
import uuid
from typing import Any

from pydantic import TypeAdapter, ValidationError

from sandbox_service import languages
from sandbox_service.errors import BadRequest, LimitTooHigh
from sandbox_service.schema import BatchRequest, Limits, Submission, TestCase
from sandbox_service.settings import Settings

_TESTS = TypeAdapter(list[TestCase])


def one(body: bytes, settings: Settings) -> Submission:
    """A single submission. Raises ValidationError, BadRequest."""
    return _admit(Submission.model_validate_json(body), settings)


def many(body: bytes, settings: Settings) -> list[Submission]:
    """A batch's submissions, completed by its defaults. Raises ValidationError, BadRequest naming which is wrong."""
    batch = BatchRequest.model_validate_json(body)
    if len(batch.submissions) > settings.max_batch:
        raise BadRequest(f"{len(batch.submissions)} submissions in one batch, the most is {settings.max_batch}")
    defaults = _once(batch.defaults)
    found = [_merged(index, defaults, given, settings) for index, given in enumerate(batch.submissions)]
    ids = {submission.id for submission in found}
    if len(ids) < len(found):
        raise BadRequest("two submissions of a batch have the same id")
    return found


def _once(defaults: dict[str, Any]) -> dict[str, Any]:
    """Defaults with their tests validated, so that a group's tests are not validated again for each of its members."""
    if "tests" not in defaults:
        return defaults
    try:
        return defaults | {"tests": _TESTS.validate_python(defaults["tests"])}
    except ValidationError as error:
        raise BadRequest("defaults: " + describe(error, ("tests",))) from None


def _merged(index: int, defaults: dict[str, Any], given: dict[str, Any], settings: Settings) -> Submission:
    try:
        return _admit(Submission.model_validate(defaults | given), settings)
    except ValidationError as error:
        raise BadRequest(f"submissions[{index}]: {describe(error)}") from None
    except BadRequest as error:
        raise type(error)(f"submissions[{index}]: {error}") from None


def _admit(submission: Submission, settings: Settings) -> Submission:
    languages.find(submission.language)
    _check_limits(submission.limits, settings)
    if len(submission.tests) > settings.max_tests:
        raise LimitTooHigh(f"{len(submission.tests)} tests, the most is {settings.max_tests} (SANDBOX_MAX_TESTS)")
    return submission if submission.id else submission.model_copy(update={"id": uuid.uuid4().hex})


def _check_limits(limits: Limits, settings: Settings) -> None:
    for name in ("cpu_seconds", "memory_bytes", "output_bytes", "processes"):
        asked, most = getattr(limits, name), getattr(settings, f"max_{name}")
        if not math.isfinite(asked) or asked > most:
            raise LimitTooHigh(f"limits.{name} is {asked:g}, the most is {most:g} (SANDBOX_MAX_{name.upper()})")
    if limits.wall > settings.max_wall_seconds:
        most = settings.max_wall_seconds
        raise LimitTooHigh(f"limits.wall_seconds is {limits.wall:g}, the most is {most:g} (SANDBOX_MAX_WALL_SECONDS)")


def describe(error: ValidationError, within: tuple[str, ...] = ()) -> str:
    """What is wrong, field by field, in one line, without the values: they may be large, or secret."""
    shown = error.errors(include_url=False, include_context=False, include_input=False)[:8]
    parts = [f"{'.'.join(map(str, (*within, *each['loc']))) or 'body'}: {each['msg']}" for each in shown]
    more = error.error_count() - len(shown)
    return "; ".join(parts) + (f"; and {more} more" if more > 0 else "")
