"""What the trainer wants of whatever runs the model: samples, scores, and a way in for new weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from trainer.config import Config
from trainer.episode import Completion
from trainer.errors import ConfigError, TrainerError

Notice = Callable[[str], None]  # says a line to whoever watches the run


class Interrupted(Exception):
    """The engine went away in the middle. It may come back, and not as it was: see `Engine.settle`."""


class Engine(Protocol):
    """One vLLM or several. Lives in one event loop.

    No sample comes from weights that were not verified: until the first sync, while it is paused, and when vLLM was
    started again, `generate` waits. It raises Away when vLLM stays away for longer than there is patience.
    """

    @property
    def version(self) -> int:
        """Of the weights that were verified last; -1: none were."""

    @property
    def needs_sync(self) -> bool:
        """Whether it waits for weights."""

    @property
    def parts(self) -> Sequence[Engine]:
        """Each vLLM by itself."""

    async def generate(self, prompt_ids: Sequence[int], seed: int | None, max_tokens: int) -> Completion:
        """A sample. Whatever becomes of vLLM meanwhile, it is whole, and of weights that were verified."""

    async def score(self, ids: Sequence[int]) -> list[float]:
        """The log-probabilities of all tokens but the first, at temperature 1. Raises Interrupted."""

    async def pause(self) -> None:
        """Stop where it is; what was begun is kept. From here on it needs a sync. Raises Interrupted."""

    async def resume(self) -> None:
        """Forget what was computed with other weights, and go on. Raises Interrupted."""

    async def rpc(self, method: str, *arguments: Any) -> list[dict[str, Any]]:
        """Call a method of vllm_ext.Extension in each worker. Raises Interrupted, or StaleWeights if it failed."""

    def synced(self, version: int) -> None:
        """It has these weights, and somebody has looked."""

    async def settle(self) -> None:
        """After Interrupted: wait until vLLM is well. Raises Away."""

    async def close(self) -> None:
        """Let go of it; end what we started."""


@dataclass(frozen=True)
class Sampling:
    """How samples are drawn: from the whole distribution, and with nothing that the model's own folder recommends."""

    temperature: float
    max_model_len: int  # of prompt and response

    @classmethod
    def of(cls, config: Config) -> Sampling:
        """As the configuration says."""
        return cls(config.rollout.temperature, config.longest)

    def tokens_after(self, prompt_tokens: int, max_tokens: int) -> int:
        """How long a response may be."""
        room = min(max_tokens, self.max_model_len - prompt_tokens)
        if room < 1:
            raise TrainerError(f"a prompt of {prompt_tokens} tokens leaves no room in {self.max_model_len}")
        return room


def check_state(state: dict[str, Any], sampling: Sampling, where: str) -> None:
    """Whether a vLLM was started as we need it. Raises ConfigError."""
    if not state["logprobs_mode"].endswith("processed_logprobs"):
        raise ConfigError(
            f"{where}: its log-probabilities are of another distribution than it samples from: "
            "start vLLM with --logprobs-mode processed_logprobs"
        )
    if state["quantization"]:
        raise ConfigError(f"{where}: the model is quantised ({state['quantization']}): it cannot take in new weights")
    if state["max_model_len"] < sampling.max_model_len:
        raise ConfigError(
            f"{where}: prompt and response may have {sampling.max_model_len} tokens, but it was started "
            f"with --max-model-len {state['max_model_len']}"
        )
