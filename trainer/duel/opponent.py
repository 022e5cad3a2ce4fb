"""The other policy, where two runs train the two roles with a model each: a vLLM server, asked by text.

Its answers are part of the environment: they have no token ids here, because its tokenizer may be another one.
"""

from collections.abc import Callable
from typing import Any

from sandbox_service.client import Peer
from sandbox_service.client.transport import HttpTransport
from trainer import text_api
from trainer.config import Config
from trainer.engines.vllm_api import IDLE_SECONDS
from trainer.episode import Completion, Prompt
from trainer.reward import trainer_errors

ANSWER_FACTOR = 10  # times the patience: an answer waits for a sync and for the requests of the other run


class Opponent:
    """A client of the other run's vLLM. Use and close it in one event loop."""

    def __init__(self, config: Config, notice: Callable[[str], None] = print) -> None:
        self._is_plain = config.data.format == "plain"
        rollout, duel = config.rollout, config.duel
        limits = {"temperature": rollout.temperature, "max_tokens": duel.max_tokens or rollout.max_tokens}
        self._request: dict[str, Any] = {**text_api.UNMODIFIED_SAMPLING, **limits}
        if not self._is_plain:
            template = config.data.template if duel.template is None else duel.template
            self._request["chat_template_kwargs"] = dict(template)
        patience = config.rollout.patience_seconds
        peer = Peer(
            config.duel.opponent,
            patience,
            name="opponent's server",
            url_setting="duel.opponent",
            patience_setting="rollout.patience_seconds",
            answer_seconds=ANSWER_FACTOR * patience,
            idle_seconds=IDLE_SECONDS,
        )
        with trainer_errors():
            self._server = HttpTransport(peer, notice)

    async def generate(self, prompt: Prompt, seed: int) -> Completion:
        """Return an answer of the other policy to a prompt's messages, by a seed. Raise TrainerError if it has none."""
        path, own = "/v1/chat/completions", dict[str, Any](messages=list(prompt.messages))
        if self._is_plain:
            path, own = "/v1/completions", {"prompt": "\n\n".join(each["content"] for each in prompt.messages)}
        answer = await text_api.sample(self._server, path, {**self._request, **own, "seed": seed})
        choice = answer["choices"][0]
        text = choice["text"] if self._is_plain else choice["message"].get("content") or ""
        return Completion((), (), text, choice["finish_reason"] == "length", 0, 0)

    async def close(self) -> None:
        await self._server.close()
