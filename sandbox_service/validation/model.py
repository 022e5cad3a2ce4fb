"""Client for completions from an OpenAI-compatible endpoint, with limited concurrency.

Retries until `patience_seconds` have passed while the endpoint is unavailable (no connection, 429, server errors), and
reports that. A refusal raises an error that says what to change. If the endpoint refuses one prompt but answers others,
only that problem is affected.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from types import TracebackType
from typing import Any, Protocol, Self

from sandbox_service.errors import ConfigurationError, UnavailableError
from sandbox_service.validation import completions
from sandbox_service.validation.completions import Completion, EndpointUnavailableError, RefusalError
from sandbox_service.validation.recipe import Endpoint

Messages = Sequence[Mapping[str, str]]

CONNECT_SECONDS = 10.0
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.5, 30.0
NOTICE_SECONDS = 30.0  # between notices: an endpoint with a rate limit is unavailable every other second
MOST_SERVER_ERRORS = 5  # tries of one prompt that ends in 500; then another prompt is tried
UNAVAILABLE = {408, 409, 425, 429, 502, 503, 504, 529}
PROMPT_REFUSED = {400, 413, 422}  # the prompt may be the cause, for instance if it is too long
PROBE_PROMPT: Messages = [{"role": "user", "content": "Say yes."}]


class ModelRefusedError(Exception):
    """The endpoint refuses this prompt but takes others. The message is the endpoint's."""


class Completer(Protocol):
    """Completes prompts."""

    async def ask(self, messages: Messages, seed: int) -> Completion:
        """Return one completion.

        Args:
            messages: The conversation, as in OpenAI's chat completions.
            seed: Seed of the sampling.

        Raises:
            ModelRefusedError: The endpoint refuses this prompt.
            ConfigurationError: The endpoint refuses every prompt.
            UnavailableError: The endpoint was unavailable for `patience_seconds`.
        """
        ...


class Model:
    """An endpoint. An async context manager, to be used within one event loop.

    Args:
        options: Address, model and sampling.
        key: API key; empty for none.
        notice: Called with a message when the endpoint becomes unavailable, and when it is back.
    """

    def __init__(self, options: Endpoint, key: str, notice: Callable[[str], None]) -> None:
        self._options = options
        self._parts = completions.address(options.url)
        query = f"?{self._parts.query}" if self._parts.query else ""
        self._path = f"{self._parts.path.rstrip('/')}/chat/completions{query}"
        self._headers = completions.headers(key, options.key_variable)
        self._has_key = bool(key)
        self._notice = notice
        self._in_flight = asyncio.Semaphore(options.concurrency)
        self._threads = ThreadPoolExecutor(options.concurrency, "model")
        self._open: set[HTTPConnection] = set()
        self._probing = asyncio.Lock()
        self._answered = -math.inf  # when a completion came last
        self._said = -math.inf
        self._is_known_away = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close open connections: a completion may take many minutes."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for connection in list(self._open):
            _shut_down(connection)
        self._threads.shutdown()

    async def ask(self, messages: Messages, seed: int) -> Completion:
        """See `Completer`."""
        async with self._in_flight:
            began = time.monotonic()
            try:
                return await self._ask_with_retries(messages, seed, MOST_SERVER_ERRORS)
            except RefusalError as refusal:
                await self._check_other_prompts(refusal, began)
                raise ModelRefusedError(str(refusal)) from None

    async def _check_other_prompts(self, refusal: RefusalError, began: float) -> None:
        """Check that other prompts are answered. Raises ConfigurationError if not: the prompt is then not the cause."""
        async with self._probing:
            if self._answered >= began:
                return
            try:
                await self._ask_with_retries(PROBE_PROMPT, 0, math.inf)
            except RefusalError:
                raise ConfigurationError(self._advice(refusal)) from None

    async def _ask_with_retries(self, messages: Messages, seed: int, most_errors: float) -> Completion:
        since, errors = math.inf, 0
        for pause in _pauses():
            try:
                completion = await self._ask_once(messages, seed)
            except EndpointUnavailableError as away:
                errors += away.is_server_error
                if errors >= most_errors:
                    raise RefusalError(500, str(away)) from None
                since = min(since, time.monotonic())
                wait = max(pause, away.retry_after)
                self._wait_or_give_up(str(away), time.monotonic() - since, wait)
                await asyncio.sleep(wait)
            else:
                self._is_back()
                return completion
        raise AssertionError("pauses have no end")

    def _wait_or_give_up(self, reason: str, lasted: float, wait: float) -> None:
        patience = self._options.patience_seconds
        if lasted + wait > patience:
            raise UnavailableError(
                f"the model at {self._options.url} has been away for {lasted:.0f} s ({reason}); "
                "give the same command again to go on, or see url and patience_seconds in the recipe"
            )
        if time.monotonic() - self._said >= NOTICE_SECONDS:
            self._said, self._is_known_away = time.monotonic(), True
            self._notice(f"the model at {self._options.url} is away ({reason}): waiting, {patience:.0f} s at the most")

    def _is_back(self) -> None:
        self._answered = time.monotonic()
        if self._is_known_away:
            self._is_known_away = False
            self._notice(f"the model at {self._options.url} answers")

    async def _ask_once(self, messages: Messages, seed: int) -> Completion:
        options = self._options
        body: dict[str, Any] = {
            "model": options.model,
            "messages": list(messages),
            "temperature": options.temperature,
            "top_p": options.top_p,
            "max_tokens": options.max_tokens,
            "seed": seed,
            **options.extra,
        }
        loop = asyncio.get_running_loop()
        status, retry_after, answer = await loop.run_in_executor(self._threads, self._post, json.dumps(body).encode())
        return self._parsed(status, retry_after, answer)

    def _post(self, body: bytes) -> tuple[int, float, bytes]:
        """Send a request, in a thread. Returns the status, `Retry-After` in seconds (or 0), and the body."""
        connect = HTTPSConnection if self._parts.scheme == "https" else HTTPConnection
        connection = connect(self._parts.hostname or "", self._parts.port, timeout=CONNECT_SECONDS)
        self._open.add(connection)
        try:
            connection.connect()
            connection.sock.settimeout(self._options.patience_seconds)
            connection.request("POST", self._path, body, self._headers)
            response = connection.getresponse()
            return response.status, completions.retry_after_seconds(response), response.read()
        except UnicodeError:
            raise ConfigurationError(f"url: {self._options.url} has an invalid host name") from None
        except (OSError, HTTPException) as trouble:
            raise EndpointUnavailableError(f"{trouble or type(trouble).__name__}") from None
        finally:
            self._open.discard(connection)
            connection.close()

    def _parsed(self, status: int, retry_after: float, answer: bytes) -> Completion:
        if status == 200:
            return completions.parse_completion(answer, self._options.url)
        words = f"{status}: {completions.error_message(answer)}"
        if status in UNAVAILABLE:
            raise EndpointUnavailableError(words, retry_after)
        if status >= 500:
            raise EndpointUnavailableError(words, retry_after, is_server_error=True)
        refusal = RefusalError(status, words)
        if status in PROMPT_REFUSED:
            raise refusal
        raise ConfigurationError(self._advice(refusal))

    def _advice(self, refusal: RefusalError) -> str:
        """The refusal, and what to change."""
        words = f"the model at {self._options.url} refuses the request: {refusal}"
        variable = self._options.key_variable
        if refusal.status in (401, 403):
            return f"{words}\n  {variable} {'holds a wrong key' if self._has_key else 'is not set'}"
        if refusal.status in (404, 405) or 300 <= refusal.status < 400:
            return (
                f"{words}\n  is there a model {self._options.model!r}, and is url in the recipe what /chat/completions "
                "is added to? It often ends in /v1"
            )
        return f"{words}\n  change it in the recipe: model, temperature, top_p, max_tokens, extra"


def _pauses() -> Iterator[float]:
    """Seconds between tries: doubled each time, with jitter."""
    pause = FIRST_PAUSE_SECONDS
    while True:
        yield pause * random.uniform(0.75, 1.25)  # noqa: S311 - nothing secret
        pause = min(2 * pause, LONGEST_PAUSE_SECONDS)


def _shut_down(connection: HTTPConnection) -> None:
    """Shut the socket down, which wakes the thread that waits for it."""
    with suppress(OSError, AttributeError):  # it is not connected yet, or no more
        connection.sock.shutdown(socket.SHUT_RDWR)
