"""A model behind a URL: vLLM, addressed by token ids, or any server of OpenAI's chat completions API.

vLLM applies the model's chat template (`/tokenize`), so the prompt's tokens and the remaining context are known. Other
servers apply their own defaults.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sandbox_service.client.transport import Answer, HttpTransport
from trainer import text_api
from trainer.errors import ConfigError
from trainer.evaluation.samples import SamplingOptions, digest
from trainer.reward import trainer_errors


@dataclass(frozen=True)
class ModelAnswer:
    """A model's answer."""

    text: str
    finish: str
    tokens: int | None
    prompt: str  # a hash of the prompt


Messages = Sequence[Mapping[str, str]]


class Endpoint:
    """A client of the model's server. Call `connect` first. Raises UnavailableError, ConfigError and TrainerError."""

    def __init__(
        self, service: HttpTransport, sampling: SamplingOptions, model: str = "", is_plain: bool = False
    ) -> None:
        self._service = service
        self._sampling = sampling
        self.model = model
        self._is_plain = is_plain  # no chat template
        self._is_vllm = False
        self._prompts: dict[str, tuple[list[int], int]] = {}  # token ids and context length, by hash of the request

    async def connect(self) -> Endpoint:
        """Identify the server and the model.

        Returns:
            This endpoint.

        Raises:
            ConfigError: The model is not served there.
            UnavailableError: The server does not answer.
        """
        with trainer_errors():
            status, answer = await self._service.ask("GET", "/v1/models")
            if status != 200:
                raise self._service.refusal(status, answer, "/v1/models")
            names = [str(each.get("id")) for each in answer.get("data") or []]
            if not names:
                raise self._service.stranger(json.dumps(answer)[:200])
        if self.model and self.model not in names:
            raise ConfigError(f"--served-name: {self.model!r} is not served there; there are: {', '.join(names[:10])}")
        self.model = self.model or names[0]
        served = next(each for each in answer["data"] if each.get("id") == self.model)
        self._is_vllm = served.get("owned_by") == "vllm"
        if self._is_plain and not self._is_vllm:
            raise ConfigError("--format plain needs token ids: only vLLM takes them")
        return self

    @property
    def is_vllm(self) -> bool:
        """Return whether the server is vLLM."""
        return self._is_vllm

    async def ask(self, messages: Messages, seed: int) -> ModelAnswer:
        """Return one answer to a conversation (messages) by a seed; see `text_api.sample`."""
        return await (self._by_tokens if self._is_vllm else self._by_chat)(messages, seed)

    async def _by_tokens(self, messages: Messages, seed: int) -> ModelAnswer:
        ids, room = await self._tokens(self._to_tokenize(messages))
        prompt = digest(json.dumps(ids))
        left = min(self._sampling.max_tokens, room - len(ids))
        if left < 1:
            return ModelAnswer("", "no_room", 0, prompt)
        request = {"prompt": ids, "max_tokens": left, "return_token_ids": True, "skip_special_tokens": True}
        request |= {**text_api.UNMODIFIED_SAMPLING, **self._drawing(seed)}
        (choice,) = (await text_api.sample(self._service, "/v1/completions", request))["choices"]
        return ModelAnswer(choice["text"], choice["finish_reason"], len(choice["token_ids"]), prompt)

    async def _by_chat(self, messages: Messages, seed: int) -> ModelAnswer:
        request = {"messages": list(messages), "max_tokens": self._sampling.max_tokens, **self._drawing(seed)}
        answer = await text_api.sample(self._service, "/v1/chat/completions", request)
        (choice,) = answer["choices"]
        tokens = (answer.get("usage") or {}).get("completion_tokens")
        text = choice["message"].get("content") or ""
        return ModelAnswer(text, choice["finish_reason"], tokens, digest(json.dumps(messages)))

    async def _tokens(self, request: Answer) -> tuple[list[int], int]:
        """Return token ids and context length, requested once for all samples of a problem."""
        key = digest(json.dumps(request))
        if key not in self._prompts:
            answer = await text_api.post(self._service, "/tokenize", request)
            self._prompts[key] = answer["tokens"], int(answer["max_model_len"])
        return self._prompts[key]

    def _to_tokenize(self, messages: Messages) -> Answer:
        if self._is_plain:
            return {"model": self.model, "prompt": "\n\n".join(each["content"] for each in messages)}
        return {"model": self.model, "messages": list(messages), "add_generation_prompt": True}

    def _drawing(self, seed: int) -> Answer:
        return {
            "model": self.model,
            "n": 1,
            "temperature": self._sampling.temperature,
            "top_p": self._sampling.top_p,
            "seed": seed,
        }


def describe_sampling(sampling: SamplingOptions, is_plain: bool, system: str) -> dict[str, Any]:
    """Return all settings that determine a sample; samples with different settings must not be mixed.

    Args:
        sampling: The sampling settings.
        is_plain: Whether prompts have no chat template.
        system: The system text.
    """
    return {**asdict(sampling), "format": "plain" if is_plain else "chat", "system": system}
