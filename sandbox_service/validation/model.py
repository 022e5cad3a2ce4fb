"""A model behind an OpenAI-compatible endpoint, which is asked for completions: as many at once as the recipe says.

Somebody who is away (no connection, 429, a fault of its own) is waited for, and that is said. What it refuses is said
with what to change. A prompt that it refuses while it answers others is that problem's trouble and nobody else's.
Nothing is kept here, and what a completion is worth is not asked.
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
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from types import TracebackType
from typing import Any, Protocol, Self
from urllib.parse import SplitResult, urlsplit

from sandbox_service.errors import ConfigurationError, Unavailable
from sandbox_service.validation.recipe import Difficulty

Messages = Sequence[Mapping[str, str]]

CONNECT_SECONDS = 10.0
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.5, 30.0
NOTICE_SECONDS = 30.0  # between two words about absences: who limits a rate is away every other second
STUMBLES = 5  # tries at a fault of its own (500) for one prompt; then another prompt is tried
AWAY = {408, 409, 425, 429, 502, 503, 504, 529}
THE_PROMPTS = {400, 413, 422}  # may be for what was asked, such as a prompt beyond the model's room
UNFINISHED = {"abort", "error"}  # how a server says that it, and not the model, put an end to a completion
GREETING: Messages = [{"role": "user", "content": "Say yes."}]


@dataclass(frozen=True, slots=True)
class Completion:
    """What the model said, and whether `max_tokens` cut it off."""

    text: str
    is_cut: bool
    tokens: int | None = None


class Refused(Exception):
    """The endpoint does not take this prompt, though it takes others; the message is its own."""


class Asks(Protocol):
    """Whoever completes."""

    async def ask(self, messages: Messages, seed: int) -> Completion:
        """One completion. Raises Refused, ConfigurationError, and Unavailable when patience is at its end."""
        ...


class Model:
    """To be entered and left in one event loop. `key`: of the endpoint, or nothing; `notice` is told of absences."""

    def __init__(self, asked: Difficulty, key: str, notice: Callable[[str], None]) -> None:
        self._asked = asked
        self._parts = _parts(asked.url)
        query = f"?{self._parts.query}" if self._parts.query else ""
        self._path = f"{self._parts.path.rstrip('/')}/chat/completions{query}"
        self._headers = _headers(key, asked.key_variable)
        self._has_key = bool(key)
        self._notice = notice
        self._room = asyncio.Semaphore(asked.concurrency)
        self._threads = ThreadPoolExecutor(asked.concurrency, "model")
        self._open: set[HTTPConnection] = set()
        self._greeting = asyncio.Lock()
        self._answered = -math.inf  # when a completion came last
        self._said = -math.inf
        self._is_known_away = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Whatever is still on its way is hung up on: a completion may take many minutes."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for connection in list(self._open):
            _hang_up(connection)
        self._threads.shutdown()

    async def ask(self, messages: Messages, seed: int) -> Completion:
        """See Asks."""
        async with self._room:
            began = time.monotonic()
            try:
                return await self._patiently(messages, seed, STUMBLES)
            except _Refusal as refusal:
                await self._prove_the_others(refusal, began)
                raise Refused(str(refusal)) from None

    async def _prove_the_others(self, refusal: _Refusal, began: float) -> None:
        """That other prompts are answered. Raises ConfigurationError if none is: then it is not the prompt."""
        async with self._greeting:
            if self._answered >= began:
                return
            try:
                await self._patiently(GREETING, 0, math.inf)
            except _Refusal:
                raise ConfigurationError(self._advice(refusal)) from None

    async def _patiently(self, messages: Messages, seed: int, most_stumbles: float) -> Completion:
        since, stumbles = math.inf, 0
        for pause in _pauses():
            try:
                completion = await self._once(messages, seed)
            except _Away as away:
                stumbles += away.is_stumble
                if stumbles >= most_stumbles:
                    raise _Refusal(500, str(away)) from None
                since = min(since, time.monotonic())
                wait = max(pause, away.retry_after)
                self._wait_or_give_up(str(away), time.monotonic() - since, wait)
                await asyncio.sleep(wait)
            else:
                self._is_back()
                return completion
        raise AssertionError("pauses have no end")

    def _wait_or_give_up(self, reason: str, lasted: float, wait: float) -> None:
        patience = self._asked.patience_seconds
        if lasted + wait > patience:
            raise Unavailable(
                f"the model at {self._asked.url} has been away for {lasted:.0f} s ({reason}); "
                "run it again to go on, or see difficulty.url and difficulty.patience_seconds"
            )
        if time.monotonic() - self._said >= NOTICE_SECONDS:
            self._said, self._is_known_away = time.monotonic(), True
            self._notice(f"the model at {self._asked.url} is away ({reason}): waiting, {patience:.0f} s at the most")

    def _is_back(self) -> None:
        self._answered = time.monotonic()
        if self._is_known_away:
            self._is_known_away = False
            self._notice(f"the model at {self._asked.url} answers")

    async def _once(self, messages: Messages, seed: int) -> Completion:
        asked = self._asked
        body: dict[str, Any] = {
            "model": asked.model,
            "messages": list(messages),
            "temperature": asked.temperature,
            "top_p": asked.top_p,
            "max_tokens": asked.max_tokens,
            "seed": seed,
            **asked.extra,
        }
        loop = asyncio.get_running_loop()
        status, retry_after, answer = await loop.run_in_executor(self._threads, self._post, json.dumps(body).encode())
        return self._taken(status, retry_after, answer)

    def _post(self, body: bytes) -> tuple[int, float, bytes]:
        """In a thread: status, what `Retry-After` says in seconds (or 0), and the answer."""
        connect = HTTPSConnection if self._parts.scheme == "https" else HTTPConnection
        connection = connect(self._parts.hostname or "", self._parts.port, timeout=CONNECT_SECONDS)
        self._open.add(connection)
        try:
            connection.connect()
            connection.sock.settimeout(self._asked.patience_seconds)
            connection.request("POST", self._path, body, self._headers)
            response = connection.getresponse()
            return response.status, _retry_after(response), response.read()
        except UnicodeError:
            raise ConfigurationError(f"difficulty.url: {self._asked.url} names no host that there can be") from None
        except (OSError, HTTPException) as trouble:
            raise _Away(f"{trouble or type(trouble).__name__}") from None
        finally:
            self._open.discard(connection)
            connection.close()

    def _taken(self, status: int, retry_after: float, answer: bytes) -> Completion:
        if status == 200:
            return _completion(answer, self._asked.url)
        words = f"{status}: {_complaint(answer)}"
        if status in AWAY:
            raise _Away(words, retry_after)
        if status >= 500:
            raise _Away(words, retry_after, is_stumble=True)
        refusal = _Refusal(status, words)
        if status in THE_PROMPTS:
            raise refusal
        raise ConfigurationError(self._advice(refusal))

    def _advice(self, refusal: _Refusal) -> str:
        """What was refused, and what to change."""
        words = f"the model at {self._asked.url} refuses what it is asked: {refusal}"
        variable = self._asked.key_variable
        if refusal.status in (401, 403):
            return f"{words}\n  {variable} {'holds a wrong key' if self._has_key else 'is not set'}"
        if refusal.status in (404, 405) or 300 <= refusal.status < 400:
            return (
                f"{words}\n  is there a model {self._asked.model!r}, and is difficulty.url what /chat/completions is "
                "added to? It often ends in /v1"
            )
        return f"{words}\n  change it in the recipe's [difficulty]: model, temperature, top_p, max_tokens, extra"


class _Away(Exception):
    """Another try may do; perhaps not before `retry_after` seconds. A stumble: it was there, and failed."""

    def __init__(self, words: str, retry_after: float = 0.0, *, is_stumble: bool = False) -> None:
        super().__init__(words)
        self.retry_after = retry_after
        self.is_stumble = is_stumble


class _Refusal(Exception):
    """Another try would not change it."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


def _completion(answer: bytes, url: str) -> Completion:
    """Raises _Away for a completion that the server did not end well, ConfigurationError for what is none."""
    try:
        said = json.loads(answer)
        if "error" in said and "choices" not in said:
            raise _Away(_complaint(answer), is_stumble=True)
        choice = said["choices"][0]
        text, reason = choice["message"].get("content") or "", choice.get("finish_reason")
        tokens = (said.get("usage") or {}).get("completion_tokens")
    except (ValueError, LookupError, TypeError, AttributeError):
        raise ConfigurationError(
            f"difficulty.url: what answers at {url} does not speak OpenAI's chat completions: {_start(answer)}"
        ) from None
    if reason in UNFINISHED:
        raise _Away(f"it ended a completion by {reason!r}", is_stumble=True)
    text = str(text).encode("utf-8", "replace").decode()  # half a surrogate pair is no text for the judge
    return Completion(text, reason == "length", tokens if isinstance(tokens, int) else None)


def _complaint(answer: bytes) -> str:
    """In the endpoint's words, wherever it puts them."""
    try:
        said = json.loads(answer)
        found = said.get("error", said.get("detail", said)) if isinstance(said, dict) else said
        return str(found.get("message", found) if isinstance(found, dict) else found)[:500]
    except ValueError:
        return _start(answer)


def _start(answer: bytes) -> str:
    return repr(answer[:120].decode("utf-8", "replace"))


def _retry_after(response: HTTPResponse) -> float:
    """RFC 9110, 10.2.3: seconds, or a date."""
    said = (response.getheader("Retry-After") or "").strip()
    if said.isascii() and said.isdigit():
        return float(said)
    with suppress(ValueError, TypeError):
        return max(0.0, parsedate_to_datetime(said).timestamp() - time.time())
    return 0.0


def _pauses() -> Iterator[float]:
    """Seconds between tries: doubled each time, and not the same for all who wait."""
    pause = FIRST_PAUSE_SECONDS
    while True:
        yield pause * random.uniform(0.75, 1.25)  # noqa: S311 - nothing secret
        pause = min(2 * pause, LONGEST_PAUSE_SECONDS)


def _parts(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        is_good = is_good and url.isascii() and url.isprintable() and " " not in url
    except ValueError as error:
        raise ConfigurationError(f"difficulty.url: {url}: {error}") from None
    if not is_good:
        raise ConfigurationError(f"difficulty.url: {url} is no address like http://127.0.0.1:8000/v1")
    return parts


def _headers(key: str, variable: str) -> dict[str, str]:
    if not (key.isascii() and key.isprintable()):
        raise ConfigurationError(f"{variable} holds what cannot be a key: signs that no header can carry")
    return {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}


def _hang_up(connection: HTTPConnection) -> None:
    """The thread that waits for it is woken."""
    with suppress(OSError, AttributeError):  # it is not connected yet, or no more
        connection.sock.shutdown(socket.SHUT_RDWR)
