"""HTTP client for JSON services that retries until `patience_seconds` have passed.

The client uses it for the reward service, and the trainer's evaluation for a model server. Every retry sends the same
request. An error that a retry would not fix is raised as RefusedError. This module does not know the requests' content.
retries.py says when a request is sent again.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import aiohttp

from sandbox_service.client.errors import NotProctorError, RefusedError
from sandbox_service.client.retries import NOTICE_SECONDS, NoAnswerError, Outage, Peer, RetryTimer

CONNECT_SECONDS = 10.0
QUIET_SECONDS = 30.0  # without any answer, before a notice
SILENCE_SECONDS = 60.0  # within an answer, which has a blank line every 15 s
RETRY_STATUSES = {408, 429, 502, 503, 504}

Answer = dict[str, Any]


class ErrorResponseError(Exception):
    """A status other than 200 in place of a stream of lines."""

    def __init__(self, status: int, answer: Answer) -> None:
        super().__init__(describe_error(status, answer))
        self.status = status
        self.answer = answer


class HttpTransport:
    """Sends requests to one service. To be used and closed in one event loop.

    Args:
        peer: The service.
        notice: Called when the service becomes unavailable, at most every 5 s, and when it is back.
    """

    def __init__(self, peer: Peer, notice: Callable[[str], None]) -> None:
        if not peer.url.startswith(("http://", "https://")):
            raise RefusedError(f"{peer.url_setting}: {peer.url!r} does not begin with http:// or https://")
        self.peer = peer
        self._url = peer.url.rstrip("/")
        self._session: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._watch: asyncio.Task[None] | None = None
        self._open = 0
        self._last_answer = time.monotonic()
        self.outage = Outage(f"the {peer.name} at {peer.address}", notice)

    @property
    def url(self) -> str:
        """The service's address, for messages."""
        return self.peer.address

    async def close(self) -> None:
        """Close the connections."""
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
        if self._session is not None:
            await self._session.close()
        self._session = self._watch = None

    async def ask(self, method: str, path: str, body: bytes | None = None) -> tuple[int, Answer]:
        """Send a request until it is answered.

        A try may last for all of `patience_seconds`: to hang up earlier would cancel submissions that wait or are being
        graded.

        Args:
            method: The HTTP method.
            path: The path.
            body: The JSON body.

        Returns:
            The status and the parsed answer.

        Raises:
            ServiceUnavailableError: There was no answer for `patience_seconds`.
            RefusedError: The address is invalid.
            NotProctorError: The answer is not JSON.
        """
        timer = self.retry_timer()
        while True:
            try:
                status, answer = await self.try_once(method, path, body)
            except NoAnswerError as failure:
                await timer.wait(failure)
            else:
                timer.reset()
                return status, self._parsed(answer, status)

    def retry_timer(self) -> RetryTimer:
        """Return a timer for one request and all of its retries."""
        return RetryTimer(self.peer, self.outage)

    async def try_once(self, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        """Send a request once.

        Args:
            method: The HTTP method.
            path: The path of the URL.
            body: The body in JSON, if there is one.

        Returns:
            The status and the body of the response.

        Raises:
            NoAnswerError: No response arrived.
        """
        seconds = self.peer.answer_seconds or self.peer.patience_seconds
        async with self._answered(method, path, body, seconds) as answer:
            return answer.status, await answer.read()

    async def stream_lines(self, method: str, path: str, body: bytes) -> AsyncGenerator[bytes, None]:
        """Yield the lines of an answer as they arrive, including blank ones. The request is sent once.

        Args:
            method: The HTTP method.
            path: The path.
            body: The JSON body.

        Raises:
            NoAnswerError: There was no answer, or it broke off.
            ErrorResponseError: The status is not 200.
        """
        silence = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=SILENCE_SECONDS)
        async with self._answered(method, path, body, None, timeout=silence) as answer:
            if answer.status != 200:
                raise ErrorResponseError(answer.status, parse_answer(await answer.read()))
            async for line in _lines(answer.content):
                self._last_answer = time.monotonic()
                yield line

    def refusal(self, status: int, answer: Mapping[str, Any], what: str) -> RefusedError:
        """Return the exception for an error that a retry would not fix.

        Args:
            status: The HTTP status.
            answer: The parsed answer.
            what: What the service refuses.
        """
        words = f"the {self.peer.name} at {self.peer.address} refuses {what}: {describe_error(status, answer)}"
        if status in (401, 403):
            words += f"; {self._key_advice()}"
        if status in (404, 405):
            words += f"; is {self.peer.url_setting} the address of a {self.peer.name}?"
        return RefusedError(words, status, error_type(answer))

    def stranger(self, words: str) -> NotProctorError:
        """Return the exception for an answer that such a service does not give.

        Args:
            words: The answer, or a description of it.
        """
        peer = self.peer
        return NotProctorError(f"{peer.url_setting}: the server at {peer.address} is not a {peer.name}: {words}")

    def _key_advice(self) -> str:
        if self.peer.key:
            return "the given API key is wrong"
        variable = self.peer.key_variable
        is_set = "holds a wrong key" if os.environ.get(variable) else "is not set"
        return f"the environment variable {variable} {is_set}"

    @asynccontextmanager
    async def _answered(
        self, method: str, path: str, body: bytes | None, seconds: float | None, **options: Any
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Send a request and yield the response, to be read within `seconds`. Raise NoAnswerError if this fails."""
        began = time.monotonic()
        self._open += 1
        try:
            async with (
                asyncio.timeout(seconds),
                self._connected().request(method, self._url + path, data=body, **options) as answer,
            ):
                if answer.status in RETRY_STATUSES:
                    raise NoAnswerError(
                        describe_error(answer.status, parse_answer(await answer.read())),
                        time.monotonic(),
                        _seconds(answer.headers.get("Retry-After")),
                    )
                yield answer
        except TimeoutError as error:  # aiohttp's has a message, asyncio's has none
            raise NoAnswerError(str(error) or f"no answer in {seconds:g} s", began) from None
        except (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError) as error:
            raise NoAnswerError(str(error) or type(error).__name__, time.monotonic()) from None
        except (aiohttp.InvalidURL, aiohttp.ClientResponseError) as error:
            raise RefusedError(
                f"{self.peer.url_setting}: {self.peer.address} is not the address of a {self.peer.name}: {error}"
            ) from None
        finally:
            self._open -= 1
            self._last_answer = time.monotonic()

    def _connected(self) -> aiohttp.ClientSession:
        loop = asyncio.get_running_loop()
        if self._session is None:
            key = self.peer.key or os.environ.get(self.peer.key_variable)
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=0, socket_factory=keepalive_socket, keepalive_timeout=self.peer.idle_seconds
                ),
                headers=_named() | ({"Authorization": f"Bearer {key}"} if key else {}),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
            )
            self._loop = loop
            self._watch = asyncio.create_task(self._report_silence())
        if loop is not self._loop:
            raise RuntimeError("this client was first used in another event loop: make one for each")
        return self._session

    def _parsed(self, answer: bytes, status: int) -> Answer:
        parsed = parse_answer(answer)
        if status == 200 and "error" in parsed:
            raise self.stranger(describe_error(status, parsed))
        return parsed

    async def _report_silence(self) -> None:
        """Report a service that accepts requests and has answered none for a while."""
        while True:
            await asyncio.sleep(NOTICE_SECONDS)
            silent = time.monotonic() - self._last_answer
            if not self._open:
                self._last_answer = time.monotonic()
            elif silent > QUIET_SECONDS:
                self.outage.report(f"has answered nothing for {silent:.0f} s; {self._open} requests wait for it")


def describe_error(status: int, answer: Mapping[str, Any]) -> str:
    """Return a short description of an error response from its status and parsed answer."""
    error = answer.get("error")
    if not isinstance(error, Mapping):
        return f"{status} {json.dumps(answer)[:200]}"
    return " ".join(str(part) for part in (status, error.get("type"), error.get("message")) if part)


def error_type(answer: Mapping[str, Any]) -> str:
    """Return the `type` of an answer's error; empty if there is none."""
    error = answer.get("error")
    return str(error.get("type") or "") if isinstance(error, Mapping) else ""


async def _lines(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """Yield complete lines of any length; aiohttp's own limit is 128 kB. An unterminated last line is dropped."""
    begun: list[bytes] = []
    async for piece in content.iter_any():
        first, *more = piece.split(b"\n")
        begun.append(first)
        for each in more:
            yield b"".join(begun)
            begun = [each]


def keepalive_socket(address: tuple[Any, ...]) -> socket.socket:
    """Return a keep-alive socket for an address, which notices within half a minute that the other machine is gone."""
    made = socket.socket(*address[:3])
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (("TCP_KEEPIDLE", 15), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, option):
            made.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
    return made


def _named() -> dict[str, str]:
    """Return the headers of every request: the client's version, as far as it is installed, and the type of bodies."""
    try:
        name = f"proctor-client/{version('proctor')}"
    except PackageNotFoundError:
        name = "proctor-client"
    return {"Content-Type": "application/json", "User-Agent": name}


def _seconds(header: str | None) -> float | None:
    try:
        return max(0.0, float(header or ""))
    except ValueError:  # none, or a date
        return None


def parse_answer(answer: bytes) -> Answer:
    """Return the JSON object in the answer, or an error that contains its text."""
    try:
        parsed = json.loads(answer)
    except ValueError:
        parsed = None
    return parsed if isinstance(parsed, dict) else {"error": {"message": answer[:200].decode(errors="replace").strip()}}
