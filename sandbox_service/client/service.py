"""Somebody who answers JSON over HTTP and may be away: patience with him, and plain words about him.

The reward service is one, and so is a model's server that an evaluation asks. One who is away is waited for, with the
same request on every try; what he refuses, another try would not change. What is asked is not known here.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import random
import socket
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from sandbox_service.client.errors import Away, Refused, Stranger

FIRST_PAUSE_SECONDS = 0.25
LONGEST_PAUSE_SECONDS = 8.0
LONGEST_TOLD_PAUSE_SECONDS = 60.0
CONNECT_SECONDS = 10.0
NOTICE_SECONDS = 5.0
QUIET_SECONDS = 30.0  # without an answer to anything, before that is said
SILENCE_SECONDS = 60.0  # in the middle of an answer that has a blank line every 15 s
AWAY = {408, 429, 502, 503, 504}

Answer = dict[str, Any]


@dataclass(frozen=True)
class Peer:
    """Who is asked, how long he is waited for, and what he and his settings are called in messages."""

    url: str
    patience_seconds: float
    key_variable: str = ""  # the environment variable that holds the key, if there is one
    key: str | None = field(default=None, repr=False)  # goes before the variable
    name: str = "reward service"
    url_setting: str = "url"
    patience_setting: str = "patience_seconds"
    answer_seconds: float = 0.0  # that an answer may take in all; 0: as long as he is waited for


class Nobody(Exception):
    """No answer yet. Why, since when (`time.monotonic`), and in how many seconds to come back if that was said."""

    def __init__(self, reason: str, since: float, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.since = since
        self.retry_after = retry_after


class Complaint(Exception):
    """Another status than 200, where lines were to come."""

    def __init__(self, status: int, answer: Answer) -> None:
        super().__init__(said(status, answer))
        self.status = status
        self.answer = answer


class Service:
    """Requests and answers, and the patience in between. To be used and closed in one event loop.

    `notice` is told, at most every 5 s, that he is away, and when he is back.
    """

    def __init__(self, peer: Peer, notice: Callable[[str], None]) -> None:
        if not peer.url.startswith(("http://", "https://")):
            raise Refused(f"{peer.url_setting}: {peer.url!r} does not begin with http:// or https://")
        self.peer = peer
        self._url = peer.url.rstrip("/")
        self._session: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._watch: asyncio.Task[None] | None = None
        self._open = 0
        self._heard = time.monotonic()
        self.outage = Outage(f"the {peer.name} at {self._url}", notice)

    @property
    def url(self) -> str:
        """For messages."""
        return self.peer.url

    async def close(self) -> None:
        """Let go of the connections."""
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
        if self._session is not None:
            await self._session.close()
        self._session = self._watch = None

    async def ask(self, method: str, path: str, body: bytes | None = None) -> tuple[int, Answer]:
        """Status and JSON, once there is somebody to give it. Raises Away, Refused; Stranger for what is no answer.

        He is away when he has given none for `patience_seconds`, whatever he did instead. No single try is shorter
        than that: to hang up would cancel what is waiting or being done.
        """
        patience = self.patience()
        while True:
            try:
                status, answer = await self.try_once(method, path, body)
            except Nobody as nobody:
                await patience.wait(nobody)
            else:
                patience.heard()
                return status, self._parsed(answer, status)

    def patience(self) -> Patience:
        """For one request, however often it is tried."""
        return Patience(self.peer, self.outage)

    async def try_once(self, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        """Status and body. Raises Nobody."""
        seconds = self.peer.answer_seconds or self.peer.patience_seconds
        async with self._answered(method, path, body, seconds) as answer:
            return answer.status, await answer.read()

    async def lines(self, method: str, path: str, body: bytes) -> AsyncGenerator[bytes, None]:
        """An answer's lines as they come, blank ones too. Raises Nobody when it breaks off, Complaint if it is none."""
        silence = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=SILENCE_SECONDS)
        async with self._answered(method, path, body, None, timeout=silence) as answer:
            if answer.status != 200:
                raise Complaint(answer.status, error_in(await answer.read()))
            async for line in _lines(answer.content):
                self._heard = time.monotonic()
                yield line

    def refusal(self, status: int, answer: Mapping[str, Any], what: str) -> Refused:
        """For an answer that another try would not change."""
        words = f"the {self.peer.name} at {self._url} refuses {what}: {said(status, answer)}"
        if status in (401, 403):
            words += f"; {self._key_trouble()}"
        if status in (404, 405):
            words += f"; is {self.peer.url_setting} the address of a {self.peer.name}?"
        return Refused(words, status, kind_of(answer))

    def stranger(self, words: str) -> Stranger:
        """For an answer that no such service gives."""
        return Stranger(f"{self.peer.url_setting}: what answers at {self._url} is not a {self.peer.name}: {words}")

    def _key_trouble(self) -> str:
        if self.peer.key:
            return "the key that was given is a wrong one"
        variable = self.peer.key_variable
        is_set = "holds a wrong key" if os.environ.get(variable) else "is not set"
        return f"the environment variable {variable} {is_set}"

    @asynccontextmanager
    async def _answered(
        self, method: str, path: str, body: bytes | None, seconds: float | None, **options: Any
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """An answer, to be read here within so many seconds; whatever comes between is Nobody."""
        began = time.monotonic()
        self._open += 1
        try:
            async with (
                asyncio.timeout(seconds),
                self._connected().request(method, self._url + path, data=body, **options) as answer,
            ):
                if answer.status in AWAY:
                    raise Nobody(
                        said(answer.status, error_in(await answer.read())),
                        time.monotonic(),
                        _seconds(answer.headers.get("Retry-After")),
                    )
                yield answer
        except TimeoutError as trouble:  # aiohttp's has words: while connecting, or of silence; asyncio's has none
            raise Nobody(str(trouble) or f"no answer in {seconds:g} s", began) from None
        except (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError) as trouble:
            raise Nobody(str(trouble) or type(trouble).__name__, time.monotonic()) from None
        except (aiohttp.InvalidURL, aiohttp.ClientResponseError) as trouble:
            raise Refused(
                f"{self.peer.url_setting}: {self._url} is not the address of a {self.peer.name}: {trouble}"
            ) from None
        finally:
            self._open -= 1
            self._heard = time.monotonic()

    def _connected(self) -> aiohttp.ClientSession:
        loop = asyncio.get_running_loop()
        if self._session is None:
            key = self.peer.key or os.environ.get(self.peer.key_variable)
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, socket_factory=_socket),
                headers={"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})},
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
            )
            self._loop = loop
            self._watch = asyncio.create_task(self._look_for_silence())
        if loop is not self._loop:
            raise RuntimeError("this client was first used in another event loop: make one for each")
        return self._session

    def _parsed(self, answer: bytes, status: int) -> Answer:
        parsed = error_in(answer)
        if status == 200 and "error" in parsed:
            raise self.stranger(said(status, parsed))
        return parsed

    async def _look_for_silence(self) -> None:
        """One who takes requests and says nothing is no trouble yet, but somebody may want to know."""
        while True:
            await asyncio.sleep(NOTICE_SECONDS)
            silent = time.monotonic() - self._heard
            if not self._open:
                self._heard = time.monotonic()
            elif silent > QUIET_SECONDS:
                self.outage.say(f"has answered nothing for {silent:.0f} s; {self._open} requests wait for it")


class Patience:
    """How long one request has been in vain, and how long it may be."""

    def __init__(self, peer: Peer, outage: Outage) -> None:
        self._peer = peer
        self._outage = outage
        self._heard = -math.inf
        self._since = math.inf  # when the trouble began
        self._pauses = pauses()

    def heard(self) -> None:
        """There is somebody."""
        self._heard = time.monotonic()
        self._outage.is_over()
        if self._since < math.inf:
            self._since, self._pauses = math.inf, pauses()

    async def wait(self, nobody: Nobody) -> None:
        """Until the next try. Raises Away if there has been nobody for too long."""
        self._since = min(self._since, max(nobody.since, self._heard))
        pause = min(nobody.retry_after or next(self._pauses), LONGEST_TOLD_PAUSE_SECONDS)  # it knows better
        self._outage.goes_on(nobody.reason, self._since)
        if time.monotonic() + pause - self._since > self._peer.patience_seconds:
            raise Away(
                f"the {self._peer.name} at {self._peer.url.rstrip('/')} has been away for "
                f"{time.monotonic() - self._since:.0f} s ({nobody.reason}): see "
                + " and ".join(filter(None, (self._peer.url_setting, self._peer.patience_setting)))
            )
        await asyncio.sleep(pause)


class Outage:
    """Whether somebody is there, as all requests see it together."""

    def __init__(self, who: str, notice: Callable[[str], None]) -> None:
        self._who = who
        self._notice = notice
        self._said = -math.inf
        self._is_known = False  # whoever is told was told of this one
        self._since: float | None = None
        self._ended = 0.0  # seconds of those that are over

    @property
    def seconds(self) -> float:
        """How long there was nobody, in all."""
        return self._ended + self._lasted

    @property
    def _lasted(self) -> float:
        return 0.0 if self._since is None else time.monotonic() - self._since

    def goes_on(self, reason: str, since: float) -> None:
        """Nobody is there."""
        self._since = since if self._since is None else self._since
        self._is_known |= self.say(f"is away ({reason}): waiting")

    def is_over(self) -> None:
        """There was an answer."""
        if self._since is not None:
            lasted, is_known = self._lasted, self._is_known
            self._ended, self._since, self._is_known = self._ended + lasted, None, False
            if is_known:
                self._notice(f"{self._who} is back after {lasted:.1f} s")

    def say(self, text: str) -> bool:
        """Unless something was said just now; whether it was said."""
        is_quiet = time.monotonic() - self._said >= NOTICE_SECONDS
        if is_quiet:
            self._said = time.monotonic()
            self._notice(f"{self._who} {text}")
        return is_quiet


def pauses(count: float = math.inf) -> Iterator[float]:
    """Seconds between tries: doubled each time, and not the same for all who wait."""
    pause, number = FIRST_PAUSE_SECONDS, 0
    while number < count:
        yield pause * random.uniform(0.75, 1.25)  # noqa: S311 - nothing secret
        pause, number = min(2 * pause, LONGEST_PAUSE_SECONDS), number + 1


def said(status: int, answer: Mapping[str, Any]) -> str:
    """What an answer that is no good says, in a few words."""
    error = answer.get("error")
    if not isinstance(error, Mapping):
        return f"{status} {json.dumps(answer)[:200]}"
    return " ".join(str(part) for part in (status, error.get("type"), error.get("message")) if part)


def kind_of(answer: Mapping[str, Any]) -> str:
    """The `type` of an answer's error; empty if there is none."""
    error = answer.get("error")
    return str(error.get("type") or "") if isinstance(error, Mapping) else ""


async def _lines(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """Of any length: aiohttp's own lines have at most 128 kB. What has no end was broken off, and is no line."""
    begun: list[bytes] = []
    async for piece in content.iter_any():
        first, *more = piece.split(b"\n")
        begun.append(first)
        for each in more:
            yield b"".join(begun)
            begun = [each]


def _socket(address: tuple[Any, ...]) -> socket.socket:
    """One that notices within half a minute that the other side's machine is gone, though nothing is to be sent."""
    made = socket.socket(*address[:3])
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (("TCP_KEEPIDLE", 15), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, option):
            made.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
    return made


def _seconds(header: str | None) -> float | None:
    try:
        return max(0.0, float(header or ""))
    except ValueError:  # none, or a date
        return None


def error_in(answer: bytes) -> Answer:
    """What is said, be it JSON or not."""
    try:
        parsed = json.loads(answer)
    except ValueError:
        parsed = None
    return parsed if isinstance(parsed, dict) else {"error": {"message": answer[:200].decode(errors="replace").strip()}}
