"""The interface of an inference engine: samples, scores, and weight updates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from trainer.config import Config
from trainer.episode import Completion
from trainer.errors import ConfigError

Notice = Callable[[str], None]  # reports a line to the user


class Engine(Protocol):
    """One or several vLLM instances. All coroutines run in one event loop.

    Samples come from verified weights only: `generate` waits until the first sync, while the engine is paused, and
    after vLLM was restarted. `generate` and `wait_until_healthy` raise UnavailableError when vLLM is unavailable for
    longer than `rollout.patience_seconds`; all others raise InterruptedGenerationError when it becomes unavailable.
    """

    @property
    def needs_sync(self) -> bool:
        """Return whether the engine waits for weights."""

    async def generate(self, prompt_ids: Sequence[int], seed: int | None, max_tokens: int) -> Completion:
        """Return a complete response, also if vLLM restarts meanwhile.

        Args:
            prompt_ids: The prompt's token ids.
            seed: The seed of the sample.
            max_tokens: The most tokens of the response.
        """

    async def score(self, ids: Sequence[int]) -> list[list[float]]:
        """Return all log-probabilities but the first token's (ids [n]), at temperature 1, by each vLLM."""

    async def pause(self, version: int) -> None:
        """Pause generation and keep the requests in flight. The engine needs a sync to a version afterwards.

        Replicas that have that version go on undisturbed, and are left out until `mark_synced`.
        """

    async def sleep(self) -> None:
        """Give memory back until the next `pause`; only if `rollout.turns`, and without requests in flight.

        A server that became unavailable is waited for.
        """

    async def resume(self) -> None:
        """Continue, with a reset KV cache unless `buffer.in_flight` is "keep"."""

    async def rpc(self, method: str, *arguments: Any) -> list[dict[str, Any]]:
        """Return each worker's result of a method of vllm_ext.Extension; StaleWeightsError if the method failed."""

    async def mark_synced(self, version: int) -> None:
        """Declare weights of a version verified and open the engine for samples."""

    async def wait_until_healthy(self) -> None:
        """Wait for vLLM after InterruptedGenerationError."""

    async def close(self) -> None:
        """Close connections and stop processes that the trainer started."""


def check_state(state: dict[str, Any], config: Config, where: str) -> None:
    """Check a worker's `Extension.proctor_state`; `where` names it. Raise ConfigError if a setting of vLLM is wrong."""
    if not state["logprobs_mode"].endswith("processed_logprobs"):
        raise ConfigError(
            f"{where}: its log-probabilities are not those of the sampling distribution: "
            "start vLLM with --logprobs-mode processed_logprobs"
        )
    if state["quantization"]:
        raise ConfigError(f"{where}: the model is quantised ({state['quantization']}): its weights cannot be updated")
    if state["dtype"] != config.model.dtype:
        raise ConfigError(f"{where}: its weights are {state['dtype']}: start vLLM with --dtype {config.model.dtype}")
    if state["max_model_len"] < config.longest:
        raise ConfigError(
            f"{where}: prompt and response may have {config.longest} tokens, but it was started "
            f"with --max-model-len {state['max_model_len']}"
        )
