"""Tests under the name that the service has for them: the hash of their bytes. They are sent once, and named then.

What a service was given it may have lost, so a name here is only a guess that is right most of the time.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from sandbox_service.client.plain import encoded

SUITES_KEPT = 256  # of those that were put by hand, to be put again; more have to be put by hand again


@dataclass(frozen=True)
class Suite:
    """Tests as the service stores them. A submission that has one for `suite` needs no thought about who put it."""

    id: str
    body: bytes

    @classmethod
    def of(cls, tests: Sequence[Any], checker: Any = None, limits: Any = None) -> Self:
        """The suite of these tests, dicts or nouns of the schema; `checker` and `limits` as in a submission."""
        said = {"tests": tests, "checker": checker, "limits": limits}
        body = encoded({name: value for name, value in said.items() if value is not None}, sort_keys=True)
        return cls("sha256:" + hashlib.sha256(body).hexdigest(), body)


class Suites:
    """Which are there, how often each was put, and who is putting it now."""

    def __init__(self) -> None:
        self.there: set[str] = set()
        self._kept: OrderedDict[str, Suite] = OrderedDict()
        self._puts: Counter[str] = Counter()
        self._locks: dict[str, asyncio.Lock] = {}

    def keep(self, suite: Suite) -> None:
        """To put it again where only its name is given."""
        self._kept[suite.id] = suite
        self._kept.move_to_end(suite.id)
        if len(self._kept) > SUITES_KEPT:
            self._kept.popitem(last=False)

    def kept(self, name: str) -> Suite | None:
        """One that was put by hand, not too long ago."""
        return self._kept.get(name)

    def puts(self, name: str) -> int:
        """How often it was put."""
        return self._puts[name]

    def count_put(self, name: str) -> None:
        """It was put once more."""
        self._puts[name] += 1
        self.there.add(name)

    def lock(self, name: str) -> asyncio.Lock:
        """For one to put it while the others of its group wait."""
        return self._locks.setdefault(name, asyncio.Lock())
