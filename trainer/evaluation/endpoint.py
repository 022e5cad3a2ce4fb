"""A model behind a URL: vLLM, addressed by token ids, or any server of OpenAI's chat completions API.

vLLM applies the model's chat template (`/tokenize`), so the prompt's tokens and the remaining context are known. Other
servers apply their own defaults.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sandbox_service.client.retries import pauses
from sandbox_service.client.transport import Answer, HttpTransport, describe_error
from trainer.errors import ConfigError, TrainerError
from trainer.evaluation.samples import SamplingOptions, digest
from trainer.reward import trainer_errors

# Set in each request, because a server's defaults come from the model's folder.
OFF: Mapping[str, Any] = {
    "top_k": 0,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
}
ENDS = {"stop": "stop", "length": "length", "content_filter": "stop", "tool_calls": "stop"}
TRIES = 5  # for server errors and abnormal finish reasons


class EndpointError(Exception):
    """A temporary failure; a retry may succeed."""


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
        """Return one answer, retrying after temporary failures.

        Args:
            messages: The conversation.
            seed: The sample's seed.

        Raises:
            TrainerError: The server failed repeatedly or refused the request.
        """
        for pause in pauses(TRIES):
            try:
                return await (self._by_tokens if self._is_vllm else self._by_chat)(messages, seed)
            except EndpointError as stumbled:
                error = stumbled
                await asyncio.sleep(pause)
        raise TrainerError(f"the model's server at {self._service.url} returns no sample: {error}")

    async def _by_tokens(self, messages: Messages, seed: int) -> ModelAnswer:
        ids, room = await self._tokens(self._to_tokenize(messages))
        prompt = digest(json.dumps(ids))
        left = min(self._sampling.max_tokens, room - len(ids))
        if left < 1:
            return ModelAnswer("", "no_room", 0, prompt)
        request = {"prompt": ids, "max_tokens": left, "return_token_ids": True, "skip_special_tokens": True, **OFF}
        answer = await self._post("/v1/completions", {**self._drawing(seed), **request})
        (choice,) = answer["choices"]
        return ModelAnswer(choice["text"], _finish(choice), len(choice["token_ids"]), prompt)

    async def _by_chat(self, messages: Messages, seed: int) -> ModelAnswer:
        request = {"messages": list(messages), "max_tokens": self._sampling.max_tokens}
        answer = await self._post("/v1/chat/completions", {**self._drawing(seed), **request})
        (choice,) = answer["choices"]
        tokens = (answer.get("usage") or {}).get("completion_tokens")
        return ModelAnswer(
            choice["message"].get("content") or "", _finish(choice), tokens, digest(json.dumps(messages))
        )

    async def _tokens(self, request: Answer) -> tuple[list[int], int]:
        """Return token ids and context length, requested once for all samples of a problem."""
        key = digest(json.dumps(request))
        if key not in self._prompts:
            answer = await self._post("/tokenize", request)
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

    async def _post(self, path: str, body: Answer) -> Answer:
        with trainer_errors():
            status, answer = await self._service.ask("POST", path, json.dumps(body).encode())
            if status == 200:
                return answer
            if status >= 500:
                raise EndpointError(f"{path}: {describe_error(status, answer)}")
            raise self._service.refusal(status, answer, path)


def describe_sampling(sampling: SamplingOptions, is_plain: bool, system: str) -> dict[str, Any]:
    """Return all settings that determine a sample; samples with different settings must not be mixed.

    Args:
        sampling: The sampling settings.
        is_plain: Whether prompts have no chat template.
        system: The system text.
    """
    return {**asdict(sampling), "format": "plain" if is_plain else "chat", "system": system}


def _finish(choice: Mapping[str, Any]) -> str:
    reason = str(choice.get("finish_reason"))
    if reason not in ENDS:
        raise EndpointError(f"a sample ended abnormally with finish_reason {reason!r}")
    return ENDS[reason]
