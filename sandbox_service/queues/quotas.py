"""Quotas of API keys: how many submissions, and seconds of slots, a key may use in a minute.

What a key has used is a level that falls by its quota each minute, down to zero. While the level is below the quota,
the key's submissions are taken, whole batches too, and raise the level, above the quota as well; then the key is
refused until the level has fallen below it. So no batch is too large, and on average no key uses more than its quota.
Time in slots is known only when a submission is graded, and raises the level then.

Rechecks, cached answers and answers that were given before raise nothing. The levels of one machine are in memory; a
fleet's are in Redis (`Ledger.charge`), so that all API processes count together.
"""

from __future__ import annotations

import math
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from sandbox_service.bounds.api_keys import KeyTerms
from sandbox_service.errors import OverQuotaError
from sandbox_service.queues.base import Job
from sandbox_service.queues.observers import GradedEvent

MINUTE = 60.0
REFUSED_IDS = 10_000  # remembered, so that a held request counts once


class Usage(NamedTuple):
    """An amount of submissions and of seconds in slots."""

    submissions: float = 0.0
    slot_seconds: float = 0.0


class Levels(Protocol):
    """Keeps the levels of all keys."""

    async def charge(self, key: str, usage: Usage, quota: Usage) -> Usage:
        """Raise a key's levels and return them.

        Args:
            key: Name of the key.
            usage: What it has used since the last call.
            quota: What it may use in a minute.
        """


class LocalLevels:
    """The levels of one machine; see Levels."""

    def __init__(self) -> None:
        self._levels: dict[str, tuple[float, Usage]] = {}

    async def charge(self, key: str, usage: Usage, quota: Usage) -> Usage:
        """See Levels."""
        now = time.monotonic()
        since, before = self._levels.get(key, (now, Usage()))
        fallen = (fall(*each, now - since) for each in zip(before, quota, strict=True))
        level = Usage(*map(sum, zip(fallen, usage, strict=True)))
        self._levels[key] = (now, level)
        return level


def fall(level: float, quota: float, seconds: float) -> float:
    """Return a level some time later.

    Args:
        level: The level before.
        quota: By how much it falls in a minute.
        seconds: The time.
    """
    return max(0.0, level - quota * seconds / MINUTE) if seconds > 0 else level


class Quotas:
    """Checks the quotas of keys and counts their use, as a QueueObserver.

    Attributes:
        refused: How many requests of each key were refused, by the key's name. One that is tried again counts once.

    Args:
        terms: What is said of each key, by its name.
        levels: Keeps their levels.
    """

    def __init__(self, terms: Mapping[str, KeyTerms], levels: Levels) -> None:
        self._terms = {name: each for name, each in terms.items() if each.is_bounded}
        self._levels = levels
        self._used: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])  # since the last charge
        self.refused: Counter[str] = Counter()
        self._refused_ids: dict[str, None] = {}  # the latest

    @property
    def are_any(self) -> bool:
        """True if a key has a quota."""
        return bool(self._terms)

    async def check(self, jobs: Sequence[Job], are_known: Callable[[], Awaitable[bool]] | None = None) -> None:
        """Check that the keys of some jobs have something left.

        Args:
            jobs: Those that are not known from before.
            are_known: Looks up elsewhere whether all of them are known; called before they are refused.

        Raises:
            OverQuotaError: A key has nothing left.
        """  # noqa: DOC501 (`_refusal` makes the exception)
        for key in self._keys(jobs):
            terms = self._terms[key]
            quota = Usage(terms.submissions, terms.slot_seconds)
            level = await self._charge(key)
            most = Usage(terms.submissions - min(1.0, terms.submissions), terms.slot_seconds)  # room for one submission
            waits = [
                ((level[each] - most[each]) * MINUTE / quota[each], f"{quota[each]:g} {Usage._fields[each]}")
                for each in range(2)
                if level[each] > most[each]
            ]
            if waits and not (are_known is not None and await are_known()):
                self._count_refused(key, next(job.id for job in jobs if key_of(job) == key))
                raise _refusal(terms.label or key, *max(waits))

    def submitted(self, jobs: Sequence[Job]) -> None:
        """Count submissions that were taken and are not known from before."""
        if self._terms:
            for job in jobs:
                key = key_of(job)
                if key in self._terms and not job.fresh:
                    self._used[key][0] += 1

    def graded(self, event: GradedEvent) -> None:
        """See QueueObserver: count the time that a graded submission took in a slot."""
        key = key_of(event.job)
        if key in self._terms:
            self._used[key][1] += event.answer.head["timing"]["graded_seconds"]

    def closing(self) -> None:
        """See QueueObserver."""

    async def flush(self) -> None:
        """Charge the use since the last charge, so that other API processes know of it."""
        for key in list(self._used):
            await self._charge(key)

    def _count_refused(self, key: str, job_id: str) -> None:
        if job_id not in self._refused_ids:
            self.refused[key] += 1
            if len(self._refused_ids) >= REFUSED_IDS:
                del self._refused_ids[next(iter(self._refused_ids))]
            self._refused_ids[job_id] = None

    async def _charge(self, key: str) -> Usage:
        terms = self._terms[key]
        used = self._used.pop(key, [0.0, 0.0])
        try:
            return await self._levels.charge(key, Usage(*used), Usage(terms.submissions, terms.slot_seconds))
        except BaseException:  # such as a Redis that does not answer: charged later
            self._used[key] = [sum(each) for each in zip(self._used[key], used, strict=True)]
            raise

    def _keys(self, jobs: Iterable[Job]) -> list[str]:
        if not self._terms:
            return []
        found = dict.fromkeys(key_of(job) for job in jobs if not job.fresh)
        return [key for key in found if key in self._terms]


def key_of(job: Job) -> str:
    """Return the name of the API key that a job came with; empty without one."""
    return job.client.partition("/")[0]


def _refusal(label: str, seconds: float, quota: str) -> OverQuotaError:
    """Return the error for a key that has used up a quota and has some of it again after so many seconds."""
    wait = max(1.0, math.ceil(seconds))
    message = f"key {label} has used up its quota of {quota} a minute; it has some again in {wait:.0f} s"
    return OverQuotaError(message, wait)
