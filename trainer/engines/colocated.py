"""vLLM in the trainer's process, for one GPU or a CPU: weights are updated without leaving the process.

One thread creates vLLM and drives it; every operation is a call in that thread's queue. While there are requests the
thread steps the engine, and returns each sample as soon as it ends. Requests of one turn of the event loop reach vLLM
together. vLLM then computes the same batches in every run, and its rounding depends on what it computes together.

This engine was not tested on a GPU. The memory that vLLM does not reserve (`rollout.gpu_memory`) is the trainer's.

vLLM uses the default process group of torch.distributed if it exists, and otherwise creates one with a single process.
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
from trainer.engines.base import Engine, SamplingParameters, check_state
from trainer.engines.environment import defaults, has_gpu
from trainer.engines.vllm_api import FINISH_REASONS, UNMODIFIED_SAMPLING, Sample
from trainer.episode import Completion
from trainer.errors import StaleWeightsError, TrainerError

T = TypeVar("T")


class ColocatedEngine:
    """An Engine in this process. Call `open` in the event loop that uses it. At most one a process."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._sampling = SamplingParameters.of(config)
        self._version = -1
        self._is_stale = True
        self._verified = asyncio.Event()
        self._room = asyncio.Semaphore(config.rollout.concurrency)
        self._driver = _Driver(lambda: _vllm(config, self._sampling))

    async def open(self) -> ColocatedEngine:
        """Return this engine with its model loaded.

        Raises:
            ConfigError: The model cannot be served as required.
        """
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
    def replicas(self) -> Sequence[Engine]:
        return (self,)

    async def generate(self, prompt_ids: Sequence[int], seed: int | None, max_tokens: int) -> Completion:
        more = {"max_tokens": self._sampling.tokens_after(len(prompt_ids), max_tokens), "seed": seed, "logprobs": 0}
        async with self._room:
            while True:
                await self._verified.wait()
                version = self._version
                salt = str(version) if self._sampling.keeps_cache else ""
                sample = _sample_of(await self._driver.sample(prompt_ids, self._sampling.temperature, more, salt))
                await self._verified.wait()
                if sample.end in FINISH_REASONS:
                    is_truncated = sample.end == "length"
                    return Completion(sample.ids, sample.logprobs, sample.text, is_truncated, version, self._version)

    async def score(self, ids: Sequence[int]) -> list[float]:
        output = await self._driver.sample(ids, 1.0, {"max_tokens": 1, "prompt_logprobs": 0})
        return [float(at[token].logprob) for token, at in zip(ids[1:], output.prompt_logprobs[1:], strict=True)]

    async def sleep(self) -> None:
        """Do nothing: `rollout.turns` is for servers."""

    async def pause(self, version: int) -> None:  # noqa: ARG002 - the only replica
        self._is_stale = True
        self._verified.clear()
        await self._driver.hold(True)

    async def resume(self) -> None:
        """Reset the prefix cache; requests in flight recompute theirs, without which the reset is refused."""
        if self._sampling.keeps_cache:
            await self._driver.hold(False)
            return
        if not await self._driver.do(lambda llm: llm.reset_prefix_cache(reset_running_requests=True)):
            raise StaleWeightsError("vLLM did not reset its prefix cache, which holds results of the old weights")
        await self._driver.hold(False)

    async def rpc(self, method: str, *arguments: Any) -> list[dict[str, Any]]:
        results: list[dict[str, Any]] = await self._driver.do(lambda llm: llm.collective_rpc(method, args=arguments))
        for result in results:
            if "error" in result:
                raise StaleWeightsError(f"vLLM could not do {method}: {result['error']}")
        return results

    def mark_synced(self, version: int) -> None:
        self._version, self._is_stale = version, False
        self._verified.set()

    async def wait_until_healthy(self) -> None:
        """Return at once: an engine in this process is always available."""

    async def close(self) -> None:
        await asyncio.to_thread(self._driver.close)


class _Driver:
    """The thread that owns vLLM."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._calls: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._samples: dict[str, Future[Any]] = {}
        self._names = itertools.count()
        self._new: list[Callable[[], None]] = []  # adds the requests of this turn of the event loop
        self._held = False
        self._llm: Any = None
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="vllm")
        self._thread_result = self._executor.submit(self._run, make)
        self._end: asyncio.Future[None] | None = None  # self._thread_result as a future of the event loop

    async def do(self, call: Callable[[Any], T]) -> T:
        """Call a function with vLLM between two steps."""
        answer: Future[T] = Future()
        self._calls.put(lambda: _fulfil(answer, lambda: call(self._llm)))
        return await self._unless_ended(answer)

    async def sample(self, ids: Sequence[int], temperature: float, more: dict[str, Any], salt: str = "") -> Any:
        """Return a finished RequestOutput. The request is aborted if the caller is cancelled.

        Args:
            ids: Token ids of the prompt.
            temperature: Of sampling.
            more: Further fields of vLLM's SamplingParams.
            salt: Keeps the cached prefixes of requests with other salts apart.
        """
        name, finished = f"sample-{next(self._names)}", Future[Any]()
        prompt = {"type": "token", "prompt_token_ids": list(ids)} | ({"cache_salt": salt} if salt else {})
        added: Future[None] = Future()
        self._add_soon(lambda: _fulfil(added, lambda: self._add(name, finished, prompt, temperature, more)))
        await self._unless_ended(added)
        try:
            return await self._unless_ended(finished)
        finally:
            if not finished.done():
                self._calls.put(lambda: self._drop(name))

    def _add_soon(self, add: Callable[[], None]) -> None:
        if not self._new:
            asyncio.get_running_loop().call_soon(self._add_new)
        self._new.append(add)

    def _add_new(self) -> None:
        new, self._new = self._new, []

        def add_all() -> None:
            for add in new:
                add()

        self._calls.put(add_all)

    async def hold(self, held: bool) -> None:
        """Stop stepping if `held`, else resume it."""

        def change(_: Any) -> None:
            self._held = held

        await self.do(change)

    def close(self) -> None:
        """End the thread and release vLLM."""
        self._calls.put(None)
        self._executor.shutdown()

    async def _unless_ended(self, answer: Future[T]) -> T:
        """Return the answer, or raise TrainerError if the thread ended."""
        self._end = self._end or asyncio.wrap_future(self._thread_result)
        wanted: asyncio.Future[Any] = asyncio.wrap_future(answer)
        try:
            await asyncio.wait({wanted, self._end}, return_when=asyncio.FIRST_COMPLETED)
            if not wanted.done():
                raise TrainerError(f"vLLM ended: {self._end.exception()!r}")
            result: T = wanted.result()
            return result
        finally:
            wanted.cancel()

    def _run(self, make: Callable[[], Any]) -> None:
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

    def _add(self, name: str, finished: Future[Any], prompt: Any, temperature: float, more: Any) -> None:
        if not finished.set_running_or_notify_cancel():
            return
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        params = SamplingParams(
            temperature=temperature, output_kind=RequestOutputKind.FINAL_ONLY, **UNMODIFIED_SAMPLING, **more
        )
        self._llm.llm_engine.add_request(name, prompt, params)
        self._samples[name] = finished

    def _drop(self, name: str) -> None:
        if self._samples.pop(name, None):
            self._llm.llm_engine.abort_request([name])


def _fulfil(answer: Future[T], call: Callable[[], T]) -> None:
    """Run the call and store its result or exception in the future."""
    if not answer.set_running_or_notify_cancel():
        return
    try:
        answer.set_result(call())
    except BaseException as error:  # noqa: BLE001 - raised in the waiting thread
        answer.set_exception(error)


def _name_of(output: Any) -> str:
    return str(output.request_id)


def _sample_of(output: Any) -> Sample:
    (made,) = output.outputs
    ids = list(made.token_ids)
    logprobs = [float(at[token].logprob) for token, at in zip(ids, made.logprobs, strict=True)]
    return Sample(ids, logprobs, made.text, str(made.finish_reason))


def _vllm(config: Config, sampling: SamplingParameters) -> Any:
    """Create an LLM in this process. vLLM reads environment variables on import, so they are set first."""
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
