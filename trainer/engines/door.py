"""A vLLM server's door: requests, answers, and what its refusals mean."""

from __future__ import annotations

import socket
from typing import Any

import aiohttp

from trainer.engines.base import Interrupted
from trainer.errors import TrainerError

WELL_SECONDS = 5.0  # to say that it is well
KEEPALIVE = {socket.TCP_KEEPIDLE: 30, socket.TCP_KEEPINTVL: 10, socket.TCP_KEEPCNT: 6}  # seconds, seconds, times
HINT = "was it started with VLLM_SERVER_DEV_MODE=1 and --worker-extension-cls trainer.vllm_ext.Extension?"

Answer = dict[str, Any]


class Failed(Exception):
    """Something inside vLLM failed, and it says so."""


class Door:
    """Connections to one server. Made in the event loop that uses it."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        connector = aiohttp.TCPConnector(limit=0, socket_factory=_socket)
        self._session = aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=None))

    async def post(self, path: str, body: Answer | None = None, seconds: float | None = None) -> Answer:
        """What it answers. Raises Interrupted, Failed, or TrainerError if the request itself was wrong."""
        limit = aiohttp.ClientTimeout(total=seconds)
        try:
            async with self._session.post(self.url + path, json=body, timeout=limit) as answer:
                if answer.status != 200:
                    raise _refusal(self.url + path, answer.status, await answer.text())
                if answer.content_type != "application/json":  # older ones say nothing but 200 to some
                    return {}
                said: Answer = await answer.json()
                return said
        except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as trouble:
            raise Interrupted(f"{type(trouble).__name__}: {trouble}") from None

    async def call(self, method: str, *arguments: Any, seconds: float | None = None) -> list[Answer]:
        """Call a method of vllm_ext.Extension in each worker."""
        body = {"method": method, "args": list(arguments)}
        results: list[Answer] = (await self.post("/collective_rpc", body, seconds))["results"]
        for result in results:
            if "error" in result:
                raise Failed(result["error"])
        return results

    async def is_well(self) -> bool:
        """Whether it says so, soon."""
        limit = aiohttp.ClientTimeout(total=WELL_SECONDS)
        try:
            async with self._session.get(self.url + "/health", timeout=limit) as answer:
                return answer.status == 200
        except (TimeoutError, aiohttp.ClientError, OSError):
            return False

    async def close(self) -> None:
        """Hang up."""
        await self._session.close()


def _refusal(url: str, status: int, text: str) -> Exception:
    """5xx of a request may pass; what was wrong with the request itself will not."""
    told = f"{url} answered {status}: {text[:2000]}"
    if url.endswith("/collective_rpc"):
        return Failed(f"{told} ({HINT})") if status >= 500 else TrainerError(f"{told} ({HINT})")
    return Interrupted(told) if status >= 500 or status == 429 else TrainerError(told)


def _socket(address: Any) -> socket.socket:
    """A connection whose other end is looked after: one that hangs for good is not waited for for ever."""
    made = socket.socket(address[0], address[1], address[2])
    made.setblocking(False)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in KEEPALIVE.items():
        made.setsockopt(socket.IPPROTO_TCP, option, value)
    return made
