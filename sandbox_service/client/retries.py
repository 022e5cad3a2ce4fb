"""Waits between the tries of a request, and reports a service that does not answer.

The transport sends the requests; this module only measures time and waits.
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from sandbox_service.client.errors import ServiceUnavailableError

FIRST_PAUSE_SECONDS = 0.25
LONGEST_PAUSE_SECONDS = 8.0
LONGEST_RETRY_AFTER_SECONDS = 60.0
NOTICE_SECONDS = 5.0


@dataclass(frozen=True)
class Peer:
    """The service to call, how long to wait for it, and its name and settings' names in messages."""

    url: str
    patience_seconds: float
    key_variable: str = ""  # the environment variable that may hold the key
    key: str | None = field(default=None, repr=False)  # takes precedence over the variable
    name: str = "reward service"
    url_setting: str = "url"
    patience_setting: str = "patience_seconds"
    answer_seconds: float = 0.0  # limit for a whole answer; 0: patience_seconds
    idle_seconds: float = 15.0  # a connection that was idle for longer is not used again: servers close theirs later

    @property
    def address(self) -> str:
        """The URL for messages: without a slash at the end, and without a key that it has as a password."""
        scheme, separator, rest = self.url.rstrip("/").partition("://")
        host, slash, path = rest.partition("/")
        return scheme + separator + host.rpartition("@")[2] + slash + path


class NoAnswerError(Exception):
    """A try without an answer, to be retried.

    Attributes:
        reason: Why there was none.
        since: The start of the outage (`time.monotonic`).
        retry_after: Seconds to wait, if the service said so.
    """

    def __init__(self, reason: str, since: float, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.since = since
        self.retry_after = retry_after


class RetryTimer:
    """Measures how long one request has failed, and waits between its tries."""

    def __init__(self, peer: Peer, outage: Outage) -> None:
        self._peer = peer
        self._outage = outage
        self._last_answer = -math.inf
        self._since = math.inf  # start of the outage
        self._pauses = pauses()

    def reset(self) -> None:
        """Note an answer: the next failure starts a new outage."""
        self._last_answer = time.monotonic()
        self._outage.note_answer()
        if self._since < math.inf:
            self._since, self._pauses = math.inf, pauses()

    async def wait(self, failure: NoAnswerError) -> None:
        """Wait until the next try. Raise ServiceUnavailableError if the service has been unavailable for too long."""
        self._since = min(self._since, max(failure.since, self._last_answer))
        pause = min(failure.retry_after or next(self._pauses), LONGEST_RETRY_AFTER_SECONDS)  # the service's own delay
        self._outage.note_failure(failure.reason, self._since)
        if time.monotonic() + pause - self._since > self._peer.patience_seconds:
            raise ServiceUnavailableError(
                f"the {self._peer.name} at {self._peer.address} has been away for "
                f"{time.monotonic() - self._since:.0f} s ({failure.reason}): see "
                + " and ".join(filter(None, (self._peer.url_setting, self._peer.patience_setting)))
            )
        await asyncio.sleep(pause)


class Outage:
    """The service's availability as seen by all requests together, for notices."""

    def __init__(self, name: str, notice: Callable[[str], None]) -> None:
        self._name = name
        self._notice = notice
        self._reported = -math.inf
        self._is_known = False  # the current outage was reported
        self._since: float | None = None
        self._past_seconds = 0.0  # seconds of past outages

    @property
    def seconds(self) -> float:
        """Total seconds without an answer."""
        return self._past_seconds + self._current_seconds

    @property
    def _current_seconds(self) -> float:
        return 0.0 if self._since is None else time.monotonic() - self._since

    def note_failure(self, reason: str, since: float) -> None:
        """Note a failed try.

        Args:
            reason: A description of the failure, for the report.
            since: Start of the outage, by the monotonic clock.
        """
        self._since = since if self._since is None else self._since
        self._is_known |= self.report(f"is away ({reason}): waiting")

    def note_answer(self) -> None:
        """Note an answer and report the end of an outage."""
        if self._since is not None:
            lasted, is_known = self._current_seconds, self._is_known
            self._past_seconds, self._since, self._is_known = self._past_seconds + lasted, None, False
            if is_known:
                self._notice(f"{self._name} is back after {lasted:.1f} s")

    def report(self, text: str) -> bool:
        """Report a text, unless something was reported less than NOTICE_SECONDS ago. Return whether it was reported."""
        is_due = time.monotonic() - self._reported >= NOTICE_SECONDS
        if is_due:
            self._reported = time.monotonic()
            self._notice(f"{self._name} {text}")
        return is_due


def pauses(count: float = math.inf) -> Iterator[float]:
    """Yield `count` times the seconds to wait between tries: doubled each time up to a maximum, with random jitter."""
    pause, number = FIRST_PAUSE_SECONDS, 0
    while number < count:
        yield pause * random.uniform(0.75, 1.25)  # noqa: S311 - jitter
        pause, number = min(2 * pause, LONGEST_PAUSE_SECONDS), number + 1
