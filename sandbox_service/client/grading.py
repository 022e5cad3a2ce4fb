"""The service's word on one submission: tests are put there when they are missing, what it lost is sent again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from sandbox_service.client.answers import LOST, given_up, grade_of, reason_of
from sandbox_service.client.errors import Refused
from sandbox_service.client.plain import encoded
from sandbox_service.client.service import Answer, Service, kind_of, pauses, said
from sandbox_service.client.suites import Suite, Suites
from sandbox_service.schema import Grade

TRIES = 5  # at what the service lost or failed at, before the submission counts as a fault


async def grade(service: Service, suites: Suites, fields: Mapping[str, Any], suite: Suite | None, name: str) -> Grade:
    """The grade of a submission; `suite` has its tests if it names a suite. Raises what Service raises.

    `name` is what it is called in messages.
    """
    reason, body = "", encoded(fields)
    for pause in pauses(TRIES):
        puts = suites.puts(suite.id) if suite else 0
        status, answer = await service.ask("POST", "/v1/grade", body)
        if status == 200 and (found := _grade(service, answer)).failure_kind not in LOST:
            return found
        if status not in (200, 500) and not is_unknown_suite(status, answer):
            raise service.refusal(status, answer, name)
        reason = reason_of(found) if status == 200 else said(status, answer)
        if status == 500 or (status == 200 and found.failure_kind == "forgotten") or fields.get("tests"):
            await asyncio.sleep(pause)
        elif suite is None:
            raise not_known(service, str(fields.get("suite")), name)
        else:
            await put(service, suites, suite, f"the tests of {name}", puts)
    return given_up(str(fields["id"]), reason)


async def put(service: Service, suites: Suites, suite: Suite, what: str, puts: int = 0) -> None:
    """Store tests, if nobody else has since there had been so many puts of them."""
    async with suites.lock(suite.id):
        if suites.puts(suite.id) > puts:
            return
        status, answer = await service.ask("PUT", f"/v1/suites/{suite.id}", suite.body)
        if status not in (200, 201):
            raise service.refusal(status, answer, what)
        suites.count_put(suite.id)


def is_unknown_suite(status: int, answer: Answer) -> bool:
    """Whether it would do to put it."""
    return status == 409 and kind_of(answer) == "unknown_suite"


def not_known(service: Service, suite_id: str, name: str) -> Refused:
    """For a suite that is only named."""
    return Refused(
        f"{name}: the {service.peer.name} at {service.url} does not know its suite {suite_id}: "
        "put it there, or give the tests themselves",
        409,
        "unknown_suite",
    )


def _grade(service: Service, answer: Answer) -> Grade:
    found = grade_of(encoded(answer))
    if found is None:
        raise service.stranger(json.dumps(answer)[:200])
    return found
