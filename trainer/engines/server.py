"""One vLLM server over HTTP, which may hang, die and restart without losing or corrupting a sample.

Each worker of a server draws a random name at its start (`proctor_state`). An answer counts only if the workers that
have the synced weights exist after it: a server that was restarted has others, and nothing is sampled until a sync.

Failures show in the requests and, because a hung server closes no connection, in `/health`, which is polled while
requests are in flight.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any, Self, TypeVar

from sandbox_service.client import Peer, errors
from sandbox_service.client.retries import NoAnswerError, Outage, RetryTimer
from trainer.config import Config
from trainer.engines.process import Notice, VllmProcess, check_state
from trainer.engines.vllm_api import HEALTH_TIMEOUT_SECONDS, Answer, RequestFailedError, VllmApi
from trainer.episode import Completion
from trainer.errors import InterruptedGenerationError, StaleWeightsError, TrainerError, UnavailableError

T = TypeVar("T")
State = dict[str, Any]  # of a worker; see vllm_ext

HEALTH_POLL_SECONDS = 2.0  # between requests of /health
PAUSE_SECONDS = 1.0  # between two looks at a server that is away
MOST_DEATHS = 3  # consecutive deaths of a server the trainer starts; 1 if it was never up


class ServerEngine:
    """One server of a `ServerPool`, whose methods it has for itself. Call `open` in the event loop that uses it."""

    def __init__(self, config: Config, url: str, notice: Notice = print, process: VllmProcess | None = None) -> None:
        self._config = config
        self._url = url
        self._notice = notice
        self._process = process  # None: the server is not the trainer's
        self._was_up = False
        self.version = -1  # of the last verified weights
        self.needs_sync = True
        self._is_paused = self._is_asleep = False
        self._workers: tuple[str, ...] = ()
        self._target: tuple[str, ...] = ()  # the workers of the sync in progress
        self._failure: TrainerError | None = None
        self._recovery: asyncio.Task[None] | None = None
        self._gate = asyncio.Event()
        self._gone = asyncio.Event()  # set when the workers are replaced
        self.in_flight = 0  # requests
        self.listeners: list[Callable[[], object]] = []  # called when `is_ready` may have changed
        self._checking = asyncio.Lock()
        self._check: tuple[float, tuple[str, ...]] = (0.0, ())  # when the last one began, and the workers
        self._watch: asyncio.Task[None] | None = None

    async def open(self) -> Self:
        """Return this engine, connected to the server; see `start_engines`."""
        self._api = VllmApi(self._url)
        self._outage = Outage(f"vLLM at {self._api.url}", self._notice)
        self._watch = asyncio.create_task(self._poll_health())
        try:
            self._adopt_workers(await self._wait_until_up("it is not up"))
        except BaseException:
            await self.close()
            raise
        return self

    @property
    def is_away(self) -> bool:
        """Return whether the server does not answer, or may not."""
        return self._recovery is not None

    @property
    def is_ready(self) -> bool:
        """Return whether a sample would start at once, or fail at once because the server does not return."""
        return bool(self._failure) or not (self._recovery or self.needs_sync or self._is_paused)

    async def attempt(self, prompt_ids: Sequence[int], seed: int | None, max_tokens: int) -> Completion:
        """Return a sample of a server that is ready; see `ServerPool.generate`.

        Raises:
            InterruptedGenerationError: The server went away, and its recovery has begun.
        """
        workers = self._workers
        asked = self._api.sample(prompt_ids, seed, max_tokens, self._config, self.version)
        self.in_flight += 1
        try:
            completion = await self._unless_replaced(asked)
            if await self._current_workers() != workers:
                raise InterruptedGenerationError("it was started again")
            await self._verified()  # a sample that ended during a sync counts once the sync is verified
            return replace(completion, last_version=self.version)
        except InterruptedGenerationError as interrupted:
            self._start_recovery(str(interrupted))
            raise
        finally:
            self.in_flight -= 1

    async def score(self, ids: Sequence[int]) -> list[float]:
        return await self._unless_replaced(self._api.score(ids))

    async def sleep(self) -> None:
        """Give the GPU's memory back. The weights are gone as well: the next sync brings newer ones."""
        self.needs_sync = self._is_paused = self._is_asleep = True
        self._move_gate()
        await self._post("/sleep?level=2&mode=keep")

    async def pause(self) -> None:
        self.needs_sync = self._is_paused = True
        self._target = self._workers
        self._move_gate()
        await self._post("/wake_up?tags=weights" if self._is_asleep else "/pause?mode=keep&clear_cache=false")

    async def resume(self) -> None:
        if self._is_asleep:
            await self._post("/wake_up?tags=kv_cache")
            self._is_asleep = False
        if self._config.buffer.in_flight != "keep":
            reset = await self._post("/reset_prefix_cache?reset_running_requests=true")
            if reset.get("success") is False:
                raise StaleWeightsError(f"vLLM at {self._url} did not reset its prefix cache, which is of old weights")
        await self._post("/resume")
        self._is_paused = False

    async def rpc(self, method: str, *arguments: Any) -> list[dict[str, Any]]:
        results = await self._call(method, *arguments)
        if tuple(each["process"] for each in results) != self._target:
            raise InterruptedGenerationError(f"vLLM at {self._url} was started again")
        return results

    async def mark_synced(self, version: int) -> None:
        if self._target == self._workers and not self._is_paused:
            self.version, self.needs_sync = version, False
        self._move_gate()

    async def wait_until_healthy(self) -> None:
        self._start_recovery("it was interrupted")
        if self._recovery:
            await asyncio.shield(self._recovery)
        if self._failure:
            raise self._failure

    async def close(self) -> None:
        for task in filter(None, [self._watch, self._recovery]):
            task.cancel()
            await asyncio.wait([task])
        await self._api.close()
        if self._process:
            await asyncio.to_thread(self._process.end)

    # --- one request

    async def _post(self, path: str) -> Answer:
        return await self._unless_replaced(self._api.post(path))

    async def _call(self, method: str, *arguments: Any) -> list[Answer]:
        try:
            return await self._unless_replaced(self._api.call(method, *arguments))
        except RequestFailedError as error:
            if not await self._api.is_healthy():
                raise InterruptedGenerationError(str(error)) from None
            raise StaleWeightsError(f"vLLM at {self._url} could not do {method}: {error}") from None

    async def _unless_replaced(self, asked: Coroutine[Any, Any, T]) -> T:
        """Return the answer. Raise InterruptedGenerationError if the workers are replaced before it comes."""
        answer, gone = asyncio.ensure_future(asked), asyncio.ensure_future(self._gone.wait())
        try:
            if self._failure:
                raise self._failure
            await asyncio.wait({answer, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                raise InterruptedGenerationError(f"vLLM at {self._url} was restarted")
            return answer.result()
        finally:
            answer.cancel()
            gone.cancel()
            await asyncio.gather(answer, gone, return_exceptions=True)

    # --- health and identity of the workers

    async def _verified(self) -> None:
        """Wait until the weights are verified. Raise InterruptedGenerationError if the server goes away meanwhile."""
        while not self._gate.is_set():  # it may have closed again before this task runs
            await self._gate.wait()
        if self._failure:
            raise self._failure
        if self.needs_sync:
            raise InterruptedGenerationError("it went away during a sync")

    def _move_gate(self) -> None:
        is_decided = self._recovery or self.is_ready  # nobody waits for a server that is away
        (self._gate.set if is_decided else self._gate.clear)()
        for listener in self.listeners:
            listener()

    async def _current_workers(self) -> tuple[str, ...]:
        """Return the workers that exist after this call began. One request serves all calls that wait for it."""
        called = time.monotonic()
        async with self._checking:
            if self._check[0] <= called:
                began, states = time.monotonic(), await self._call("proctor_state")
                self._check = began, tuple(state["process"] for state in states)
        return self._check[1]

    async def _poll_health(self) -> None:
        """Start the recovery of a server that hangs, in which no request fails."""
        while True:
            await asyncio.sleep(HEALTH_POLL_SECONDS)
            if (self.in_flight or self._is_paused) and not self._recovery and not await self._api.is_healthy():
                self._start_recovery(f"no answer for {HEALTH_TIMEOUT_SECONDS:g} s")

    def _start_recovery(self, why: str) -> None:
        if self._recovery or self._failure:
            return
        self._recovery = asyncio.create_task(self._recover(why))
        self._move_gate()

    async def _recover(self, why: str) -> None:
        try:
            self._adopt_workers(await self._wait_until_up(why))
        except TrainerError as error:
            self._failure = error
            self._signal_change()
        finally:
            self._recovery = None
            self._move_gate()

    def _adopt_workers(self, states: Sequence[State]) -> None:
        """Record the workers. New workers need a sync. Raises ConfigError."""
        workers = tuple(state["process"] for state in states)
        if workers == self._workers:
            return
        check_state(states[0], self._config, f"vLLM at {self._url}")
        if self._workers:
            self._notice(f"vLLM at {self._url} was started again and waits for weights")
        self._workers, self.needs_sync, self._is_paused, self._is_asleep = workers, True, False, False
        self._signal_change()

    def _signal_change(self) -> None:
        """Wake all requests that wait for the old workers."""
        self._gone.set()
        self._gone = asyncio.Event()

    # --- waiting for the server

    async def _wait_until_up(self, why: str) -> list[State]:
        """Return the workers' states once the server is healthy; messages say why it is not. Raise UnavailableError."""
        patience = self._config.rollout.patience_seconds
        peer = Peer(self._api.url, patience, name="vLLM", url_setting="", patience_setting="rollout.patience_seconds")
        began, timer, deaths = time.monotonic(), RetryTimer(peer, self._outage), 0
        while isinstance(states := await self._states(why), str):
            why, deaths = states, deaths + self._revive(deaths)
            try:
                await timer.wait(NoAnswerError(why, began, PAUSE_SECONDS))
            except errors.ServiceUnavailableError as away:
                raise UnavailableError(f"{away}. {self._log()}") from None
        timer.reset()
        self._was_up = True
        return states

    async def _states(self, why: str) -> list[State] | str:
        """Return the states of the workers, or why there are none."""
        if not await self._api.is_healthy():
            return why
        try:
            return await self._api.call("proctor_state", seconds=HEALTH_TIMEOUT_SECONDS)
        except (InterruptedGenerationError, RequestFailedError) as error:
            return str(error)

    def _revive(self, deaths: int) -> int:
        """Start the trainer's own server if it is dead; return how often it did. Raise UnavailableError after many."""
        if self._process is None or self._process.is_running:
            return 0
        if deaths >= (MOST_DEATHS if self._was_up else 1):
            raise UnavailableError(f"vLLM died as it started. {self._log()}")
        if self._was_up:
            self._notice(f"vLLM at {self._url} died: starting it again (its log is {self._process.log})")
        self._process.start()
        return 1

    def _log(self) -> str:
        return f"The end of {self._process.log}:\n{self._process.tail()}" if self._process else ""
