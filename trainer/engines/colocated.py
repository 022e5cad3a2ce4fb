"""vLLM in the trainer's process, for one GPU or a CPU: weights are updated without leaving the process.

One thread creates vLLM and executes every call of it. While there are requests, a task steps the engine there and
returns each sample as soon as it ends. Requests of one turn of the event loop reach vLLM together, so that it computes,
and rounds, the same batches in every run. vLLM uses the trainer's default process group.
"""

import asyncio
import itertools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Self, TypeVar

from trainer.config import Config
from trainer.engines.process import check_state, environment, has_gpu
from trainer.engines.vllm_api import FINISH_REASONS
from trainer.episode import Completion
from trainer.errors import StaleWeightsError, TrainerError
from trainer.text_api import UNMODIFIED_SAMPLING

T = TypeVar("T")
Request = tuple[str, Any, Any]  # arguments of vLLM's add_request: name, prompt, sampling parameters


class ColocatedEngine:
    """An engine with the methods of `ServerPool`. Call `open` in the event loop that uses it. At most one a process."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._keeps_cache = config.buffer.in_flight == "keep"
        self._version = -1
        self._is_held = False  # vLLM is not stepped
        self._verified = asyncio.Event()
        self._room = asyncio.Semaphore(config.rollout.concurrency)
        self._llm: Any = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="vllm")
        self._names = itertools.count()
        self._samples: dict[str, asyncio.Future[Any]] = {}  # of requests that are not finished
        self._new: list[Request] = []  # to be added before the next step
        self._dropped: list[str] = []  # to be aborted before it
        self._changed = asyncio.Event()  # there may be something to step
        self._stepping: asyncio.Task[None] | None = None

    async def open(self) -> Self:
        """Return this engine with its model loaded. Raise TrainerError if it cannot be, or not as required."""
        making = asyncio.get_running_loop().run_in_executor(self._thread, _vllm, self._config)
        await asyncio.wait([making])
        if error := making.exception():
            raise TrainerError(f"vLLM did not start: {error!r}") from error
        self._llm = making.result()
        self._start_stepping()
        (state,) = await self.rpc("proctor_state")
        check_state(state, self._config, "vLLM")
        return self

    @property
    def needs_sync(self) -> bool:
        return not self._verified.is_set()

    async def generate(self, prompt_ids: Sequence[int], seed: int | None, max_tokens: int) -> Completion:
        temperature = self._config.rollout.temperature
        more = {"temperature": temperature, "max_tokens": max_tokens, "seed": seed, "logprobs": 0}
        async with self._room:
            while True:
                await self._verified.wait()
                version = self._version
                salt = str(version) if self._keeps_cache else ""
                (made,) = (await self._sample(prompt_ids, more, salt)).outputs
                await self._verified.wait()
                if made.finish_reason in FINISH_REASONS:
                    ids, is_truncated = list(made.token_ids), made.finish_reason == "length"
                    logprobs = [float(at[token].logprob) for token, at in zip(ids, made.logprobs, strict=True)]
                    return Completion(ids, logprobs, made.text, is_truncated, version, self._version)

    async def score(self, ids: Sequence[int]) -> list[list[float]]:
        output = await self._sample(ids, {"temperature": 1.0, "max_tokens": 1, "prompt_logprobs": 0})
        return [[float(at[token].logprob) for token, at in zip(ids[1:], output.prompt_logprobs[1:], strict=True)]]

    async def pause(self, version: int) -> None:  # noqa: ARG002 - the only replica
        self._is_held = True
        self._verified.clear()

    async def resume(self) -> None:
        """Reset the prefix cache; requests in flight recompute theirs, without which the reset is refused."""
        is_fresh = self._keeps_cache or await self._do(lambda llm: llm.reset_prefix_cache(reset_running_requests=True))
        if not is_fresh:
            raise StaleWeightsError("vLLM did not reset its prefix cache, which holds results of the old weights")
        self._is_held = False
        self._changed.set()

    async def rpc(self, method: str, *arguments: Any) -> list[dict[str, Any]]:
        results: list[dict[str, Any]] = await self._do(lambda llm: llm.collective_rpc(method, args=arguments))
        for result in results:
            if "error" in result:
                raise StaleWeightsError(f"vLLM could not do {method}: {result['error']}")
        return results

    async def mark_synced(self, version: int) -> None:
        self._version = version
        self._verified.set()

    async def sleep(self) -> None: ...  # `rollout.turns` is for servers

    async def wait_until_healthy(self) -> None: ...  # it is always available

    async def close(self) -> None:
        if self._stepping:
            self._stepping.cancel()
            await asyncio.wait([self._stepping])
        if self._llm:  # without this it ends as the process exits, when its process group is gone
            await self._do(lambda llm: llm.llm_engine.engine_core.shutdown())
        self._llm = None
        self._thread.shutdown()

    # --- vLLM's thread

    async def _do(self, call: Callable[[Any], T]) -> T:
        """Call a function with vLLM between two steps."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, lambda: call(self._llm))

    async def _sample(self, ids: Sequence[int], more: dict[str, Any], salt: str = "") -> Any:
        """Return a finished RequestOutput. The request is aborted if the caller is cancelled. Raises TrainerError."""
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        prompt = {"type": "token", "prompt_token_ids": list(ids)} | ({"cache_salt": salt} if salt else {})
        sampling = SamplingParams(output_kind=RequestOutputKind.FINAL_ONLY, **UNMODIFIED_SAMPLING, **more)
        name = f"sample-{next(self._names)}"
        if self._stepping is None or self._stepping.done():
            raise TrainerError("vLLM has ended")
        self._new.append((name, prompt, sampling))
        self._samples[name] = finished = asyncio.get_running_loop().create_future()
        self._changed.set()
        try:
            return await finished
        finally:
            if self._samples.pop(name, None):
                self._dropped.append(name)
                self._changed.set()

    def _start_stepping(self) -> None:
        def end(stepping: asyncio.Task[None]) -> None:
            for waiting in [] if stepping.cancelled() else self._samples.values():
                if not waiting.done():
                    waiting.set_exception(TrainerError(f"vLLM ended: {stepping.exception()!r}"))

        self._stepping = asyncio.create_task(self._step_forever())
        self._stepping.add_done_callback(end)

    async def _step_forever(self) -> None:
        """Step vLLM while there are requests, unless it is held."""
        while True:
            await asyncio.sleep(0)  # for the other requests of this turn of the event loop
            if self._is_held or not (self._samples or self._dropped):
                self._changed.clear()
                await self._changed.wait()
                continue
            step = partial(_step, new=self._new, dropped=self._dropped)
            self._new, self._dropped = [], []
            for output in await self._do(step):
                waiting = self._samples.pop(str(output.request_id), None) if output.finished else None
                if waiting and not waiting.done():  # otherwise it was cancelled
                    waiting.set_result(output)


def _step(llm: Any, new: Sequence[Request], dropped: Sequence[str]) -> Sequence[Any]:
    """Return the outputs of a step, after adding and aborting requests."""
    for request in new:
        llm.llm_engine.add_request(*request)
    if dropped:
        llm.llm_engine.abort_request(list(dropped))
    outputs: Sequence[Any] = llm.llm_engine.step() if llm.llm_engine.has_unfinished_requests() else ()
    return outputs


def _vllm(config: Config) -> Any:
    """Create an LLM in this process. vLLM reads environment variables on import, so they are set first."""
    os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
    for name, value in environment(config.model.dtype == "float32").items():
        os.environ.setdefault(name, value)
    from vllm import LLM

    on_cpu = {"enforce_eager": True, "enable_chunked_prefill": False}  # see process.CPU_ARGUMENTS
    more = {"gpu_memory_utilization": config.rollout.gpu_memory} if has_gpu() else on_cpu
    return LLM(
        config.model.path,
        dtype=config.model.dtype,
        seed=config.seed,
        max_model_len=config.longest,
        logprobs_mode="processed_logprobs",
        generation_config="vllm",
        worker_extension_cls="trainer.vllm_ext.Extension",
        **more,
    )
