"""The other policy, where two runs train the two roles with a model each: a vLLM server, asked by text.

Its answers are part of the environment: they have no token ids here, because its tokenizer may be another one. While
its own run updates its weights, the server holds requests; an answer may come from two versions.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from sandbox_service.client import Peer
from sandbox_service.client.transport import HttpTransport, describe_error
from trainer.config import Config
from trainer.engines.vllm_api import IDLE_SECONDS, UNMODIFIED_SAMPLING
from trainer.episode import Completion, Prompt
from trainer.errors import TrainerError
from trainer.reward_client import trainer_errors


class Opponent:
    """A client of the other run's vLLM. Use and close it in one event loop."""

    def __init__(self, config: Config, notice: Callable[[str], None] = print) -> None:
        self._is_plain = config.data.format == "plain"
        self._template = config.data.template if config.duel.template is None else config.duel.template
        self._temperature = config.rollout.temperature
        peer = Peer(
            config.duel.opponent,
            config.rollout.patience_seconds,
            name="opponent's server",
            url_setting="duel.opponent",
            patience_setting="rollout.patience_seconds",
            idle_seconds=IDLE_SECONDS,
        )
        with trainer_errors():
            self._transport = HttpTransport(peer, notice)

    async def generate(self, prompt: Prompt, seed: int, max_tokens: int) -> Completion:
        """Return an answer of the other policy to a prompt's messages, by a seed, of at most `max_tokens`.

        Raises:
            TrainerError: The server refuses the request.
        """
        request: dict[str, Any] = {"seed": seed, "max_tokens": max_tokens, "temperature": self._temperature}
        if self._is_plain:
            path, request["prompt"] = "/v1/completions", "\n\n".join(each["content"] for each in prompt.messages)
        else:
            path, request["messages"] = "/v1/chat/completions", list(prompt.messages)
            request["chat_template_kwargs"] = dict(self._template)
        body = json.dumps({**UNMODIFIED_SAMPLING, **request}).encode()
        with trainer_errors():
            status, answer = await self._transport.ask("POST", path, body)
        if status != 200:
            raise TrainerError(f"duel.opponent: {path} failed: {describe_error(status, answer)}")
        (choice,) = answer["choices"]
        text = choice["text"] if self._is_plain else choice["message"].get("content") or ""
        return Completion((), (), text, choice["finish_reason"] == "length", 0, 0)

    async def close(self) -> None:
        await self._transport.close()
