"""HTTP requests to a vLLM server, and the classification of its errors.

`prompt_logprobs` are of the unscaled distribution at any temperature (vLLM 0.32, `_get_prompt_logprobs_dict`).
"""

from collections.abc import Sequence
from typing import Any

import aiohttp

from sandbox_service.client.transport import keepalive_socket
from trainer.config import Config
from trainer.episode import Completion
from trainer.errors import InterruptedGenerationError, TrainerError
from trainer.text_api import UNMODIFIED_SAMPLING

FINISH_REASONS = ("stop", "length")  # other reasons ("abort") do not end a sample
HEALTH_TIMEOUT_SECONDS = 5.0  # for an answer to /health
IDLE_SECONDS = 2.0  # vLLM closes connections that were idle for 5 s (VLLM_HTTP_TIMEOUT_KEEP_ALIVE)
HINT = "was it started with VLLM_SERVER_DEV_MODE=1 and --worker-extension-cls trainer.vllm_ext.Extension?"

Answer = dict[str, Any]


class RequestFailedError(Exception):
    """vLLM reports an internal error."""


class VllmApi:
    """Connections to one server. Create it in the event loop that uses it."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        connector = aiohttp.TCPConnector(limit=0, socket_factory=keepalive_socket, keepalive_timeout=IDLE_SECONDS)
        self._session = aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=None))

    async def post(self, path: str, body: Answer | None = None, seconds: float | None = None) -> Answer:
        """Return the JSON answer to a POST request to a path with a JSON body, empty if it has none, in `seconds`.

        Raises:
            InterruptedGenerationError: The server is unavailable or overloaded.
            RequestFailedError: An extension method failed.
            TrainerError: The server refused the request.
        """  # noqa: DOC501 (`_refusal` makes the exception)
        limit = aiohttp.ClientTimeout(total=seconds)
        try:
            async with self._session.post(self.url + path, json=body, timeout=limit) as answer:
                if answer.status != 200:
                    raise _refusal(self.url + path, answer.status, await answer.text())
                is_json = answer.content_type == "application/json"  # some requests have a bare 200 as answer
                parsed: Answer = await answer.json() if is_json else {}
                return parsed
        except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as error:
            raise InterruptedGenerationError(f"{type(error).__name__}: {error}") from None

    async def call(self, method: str, *arguments: Any, seconds: float | None = None) -> list[Answer]:
        """Return each worker's result of a method of vllm_ext.Extension, in `seconds`. Raise RequestFailedError."""
        body = {"method": method, "args": list(arguments)}
        results: list[Answer] = (await self.post("/collective_rpc", body, seconds))["results"]
        for result in results:
            if "error" in result:
                raise RequestFailedError(result["error"])
        return results

    async def sample(
        self, prompt_ids: Sequence[int], seed: int | None, max_tokens: int, config: Config, version: int
    ) -> Completion:
        """Return a response, or raise InterruptedGenerationError if it ended abnormally; see `ServerPool.generate`."""
        more = {"seed": seed, "temperature": config.rollout.temperature, "max_tokens": max_tokens, "logprobs": 0}
        request = {**UNMODIFIED_SAMPLING, **more, "prompt": list(prompt_ids), "return_token_ids": True}
        if config.buffer.in_flight == "keep":  # a cache that is kept across syncs is of one version of the weights
            request["cache_salt"] = str(version)
        (choice,) = (await self.post("/v1/completions", request))["choices"]
        ids, end = choice["token_ids"], choice["finish_reason"]
        logprobs = (choice["logprobs"] or {"token_logprobs": []})["token_logprobs"]
        if end not in FINISH_REASONS or not ids or len(ids) != len(logprobs):
            raise InterruptedGenerationError(f"a sample of {len(ids)} tokens ended by {end!r}")
        return Completion(ids, logprobs, choice["text"], end == "length", version, version)

    async def score(self, ids: Sequence[int]) -> list[float]:
        """Return the log-probabilities of all tokens (ids [n]) but the first, at temperature 1."""
        more = {"prompt": list(ids), "temperature": 1.0, "prompt_logprobs": 0, "max_tokens": 1}  # vLLM takes no 0
        (choice,) = (await self.post("/v1/completions", {**UNMODIFIED_SAMPLING, **more}))["choices"]
        logprobs = choice["prompt_logprobs"][1:]
        return [float(at[str(token)]["logprob"]) for token, at in zip(ids[1:], logprobs, strict=True)]

    async def is_healthy(self) -> bool:
        """Return whether /health answers 200 in time."""
        limit = aiohttp.ClientTimeout(total=HEALTH_TIMEOUT_SECONDS)
        try:
            async with self._session.get(self.url + "/health", timeout=limit) as answer:
                return answer.status == 200
        except (TimeoutError, aiohttp.ClientError, OSError):
            return False

    async def close(self) -> None:
        await self._session.close()


def _refusal(url: str, status: int, text: str) -> Exception:
    """Return the exception of an error status: 5xx and 429 are temporary, other statuses are not."""
    message = f"{url} answered {status}: {text[:2000]}"
    if url.endswith("/collective_rpc"):
        return RequestFailedError(f"{message} ({HINT})") if status >= 500 else TrainerError(f"{message} ({HINT})")
    return InterruptedGenerationError(message) if status >= 500 or status == 429 else TrainerError(message)
