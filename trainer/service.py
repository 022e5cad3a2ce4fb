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
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp

from trainer.errors import Away, ConfigError

FIRST_PAUSE_SECONDS = 0.25
LONGEST_PAUSE_SECONDS = 8.0
LONGEST_TOLD_PAUSE_SECONDS = 60.0
CONNECT_SECONDS = 10.0
NOTICE_SECONDS = 5.0
QUIET_SECONDS = 30.0  # without an answer to anything, before that is said
AWAY = {408, 429, 502, 503, 504}

Answer = dict[str, Any]


@dataclass(frozen=True)
class Peer:
    """Who is asked, how long he is waited for, and what he and his settings are called in messages."""

    url: str
    patience_seconds: float
    key_variable: str = ""  # the environment variable that holds the key, if there is one
    name: str = "reward service"
    url_setting: str = "reward.url"
    patience_setting: str = "reward.patience_seconds"
    answer_seconds: float = 0.0  # that an answer may take in all; 0: as long as he is waited for


class Service:
    """Requests and answers, and the patience in between. To be used and closed in one event loop.

    `notice` is told, at most every 5 s, that he is away, and when he is back.
    """

    def __init__(self, peer: Peer, notice: Callable[[str], None]) -> None:
        if not peer.url.startswith(("http://", "https://")):
            raise ConfigError(f"{peer.url_setting}: {peer.url!r} does not begin with http:// or https://")
        self._peer = peer
        self._url = peer.url.rstrip("/")
        self._session: aiohttp.ClientSession | None = None
        self._watch: asyncio.Task[None] | None = None
        self._open = 0
        self._heard = time.monotonic()
        self.outage = Outage(f"the {peer.name} at {self._url}", notice)

    @property
    def url(self) -> str:
        """For messages."""
        return self._peer.url

    async def close(self) -> None:
        """Let go of the connections."""
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
        if self._session is not None:
            await self._session.close()
        self._session = self._watch = None

    async def ask(self, method: str, path: str, body: bytes | None = None) -> tuple[int, Answer]:
        """Status and JSON, once there is somebody to give it. Raises Away, and ConfigError for what is no answer.

        He is away when he has given none for `patience_seconds`, whatever he did instead. No single try is shorter
        than that: to hang up would cancel what is waiting or being done.
        """
        since = math.inf  # when the trouble began
        for pause in pauses():
            began = time.monotonic()
            try:
                status, retry_after, answer = await self._once(method, path, body)
            except TimeoutError as trouble:  # of aiohttp's: while connecting; of asyncio's: without words, in all
                reason, since = str(trouble) or f"no answer in {self._answer_seconds:g} s", min(since, began)
            except (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError) as trouble:
                reason, since = str(trouble) or type(trouble).__name__, min(since, time.monotonic())
            else:
                if status not in AWAY:
                    self.outage.is_over()
                    return status, self._parsed(answer, status)
                reason, since = said(status, _error(answer)), min(since, time.monotonic())
                pause = retry_after or pause  # it knows better
            self.outage.goes_on(reason, since)
            if time.monotonic() + pause - since > self._peer.patience_seconds:
                raise Away(
                    f"the {self._peer.name} at {self._url} has been away for {time.monotonic() - since:.0f} s "
                    f"({reason}): see {self._peer.url_setting} and {self._peer.patience_setting}"
                )
            await asyncio.sleep(pause)
        raise AssertionError("pauses have no end")

    def refusal(self, status: int, answer: Mapping[str, Any], what: str) -> ConfigError:
        """For an answer that another try would not change."""
        words = f"the {self._peer.name} at {self._url} refuses {what}: {said(status, answer)}"
        variable = self._peer.key_variable
        if status in (401, 403):
            is_set = "holds a wrong key" if os.environ.get(variable) else "is not set"
            return ConfigError(f"{words}\n  the environment variable {variable} {is_set}")
        if status in (404, 405):
            return ConfigError(f"{words}\n  is {self._peer.url_setting} the address of a {self._peer.name}?")
        return ConfigError(words)

    def stranger(self, words: str) -> ConfigError:
        """For an answer that no such service gives."""
        return ConfigError(f"{self._peer.url_setting}: what answers at {self._url} is not a {self._peer.name}: {words}")

    @property
    def _answer_seconds(self) -> float:
        return self._peer.answer_seconds or self._peer.patience_seconds

    async def _once(self, method: str, path: str, body: bytes | None) -> tuple[int, float | None, bytes]:
        """Status, what `Retry-After` says in seconds, and the body."""
        self._open += 1
        try:
            async with asyncio.timeout(self._answer_seconds):
                async with self._connected().request(method, self._url + path, data=body) as response:
                    answer = await response.read()
                    return response.status, _seconds(response.headers.get("Retry-After")), answer
        except (aiohttp.InvalidURL, aiohttp.ClientResponseError) as trouble:
            raise ConfigError(
                f"{self._peer.url_setting}: {self._url} is not the address of a {self._peer.name}: {trouble}"
            ) from None
        finally:
            self._open -= 1
            self._heard = time.monotonic()

    def _connected(self) -> aiohttp.ClientSession:
        if self._session is None:
            key = os.environ.get(self._peer.key_variable)
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, socket_factory=_socket),
                headers={"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})},
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
            )
            self._watch = asyncio.create_task(self._look_for_silence())
        return self._session

    def _parsed(self, answer: bytes, status: int) -> Answer:
        parsed = _error(answer)
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
        return min(max(float(header or ""), 0.0), LONGEST_TOLD_PAUSE_SECONDS)
    except ValueError:  # none, or a date
        return None


def _error(answer: bytes) -> Answer:
    """What is said, be it JSON or not."""
    try:
        parsed = json.loads(answer)
    except ValueError:
        parsed = None
    return parsed if isinstance(parsed, dict) else {"error": {"message": answer[:200].decode(errors="replace").strip()}}
