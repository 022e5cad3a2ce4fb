"""The judges of `validate` and `strengthen`: the slots of this machine, or a service.

Both use the grader that pays the reward.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from pydantic import ValidationError

from sandbox_service.client import AsyncClient, Peer, ServiceUnavailableError
from sandbox_service.client.asynchronous import KEY_VARIABLE
from sandbox_service.commands.local_grading import LocalGrader, admitted, local_grader
from sandbox_service.errors import BadRequestError, UnavailableError
from sandbox_service.errors.fields import describe
from sandbox_service.schema import Grade
from sandbox_service.settings import Settings
from sandbox_service.validation.judge import Fields, Judge, RetryingJudge

DISPLAY_BYTES = 64 << 10  # of an output, for trying other checkers
FIRST_PATIENCE_SECONDS = 30.0  # as `proctor grade` waits
PATIENCE_SECONDS = 120.0  # with a service, at each try


@asynccontextmanager
async def local_judge(settings: Settings) -> AsyncIterator[Judge]:
    """Yield a judge on this machine, with the queue and the slots of a service.

    Raises:
        UnavailableError: No sandbox could be started.
    """
    settings = settings.model_copy(update={"display_bytes": DISPLAY_BYTES, "cache_seconds": 0.0})
    async with local_grader(settings) as grader:
        yield RetryingJudge(_LocalJudge(settings, grader))


@asynccontextmanager
async def remote_judge(url: str) -> AsyncIterator[Judge]:
    """Yield a judge that sends submissions to a service.

    Args:
        url: Base address of the service.

    Raises:
        BadRequestError: `url` is not an address.
        UnavailableError: No service answers there.
    """
    await _check_presence(url)
    async with AsyncClient(url, patience_seconds=PATIENCE_SECONDS) as client:
        yield RetryingJudge(_RemoteJudge(client))


async def _check_presence(url: str) -> None:
    """Return when a service answers. Later, while problems are judged, it may be away for much longer.

    Raises:
        UnavailableError: None has answered after a short wait: the address may be wrong.
    """
    peer = Peer(url, FIRST_PATIENCE_SECONDS, KEY_VARIABLE, url_setting="--url", patience_setting="")
    try:
        async with AsyncClient(peer) as client:
            await client.languages()
    except ServiceUnavailableError as unavailable:
        raise UnavailableError(f"{unavailable}; is the service running? (proctor serve)") from None


class _LocalJudge:
    def __init__(self, settings: Settings, grader: LocalGrader) -> None:
        self._settings = settings
        self._grader = grader

    async def grade(self, shared: Fields, submissions: Sequence[Fields]) -> list[Grade]:
        try:
            jobs = await admitted(self._settings, _body(shared, submissions))
        except ValidationError as error:
            raise BadRequestError(describe(error)) from None
        return await self._grader.grade_all(jobs)


class _RemoteJudge:
    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def grade(self, shared: Fields, submissions: Sequence[Fields]) -> list[Grade]:
        return await self._client.grade_many(submissions, defaults=shared)


def _body(shared: Fields, submissions: Sequence[Fields]) -> bytes:
    """Return the body of a batch request. Each submission gets a new id, because an id is an idempotency key."""
    named = [{**each, "id": secrets.token_hex(12)} for each in submissions]
    return json.dumps({"defaults": shared, "submissions": named}).encode()
