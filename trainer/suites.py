"""Tests under the name that the reward service has for them: worked out once, and put there once."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

SUITES_REMEMBERED = 256  # names of tests that are in use; more are only worked out again


@dataclass(frozen=True)
class Suite:
    """Tests as the service stores them: its name for them is the hash of their bytes."""

    id: str
    body: bytes


class Suites:
    """Which tests have which name, and how often each was put."""

    def __init__(self) -> None:
        self._known: OrderedDict[int, tuple[object, Suite]] = OrderedDict()
        self._puts: Counter[str] = Counter()
        self._locks: dict[str, asyncio.Lock] = {}

    def of(self, tests: Sequence[Any]) -> Suite:
        """The suite of these tests; worked out once while they are in use, for they may be megabytes."""
        key = id(tests)  # `tests` is kept beside it, so no other object can have it
        if key not in self._known:
            body = json.dumps({"tests": tests}, sort_keys=True, separators=(",", ":")).encode()
            self._known[key] = (tests, Suite("sha256:" + hashlib.sha256(body).hexdigest(), body))
            if len(self._known) > SUITES_REMEMBERED:
                self._known.popitem(last=False)
        return self._known[key][1]

    def puts(self, name: str) -> int:
        """How often it was put."""
        return self._puts[name]

    def count_put(self, name: str) -> None:
        """It was put once more."""
        self._puts[name] += 1

    def lock(self, name: str) -> asyncio.Lock:
        """For one to put it while the others of its group wait."""
        return self._locks.setdefault(name, asyncio.Lock())
