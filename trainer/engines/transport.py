"""HTTP requests to a vLLM server, and the classification of its errors."""

from __future__ import annotations

from typing import Any

import aiohttp

from trainer.engines.base import InterruptedGenerationError
from trainer.engines.vllm_api import IDLE_SECONDS
from trainer.errors import TrainerError
from trainer.reward_client import keepalive_socket

HEALTH_TIMEOUT_SECONDS = 5.0  # for an answer to /health
HINT = "was it started with VLLM_SERVER_DEV_MODE=1 and --worker-extension-cls trainer.vllm_ext.Extension?"

Answer = dict[str, Any]


class RequestFailedError(Exception):
    """vLLM reports an internal error."""


class HttpTransport:
    """Connections to one server. Create it in the event loop that uses it."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        connector = aiohttp.TCPConnector(limit=0, socket_factory=keepalive_socket, keepalive_timeout=IDLE_SECONDS)
        self._session = aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=None))

    async def post(self, path: str, body: Answer | None = None, seconds: float | None = None) -> Answer:
        """Return the JSON answer to a POST request, empty if it has no JSON.

        Args:
            path: The path, with its query.
            body: The JSON body.
            seconds: The timeout; None for no limit.

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
                if answer.content_type != "application/json":  # older versions answer some requests with a bare 200
                    return {}
                parsed: Answer = await answer.json()
                return parsed
        except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as error:
            raise InterruptedGenerationError(f"{type(error).__name__}: {error}") from None

    async def call(self, method: str, *arguments: Any, seconds: float | None = None) -> list[Answer]:
        """Return each worker's result of a method of vllm_ext.Extension, with JSON-compatible arguments, within
        `seconds`.

        Raises:
            RequestFailedError: The method failed in a worker.
        """
        body = {"method": method, "args": list(arguments)}
        results: list[Answer] = (await self.post("/collective_rpc", body, seconds))["results"]
        for result in results:
            if "error" in result:
                raise RequestFailedError(result["error"])
        return results

    async def is_healthy(self) -> bool:
        """Return whether /health answers 200 in time."""
        limit = aiohttp.ClientTimeout(total=HEALTH_TIMEOUT_SECONDS)
        try:
            async with self._session.get(self.url + "/health", timeout=limit) as answer:
                return answer.status == 200
        except (TimeoutError, aiohttp.ClientError, OSError):
            return False

    async def close(self) -> None:
        """Close the connections."""
        await self._session.close()


def _refusal(url: str, status: int, text: str) -> Exception:
    """Return the exception of an error status: 5xx and 429 are temporary, other statuses are not."""
    message = f"{url} answered {status}: {text[:2000]}"
    if url.endswith("/collective_rpc"):
        return RequestFailedError(f"{message} ({HINT})") if status >= 500 else TrainerError(f"{message} ({HINT})")
    return InterruptedGenerationError(message) if status >= 500 or status == 429 else TrainerError(message)
