"""Judge0's callbacks: sends a result to the URL that a submission named, once it exists.

The service would otherwise open no connection that a client chooses. So an operator lists the hosts that may be called
(`SANDBOX_CALLBACK_HOSTS`); redirects are not followed, and nothing of the answer but its status is read. Results that
cannot be delivered are dropped: they can still be asked for.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from sandbox_service.api.compat.judge0_config import CALLBACK_SECONDS, CALLBACK_TRIES
from sandbox_service.errors import ProctorError

PAUSE_SECONDS = 1.0
MOST_WAITING = 10_000
DELIVERED = range(200, 300)

log = logging.getLogger(__name__)


class Callbacks:
    """Deliveries of one process.

    Args:
        hosts: Hosts that may be called, as `name` or `name:port`.
    """

    def __init__(self, hosts: tuple[str, ...]) -> None:
        self._hosts = frozenset(host.lower() for host in hosts)
        self._tasks: set[asyncio.Task[None]] = set()
        if hosts:  # its import takes 0.2 s, now and not in the event loop; most services make no callbacks
            import_module("aiohttp")

    def refusal(self, url: str) -> str | None:
        """Return why a URL may not be called, or None if it may.

        Args:
            url: The URL.
        """
        if not self._hosts:
            return "callbacks are off: the operator lists hosts in SANDBOX_CALLBACK_HOSTS"
        try:
            parts = urlsplit(url)
            place = f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname or ""
        except ValueError as error:
            return f"is no URL: {error}"
        if parts.scheme not in ("http", "https"):
            return "should be an http or https URL"
        if not {place, parts.hostname} & self._hosts:
            return f"{place[:80]} is not one of the hosts in SANDBOX_CALLBACK_HOSTS"
        return "too many callbacks are waiting; ask for the result" if len(self._tasks) >= MOST_WAITING else None

    def send(self, url: str, answer: Callable[[], Awaitable[dict[str, Any]]]) -> None:
        """Deliver an answer when it exists.

        Args:
            url: The URL, which `refusal` allows.
            answer: Waits for the answer and returns it.
        """
        task = asyncio.ensure_future(_deliver(url, answer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _deliver(url: str, answer: Callable[[], Awaitable[dict[str, Any]]]) -> None:
    try:
        body = await answer()
    except ProctorError as error:
        log.warning("callback_given_up", extra={"reason": str(error)})
        return
    import aiohttp

    for tried in range(CALLBACK_TRIES):
        try:
            if await _put(url, body) in DELIVERED:
                return
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            log.info("callback_failed", extra={"reason": f"{type(error).__name__}: {error}"[:200]})
        if tried < CALLBACK_TRIES - 1:
            await asyncio.sleep(PAUSE_SECONDS)
    log.warning("callback_given_up", extra={"reason": f"{body['token']} after {CALLBACK_TRIES} tries"})


async def _put(url: str, body: dict[str, Any]) -> int:
    import aiohttp

    timeout = aiohttp.ClientTimeout(total=CALLBACK_SECONDS)
    async with (
        aiohttp.ClientSession(timeout=timeout) as session,
        session.put(url, json=body, allow_redirects=False) as response,
    ):
        return response.status
