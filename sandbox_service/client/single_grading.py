"""Grades one submission: uploads its suite if it is missing, and sends the submission again if the service lost it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from sandbox_service.client.errors import RefusedError
from sandbox_service.client.grade_decoding import LOST, given_up, grade_of, reason_of
from sandbox_service.client.json_encoding import encoded
from sandbox_service.client.retries import pauses
from sandbox_service.client.suites import Suite, SuiteCache
from sandbox_service.client.transport import Answer, HttpTransport, describe_error, error_type
from sandbox_service.schema import FailureKind, Grade

TRIES = 5  # for a submission that the service lost or failed to grade


async def grade(
    transport: HttpTransport, suites: SuiteCache, fields: Mapping[str, Any], suite: Suite | None, name: str
) -> Grade:
    """Return the grade of a submission.

    Args:
        transport: The service.
        suites: The client's cache of suites.
        fields: The submission's fields.
        suite: The suite that the submission names, if its tests are known.
        name: The submission's name in messages.

    Raises:
        RefusedError: The service refuses the submission, or does not know its suite.
        ServiceUnavailableError: The service is unavailable for too long.
        NotProctorError: The answer is not a grade.
    """  # noqa: DOC501 - `not_known` returns a RefusedError
    reason, body = "", encoded(fields)
    for pause in pauses(TRIES):
        puts = suites.puts(suite.id) if suite else 0
        status, answer = await transport.ask("POST", "/v1/grade", body)
        if status == 200 and (found := _grade(transport, answer, fields["id"])).failure_kind not in LOST:
            return found
        if status not in (200, 500) and not is_unknown_suite(status, answer):
            raise transport.refusal(status, answer, name)
        reason = reason_of(found) if status == 200 else describe_error(status, answer)
        if status == 500 or (status == 200 and found.failure_kind == FailureKind.FORGOTTEN) or fields.get("tests"):
            await asyncio.sleep(pause)
        elif suite is None:
            raise not_known(transport, str(fields.get("suite")), name)
        else:
            await put(transport, suites, suite, f"the tests of {name}", puts)
    return given_up(str(fields["id"]), reason)


async def put(transport: HttpTransport, suites: SuiteCache, suite: Suite, what: str, puts: int = 0) -> None:
    """Upload a suite, unless another task has done so since the caller read the count of uploads.

    Args:
        transport: The service.
        suites: The client's cache of suites.
        suite: The suite.
        what: Its name in messages.
        puts: The count of uploads of this suite that the caller knows of.
    """
    async with suites.lock(suite.id):
        if suites.puts(suite.id) > puts:
            return
        status, answer = await transport.ask("PUT", f"/v1/suites/{suite.id}", suite.body)
        if status not in (200, 201):
            raise transport.refusal(status, answer, what)
        suites.count_put(suite.id)


def is_unknown_suite(status: int, answer: Answer) -> bool:
    """Return True if status and answer are the error that an upload of the suite would fix."""
    return status == 409 and error_type(answer) == "unknown_suite"


def not_known(transport: HttpTransport, suite_id: str, name: str) -> RefusedError:
    """Return the error for a suite that the service does not know and whose tests the client does not have.

    Args:
        transport: The service's connection.
        suite_id: The suite.
        name: The submission that names it.
    """
    return RefusedError(
        f"{name}: the {transport.peer.name} at {transport.url} does not know its suite {suite_id}: "
        "upload the suite, or send the tests themselves",
        409,
        "unknown_suite",
    )


def _grade(transport: HttpTransport, answer: Answer, submission_id: object) -> Grade:
    found = grade_of(encoded(answer))
    if found is None:
        raise transport.stranger(json.dumps(answer)[:200])
    if found.id != submission_id:  # a proxy that mixes up or keeps answers
        raise transport.stranger("it answered for a submission that was not sent")
    return found
