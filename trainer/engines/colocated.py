"""vLLM in this process, for one GPU or none: its weights are set without leaving it.

vLLM is made and driven by one thread; whatever is asked of it is a call put into that thread's queue. While there is
something to sample the thread steps the engine, and a sample is given to whoever waits the moment it is finished. On
a GPU this was not run here: what vLLM does not take (`rollout.gpu_memory`) is the trainer's.

vLLM takes the default process group of torch.distributed if there is one, and else makes it: of one process.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import queue
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from trainer.config import Config
from trainer.engines.base import Engine, Sampling, check_state
from trainer.engines.environment import defaults, has_gpu
from trainer.engines.wire import ENDS, WHOLE_DISTRIBUTION, Sample
from trainer.episode import Completion
from trainer.errors import StaleWeights, TrainerError

T = TypeVar("T")


class ColocatedEngine:
    """See Engine. Use `open`, in the event loop that it is for. One in a process."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._sampling = Sampling.of(config)
        self._version = -1
        self._is_stale = True
        self._verified = asyncio.Event()
        self._room = asyncio.Semaphore(config.rollout.concurrency)
        self._driver = _Driver(lambda: _vllm(config, self._sampling))

    async def open(self) -> ColocatedEngine:
        """Load the model. Raises ConfigError."""
        (state,) = await self.rpc("proctor_state")
        check_state(state, self._sampling, "vLLM")
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

    async def generate(self, prompt_ids: Sequence[int], seed: int | None, max_tokens: int) -> Completion:
        more = {"max_tokens": self._sampling.tokens_after(len(prompt_ids), max_tokens), "seed": seed, "logprobs": 0}
        async with self._room:
            while True:
                await self._verified.wait()
                version = self._version
                sample = _sample_of(await self._driver.sample(prompt_ids, self._sampling.temperature, more))
                await self._verified.wait()
                if sample.end in ENDS:
                    is_truncated = sample.end == "length"
                    return Completion(sample.ids, sample.logprobs, sample.text, is_truncated, version, self._version)

    async def score(self, ids: Sequence[int]) -> list[float]:
        output = await self._driver.sample(ids, 1.0, {"max_tokens": 1, "prompt_logprobs": 0})
        return [float(at[token].logprob) for token, at in zip(ids[1:], output.prompt_logprobs[1:], strict=True)]

    async def pause(self) -> None:
        self._is_stale = True
        self._verified.clear()
        await self._driver.hold(True)

    async def resume(self) -> None:
        """Requests in flight compute theirs again, or the cache could not be reset."""
        if not await self._driver.do(lambda llm: llm.reset_prefix_cache(reset_running_requests=True)):
            raise StaleWeights("vLLM did not reset its cache: it holds what other weights computed")
        await self._driver.hold(False)

    async def rpc(self, method: str, *arguments: Any) -> list[dict[str, Any]]:
        results: list[dict[str, Any]] = await self._driver.do(lambda llm: llm.collective_rpc(method, args=arguments))
        for result in results:
            if "error" in result:
                raise StaleWeights(f"vLLM could not do {method}: {result['error']}")
        return results

    def synced(self, version: int) -> None:
        self._version, self._is_stale = version, False
        self._verified.set()

    async def settle(self) -> None:
        """It is never away."""

    async def close(self) -> None:
        await asyncio.to_thread(self._driver.close)


class _Driver:
    """The thread that vLLM lives in."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._calls: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._samples: dict[str, Future[Any]] = {}
        self._names = itertools.count()
        self._held = False
        self._llm: Any = None
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="vllm")
        self._life = self._executor.submit(self._live, make)
        self._end: asyncio.Future[None] | None = None  # the same, for the event loop

    async def do(self, call: Callable[[Any], T]) -> T:
        """Call it with vLLM between two steps."""
        answer: Future[T] = Future()
        self._calls.put(lambda: _settle(answer, lambda: call(self._llm)))
        return await self._or_its_end(answer)

    async def sample(self, ids: Sequence[int], temperature: float, more: dict[str, Any]) -> Any:
        """A finished RequestOutput. If nobody waits for it any more it is not finished."""
        name, finished = f"sample-{next(self._names)}", Future[Any]()
        await self.do(lambda llm: self._add(llm, name, finished, list(ids), temperature, more))
        try:
            return await self._or_its_end(finished)
        finally:
            if not finished.done():
                self._calls.put(lambda: self._drop(name))

    async def hold(self, held: bool) -> None:
        """Step no more, or again."""

        def change(_: Any) -> None:
            self._held = held

        await self.do(change)

    def close(self) -> None:
        """End the thread and let go of vLLM."""
        self._calls.put(None)
        self._executor.shutdown()

    async def _or_its_end(self, answer: Future[T]) -> T:
        """An answer, or what ended the thread."""
        self._end = self._end or asyncio.wrap_future(self._life)
        wanted: asyncio.Future[Any] = asyncio.wrap_future(answer)
        try:
            await asyncio.wait({wanted, self._end}, return_when=asyncio.FIRST_COMPLETED)
            if not wanted.done():
                raise TrainerError(f"vLLM ended: {self._end.exception()!r}")
            result: T = wanted.result()
            return result
        finally:
            wanted.cancel()

    def _live(self, make: Callable[[], Any]) -> None:
        self._llm = make()
        try:
            while True:
                is_busy = bool(self._samples) and not self._held
                try:
                    call = self._calls.get(block=not is_busy)
                except queue.Empty:
                    self._step()
                    continue
                if call is None:
                    return
                call()
        finally:
            self._llm = None

    def _step(self) -> None:
        for output in self._llm.llm_engine.step():
            if output.finished and (waiting := self._samples.pop(_name_of(output), None)):
                waiting.set_result(output)

    def _add(self, llm: Any, name: str, finished: Future[Any], ids: list[int], temperature: float, more: Any) -> None:
        if not finished.set_running_or_notify_cancel():
            return
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        params = SamplingParams(
            temperature=temperature, output_kind=RequestOutputKind.FINAL_ONLY, **WHOLE_DISTRIBUTION, **more
        )
        llm.llm_engine.add_request(name, {"type": "token", "prompt_token_ids": ids}, params)
        self._samples[name] = finished

    def _drop(self, name: str) -> None:
        if self._samples.pop(name, None):
            self._llm.llm_engine.abort_request([name])


def _settle(answer: Future[T], call: Callable[[], T]) -> None:
    """What the call gives or raises is the answer's, as an executor would do it."""
    if not answer.set_running_or_notify_cancel():
        return
    try:
        answer.set_result(call())
    except BaseException as trouble:  # noqa: BLE001 - it is raised where it is waited for
        answer.set_exception(trouble)


def _name_of(output: Any) -> str:
    return str(output.request_id)


def _sample_of(output: Any) -> Sample:
    (made,) = output.outputs
    ids = list(made.token_ids)
    logprobs = [float(at[token].logprob) for token, at in zip(ids, made.logprobs, strict=True)]
    return Sample(ids, logprobs, made.text, str(made.finish_reason))


def _vllm(config: Config, sampling: Sampling) -> Any:
    """An LLM in this very process. Environment variables are read when vllm is imported, so they come first."""
    os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
    for name, value in defaults().items():
        os.environ.setdefault(name, value)
    from vllm import LLM

    on_cpu = {"enforce_eager": True, "enable_chunked_prefill": False}  # see process.CPU_ARGUMENTS
    more = {"gpu_memory_utilization": config.rollout.gpu_memory} if has_gpu() else on_cpu
    return LLM(
        config.model.path,
        dtype=config.model.dtype,
        seed=config.seed,
        max_model_len=sampling.max_model_len,
        logprobs_mode="processed_logprobs",
        generation_config="vllm",
        worker_extension_cls="trainer.vllm_ext.Extension",
        **more,
    )
