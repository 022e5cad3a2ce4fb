"""A model behind a URL: vLLM, which is asked with token ids, or anybody who speaks OpenAI's chat completions.

vLLM applies the model's chat template itself (`/tokenize`), so what is asked is known token by token, and what is left
of the model's room as well. Of others only their own defaults are known.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from trainer.errors import ConfigError, TrainerError
from trainer.evaluation.samples import Sampling, digest
from trainer.service import Answer, Service, pauses, said

# All that shapes the distribution is said in each request: a server's defaults come from the model's folder.
OFF: Mapping[str, Any] = {
    "top_k": 0,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
}
ENDS = {"stop": "stop", "length": "length", "content_filter": "stop", "tool_calls": "stop"}
TRIES = 5  # at what a server fails at, or ends in a way of its own


class Stumbled(Exception):
    """Another try might do."""


@dataclass(frozen=True)
class Spoken:
    """What a model said."""

    text: str
    finish: str
    tokens: int | None
    prompt: str  # a hash of what was asked


Messages = Sequence[Mapping[str, str]]


class Endpoint:
    """Use `meet` first. Raises what Service raises, and TrainerError for what is refused."""

    def __init__(self, service: Service, sampling: Sampling, model: str = "", is_plain: bool = False) -> None:
        self._service = service
        self._sampling = sampling
        self.model = model
        self._is_plain = is_plain  # the prompt as it is, without a chat template
        self._is_vllm = False
        self._prompts: dict[str, tuple[list[int], int]] = {}  # token ids, and the model's room, by what is asked

    async def meet(self) -> Endpoint:
        """Find out who it is. Raises ConfigError if the model is not there."""
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
        """Whether token ids are known."""
        return self._is_vllm

    async def ask(self, messages: Messages, seed: int) -> Spoken:
        """One answer."""
        for pause in pauses(TRIES):
            try:
                return await (self._by_tokens if self._is_vllm else self._by_chat)(messages, seed)
            except Stumbled as stumbled:
                trouble = stumbled
                await asyncio.sleep(pause)
        raise TrainerError(f"the model's server at {self._service.url} makes no sample: {trouble}")

    async def _by_tokens(self, messages: Messages, seed: int) -> Spoken:
        ids, room = await self._tokens(self._to_tokenize(messages))
        prompt = digest(json.dumps(ids))
        left = min(self._sampling.max_tokens, room - len(ids))
        if left < 1:
            return Spoken("", "no_room", 0, prompt)
        request = {"prompt": ids, "max_tokens": left, "return_token_ids": True, "skip_special_tokens": True, **OFF}
        answer = await self._post("/v1/completions", {**self._drawing(seed), **request})
        (choice,) = answer["choices"]
        return Spoken(choice["text"], _finish(choice), len(choice["token_ids"]), prompt)

    async def _by_chat(self, messages: Messages, seed: int) -> Spoken:
        request = {"messages": list(messages), "max_tokens": self._sampling.max_tokens}
        answer = await self._post("/v1/chat/completions", {**self._drawing(seed), **request})
        (choice,) = answer["choices"]
        tokens = (answer.get("usage") or {}).get("completion_tokens")
        return Spoken(choice["message"].get("content") or "", _finish(choice), tokens, digest(json.dumps(messages)))

    async def _tokens(self, request: Answer) -> tuple[list[int], int]:
        """Once for all samples of a problem."""
        key = digest(json.dumps(request))
        if key not in self._prompts:
            told = await self._post("/tokenize", request)
            self._prompts[key] = told["tokens"], int(told["max_model_len"])
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
        return self._taken(path, *await self._service.ask("POST", path, json.dumps(body).encode()))

    def _taken(self, path: str, status: int, answer: Answer) -> Answer:
        if status == 200:
            return answer
        if status >= 500:
            raise Stumbled(f"{path}: {said(status, answer)}")
        raise self._service.refusal(status, answer, path)


def described(sampling: Sampling, is_plain: bool, system: str) -> dict[str, Any]:
    """What makes samples comparable: two files that differ in this are of two experiments."""
    return {**asdict(sampling), "format": "plain" if is_plain else "chat", "system": system}


def _finish(choice: Mapping[str, Any]) -> str:
    reason = str(choice.get("finish_reason"))
    if reason not in ENDS:
        raise Stumbled(f"a sample ended by {reason!r}, which is no end of the model's own")
    return ENDS[reason]
