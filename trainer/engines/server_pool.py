"""One or several vLLM servers as an engine.

A sample goes to the least loaded server, and to another one if that one fails meanwhile: servers that live have the
same weights. A server that was restarted gets the current weights alone, while the others go on.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

from trainer.engines.server import ServerEngine
from trainer.episode import Completion
from trainer.errors import InterruptedGenerationError, UnavailableError

PAUSE_SECONDS = 0.5  # before an interrupted sample is begun again; it then waits for a server with verified weights


class ServerPool:
    """An Engine over servers with the same weights."""

    def __init__(self, servers: Sequence[ServerEngine], patience_seconds: float = 600.0) -> None:
        self._servers = servers
        self._targets = servers  # of the sync in progress
        self._patience = patience_seconds

    @property
    def needs_sync(self) -> bool:
        return any(server.needs_sync for server in self._servers)

    async def generate(self, prompt_ids: Sequence[int], seed: int | None, max_tokens: int) -> Completion:
        failed_since = 0.0
        while True:
            try:
                return await self._best().attempt(prompt_ids, seed, max_tokens)
            except InterruptedGenerationError as interrupted:
                failed_since = failed_since or time.monotonic()
                if time.monotonic() - failed_since > 2 * self._patience:  # an absent vLLM is reported earlier
                    raise UnavailableError(f"vLLM is up but returns no sample: {interrupted}") from None
            await asyncio.sleep(PAUSE_SECONDS)

    def _best(self) -> ServerEngine:
        return min(self._servers, key=lambda each: (not each.is_ready, each.in_flight))

    async def score(self, ids: Sequence[int]) -> list[list[float]]:
        return await _all([server.score(ids) for server in self._targets])

    async def sleep(self) -> None:
        await _all([server.sleep() for server in self._servers])

    async def pause(self, version: int) -> None:
        self._targets = [each for each in self._servers if each.needs_sync or each.version != version]
        await _all([server.pause() for server in self._targets])

    async def resume(self) -> None:
        await _all([server.resume() for server in self._targets])

    async def rpc(self, method: str, *arguments: Any) -> list[dict[str, Any]]:
        answers = await _all([server.rpc(method, *arguments) for server in self._targets])
        return [each for answer in answers for each in answer]

    async def mark_synced(self, version: int) -> None:
        for server in self._targets:
            await server.mark_synced(version)

    async def wait_until_healthy(self) -> None:
        await _all([server.wait_until_healthy() for server in self._targets])

    async def close(self) -> None:
        await _all([server.close() for server in self._servers])


async def _all(work: Sequence[Any]) -> list[Any]:
    """Wait for all, then raise the first exception, so that nothing keeps running."""
    results = await asyncio.gather(*work, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return list(results)
