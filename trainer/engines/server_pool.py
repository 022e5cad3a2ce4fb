"""One or several vLLM servers as an engine.

A sample goes to the least loaded server, and to another one if that one fails meanwhile: servers that live have the
same weights. A server that is away is left out of a sync. When it is back it gets the current weights alone, while the
others go on.
"""

import asyncio
import time
from collections.abc import Sequence
from typing import Any

from trainer.engines.server import ServerEngine
from trainer.episode import Completion
from trainer.errors import InterruptedGenerationError, UnavailableError

PAUSE_SECONDS = 0.5  # before an interrupted sample is begun again


class ServerPool:
    """An engine: servers with the same weights, with at most `concurrency` requests in flight, in one event loop.

    Samples come from verified weights only: `generate` waits for a sync. `generate` and `wait_until_healthy` raise
    UnavailableError when vLLM is unavailable for longer than `patience_seconds`; all others raise
    InterruptedGenerationError when it becomes unavailable.
    """

    def __init__(
        self, servers: Sequence[ServerEngine], patience_seconds: float = 600.0, concurrency: int = 1024
    ) -> None:
        self._servers = servers
        self._targets = servers  # of the sync in progress
        self._patience = patience_seconds
        self._room = asyncio.Semaphore(concurrency)
        self._changed = asyncio.Event()  # a server may be ready now
        for server in servers:
            server.listeners.append(self._changed.set)

    @property
    def needs_sync(self) -> bool:
        """Return whether the engine waits for weights."""
        return any(server.needs_sync and not server.is_away for server in self._servers)

    async def generate(self, prompt_ids: Sequence[int], seed: int | None, max_tokens: int) -> Completion:
        """Return a complete response, also if vLLM restarts meanwhile.

        Args:
            prompt_ids: The prompt's token ids.
            seed: The seed of the sample.
            max_tokens: The most tokens of the response.

        Raises:
            UnavailableError: vLLM is up and returns no sample for twice `patience_seconds`.
        """
        failed_since = 0.0
        async with self._room:
            while True:
                while not (ready := [each for each in self._servers if each.is_ready]):
                    self._changed.clear()
                    await self._changed.wait()
                try:
                    least = min(ready, key=lambda each: each.in_flight)
                    return await least.attempt(prompt_ids, seed, max_tokens)
                except InterruptedGenerationError as interrupted:
                    failed_since = failed_since or time.monotonic()
                    if time.monotonic() - failed_since > 2 * self._patience:  # an absent vLLM is reported earlier
                        raise UnavailableError(f"vLLM is up but returns no sample: {interrupted}") from None
                await asyncio.sleep(PAUSE_SECONDS)

    async def score(self, ids: Sequence[int]) -> list[list[float]]:
        """Return all log-probabilities but the first token's (ids [n]), at temperature 1, by each vLLM."""
        return await _all([server.score(ids) for server in self._targets])

    async def sleep(self) -> None:
        """Give memory back until the next `pause`; only if `rollout.turns`, and without requests in flight."""
        await _all([_put_to_sleep(server) for server in self._servers])

    async def pause(self, version: int) -> None:
        """Pause servers that have another version, until a sync to it. Requests in flight are kept."""
        lacking = [each for each in self._servers if each.needs_sync or each.version != version]
        self._targets = [each for each in lacking if not each.is_away] or lacking
        await _all([server.pause() for server in self._targets])

    async def resume(self) -> None:
        """Continue, with a reset KV cache unless `buffer.in_flight` is "keep"."""
        await _all([server.resume() for server in self._targets])

    async def rpc(self, method: str, *arguments: Any) -> list[dict[str, Any]]:
        """Return each worker's result of a method of vllm_ext.Extension; StaleWeightsError if the method failed."""
        answers = await _all([server.rpc(method, *arguments) for server in self._targets])
        return [each for answer in answers for each in answer]

    async def mark_synced(self, version: int) -> None:
        """Declare weights of a version verified and open the engine for samples."""
        for server in self._targets:
            await server.mark_synced(version)

    async def wait_until_healthy(self) -> None:
        """Wait for the first of the servers that lack weights. The others get theirs when they are back."""
        waiting = [asyncio.create_task(server.wait_until_healthy()) for server in self._targets]
        done, rest = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for each in rest:
            each.cancel()
        await _all([*done])

    async def close(self) -> None:
        await _all([server.close() for server in self._servers])


async def _put_to_sleep(server: ServerEngine) -> None:
    while True:
        try:
            return await server.sleep()
        except InterruptedGenerationError:  # it is started again, and awake
            await server.wait_until_healthy()


async def _all(work: Sequence[Any]) -> list[Any]:
    """Wait for all, then raise the first exception, so that nothing keeps running."""
    results = await asyncio.gather(*work, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return list(results)
