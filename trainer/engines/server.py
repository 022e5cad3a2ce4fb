"""One vLLM server, over HTTP: it may stop, die and come back, and no sample is lost or wrong for it.

Each worker of a server has a name that it makes up when it starts (`proctor_state`). We know the names of those that
have our weights. An answer counts only if the same workers are still there after it: a server that was started again
in between has other names and the weights of its model's folder. Then nothing is sampled until it was synced.

Whether the server is there is told by the requests themselves and, because one that hangs ends no connection, by a
look at `/health` every few seconds while something is asked of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from trainer.engines.asking import Shared, Trouble, let_go_of
from trainer.engines.base import Engine, Interrupted, Notice, Sampling, check_state
from trainer.engines.door import WELL_SECONDS, Answer, Door, Failed
from trainer.engines.presence import Presence, State
from trainer.engines.process import VllmProcess
from trainer.engines.wire import ENDS, sample_of, sample_request, score_request, scores_of
from trainer.episode import Completion
from trainer.errors import StaleWeights, TrainerError

LOOK_SECONDS = 2.0  # between looks at /health


class ServerEngine:
    """See Engine. Use `open`, in the event loop that it is for."""

    def __init__(
        self,
        url: str,
        sampling: Sampling,
        notice: Notice = print,
        patience_seconds: float = 600.0,
        concurrency: int = 1024,
        process: VllmProcess | None = None,
    ) -> None:
        """`process`: what serves at that URL, if we start it."""
        self._url = url
        self._sampling = sampling
        self._notice = notice
        self._patience = patience_seconds
        self._process = process
        self._version = -1
        self._is_stale = True
        self._is_paused = False
        self._workers: tuple[str, ...] = ()
        self._target: tuple[str, ...] = ()  # the workers that a sync is for
        self._failure: TrainerError | None = None
        self._recovery: asyncio.Task[None] | None = None
        self._gate = asyncio.Event()
        self._gone = asyncio.Event()  # the workers that a request was sent to are not there any more
        self._room = asyncio.Semaphore(concurrency)
        self._asked = 0
        self._checks = Shared(self._look_at_workers)
        self._watch: asyncio.Task[None] | None = None

    async def open(self) -> ServerEngine:
        """Meet the server. Raises Away if it does not come, ConfigError if it was not started as we need it."""
        self._door = Door(self._url)
        self._presence = Presence(self._door, self._notice, self._patience, self._process)
        self._watch = asyncio.create_task(self._look_now_and_then())
        try:
            self._meet(await self._presence.wait("it is not up"))
        except BaseException:
            await self.close()
            raise
        return self

    @property
    def version(self) -> int:
        return self._version

    @property
    def needs_sync(self) -> bool:
        return self._is_stale

    @property
    def parts(self) -> Sequence[Engine]:
        return (self,)

    @property
    def is_ready(self) -> bool:
        """Whether a sample would begin at once."""
        return self._gate.is_set()

    @property
    def asked(self) -> int:
        """How many requests are on their way, or wait to be."""
        return self._asked

    async def generate(self, prompt_ids: Sequence[int], seed: int | None, max_tokens: int) -> Completion:
        request = sample_request(prompt_ids, seed, max_tokens, self._sampling)
        trouble = Trouble(self._patience)
        with self._counted():
            async with self._room:
                while (completion := await self._try(request, trouble)) is None:
                    await trouble.rest()
                return completion

    async def _try(self, request: dict[str, Any], trouble: Trouble) -> Completion | None:
        """A sample, if vLLM ended it as the model would, and is the same vLLM still."""
        await self._ready()
        version, workers = self._version, self._workers
        try:
            sample = sample_of(await self._post("/v1/completions", request))
            if await self._checks() != workers:
                raise Interrupted("it was started again")
        except Interrupted as interrupted:
            trouble.note(str(interrupted))
            self._lose(str(interrupted))
            return None
        if sample.end not in ENDS:
            trouble.note(f"a sample ended by {sample.end!r}")
            return None
        await self._ready()  # what ended during a sync counts when that was verified
        return Completion(sample.ids, sample.logprobs, sample.text, sample.end == "length", version, self._version)

    async def score(self, ids: Sequence[int]) -> list[float]:
        return scores_of(await self._post("/v1/completions", score_request(ids)), ids)

    async def pause(self) -> None:
        self._is_stale = self._is_paused = True
        self._target = self._workers
        self._move_gate()
        await self._post("/pause?mode=keep&clear_cache=false")

    async def resume(self) -> None:
        """With requests in flight the cache can only be reset if they compute theirs again: so they do."""
        reset = await self._post("/reset_prefix_cache?reset_running_requests=true")
        if reset.get("success") is False:
            raise StaleWeights(f"vLLM at {self._url} did not reset its cache: it holds what other weights computed")
        await self._post("/resume")
        self._is_paused = False

    async def rpc(self, method: str, *arguments: Any) -> list[dict[str, Any]]:
        results = await self._call(method, *arguments)
        if tuple(each["process"] for each in results) != self._target:
            raise Interrupted(f"vLLM at {self._url} was started again")
        return results

    def synced(self, version: int) -> None:
        if self._target == self._workers and not self._is_paused:
            self._version, self._is_stale = version, False
        self._move_gate()

    async def settle(self) -> None:
        self._lose("it was interrupted")
        if self._recovery:
            await asyncio.shield(self._recovery)
        if self._failure:
            raise self._failure

    async def close(self) -> None:
        for task in filter(None, [self._watch, self._recovery]):
            task.cancel()
            await asyncio.wait([task])
        await self._checks.close()
        await self._door.close()
        if self._process:
            await asyncio.to_thread(self._process.end)

    # --- one request

    async def _post(self, path: str, body: Answer | None = None) -> Answer:
        answer: Answer = await self._or_gone(self._door.post(path, body))
        return answer

    async def _call(self, method: str, *arguments: Any) -> list[Answer]:
        try:
            answers: list[Answer] = await self._or_gone(self._door.call(method, *arguments))
        except Failed as trouble:
            if not await self._door.is_well():
                raise Interrupted(str(trouble)) from None
            raise StaleWeights(f"vLLM at {self._url} could not do {method}: {trouble}") from None
        return answers

    async def _or_gone(self, asked: Any) -> Any:
        """What is answered, or Interrupted: also when those who were asked are gone though the connection is not."""
        async with let_go_of(asked, self._gone.wait()) as (answer, gone):
            if self._failure:
                raise self._failure
            await asyncio.wait({answer, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                raise Interrupted(f"vLLM at {self._url} is not what it was")
            return answer.result()

    @contextmanager
    def _counted(self) -> Iterator[None]:
        self._asked += 1
        try:
            yield
        finally:
            self._asked -= 1

    # --- is it there, and is it the one we know

    async def _ready(self) -> None:
        """Wait until a sample would be of verified weights. Raises Away."""
        while not self._gate.is_set():
            await self._gate.wait()
        if self._failure:
            raise self._failure

    def _move_gate(self) -> None:
        is_open = self._failure or not (self._recovery or self._is_stale or self._is_paused)
        (self._gate.set if is_open else self._gate.clear)()

    async def _look_at_workers(self) -> tuple[str, ...]:
        return tuple(state["process"] for state in await self._call("proctor_state"))

    async def _look_now_and_then(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if (self._asked or self._is_paused) and not self._recovery and not await self._door.is_well():
                self._lose(f"no answer for {WELL_SECONDS:g} s")

    def _lose(self, why: str) -> None:
        """It is not there, or another one is: nothing is asked until we know."""
        if self._recovery or self._failure:
            return
        self._recovery = asyncio.create_task(self._recover(why))
        self._move_gate()

    async def _recover(self, why: str) -> None:
        try:
            self._meet(await self._presence.wait(why))
        except TrainerError as trouble:
            self._failure = trouble
            self._change()
        finally:
            self._recovery = None
            self._move_gate()

    def _meet(self, states: Sequence[State]) -> None:
        """If others are there than we knew, they need our weights. Raises ConfigError."""
        workers = tuple(state["process"] for state in states)
        if workers == self._workers:
            return
        check_state(states[0], self._sampling, f"vLLM at {self._url}")
        if self._workers:
            self._notice(f"vLLM at {self._url} was started again: it waits for weights")
        self._workers, self._is_stale, self._is_paused = workers, True, False
        self._change()

    def _change(self) -> None:
        """Whoever waits for an answer need not."""
        self._gone.set()
        self._gone = asyncio.Event()
