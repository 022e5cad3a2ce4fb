"""Several vLLM servers as one: a sample goes to the one that has the least to do."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from trainer.engines.base import Engine
from trainer.engines.server import ServerEngine
from trainer.episode import Completion


class Servers:
    """See Engine. All of them have the same weights: a sync is of all."""

    def __init__(self, servers: Sequence[ServerEngine]) -> None:
        self._servers = servers

    @property
    def version(self) -> int:
        return min(server.version for server in self._servers)

    @property
    def needs_sync(self) -> bool:
        return any(server.needs_sync for server in self._servers)

    @property
    def parts(self) -> Sequence[Engine]:
        return self._servers

    async def generate(self, prompt_ids: Sequence[int], seed: int | None, max_tokens: int) -> Completion:
        best = min(self._servers, key=lambda each: (not each.is_ready, each.asked))
        return await best.generate(prompt_ids, seed, max_tokens)

    async def score(self, ids: Sequence[int]) -> list[float]:
        """By the first of them: see `parts`."""
        return await self._servers[0].score(ids)

    async def pause(self) -> None:
        await _all([server.pause() for server in self._servers])

    async def resume(self) -> None:
        await _all([server.resume() for server in self._servers])

    async def rpc(self, method: str, *arguments: Any) -> list[dict[str, Any]]:
        answers = await _all([server.rpc(method, *arguments) for server in self._servers])
        return [each for answer in answers for each in answer]

    def synced(self, version: int) -> None:
        for server in self._servers:
            server.synced(version)

    async def settle(self) -> None:
        await _all([server.settle() for server in self._servers])

    async def close(self) -> None:
        await _all([server.close() for server in self._servers])


async def _all(work: Sequence[Any]) -> list[Any]:
    """All of it to its end, then the first trouble: nothing is left running behind our back."""
    results = await asyncio.gather(*work, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return list(results)
