"""Suites on the client's side: tests that are uploaded once and then referred to by the hash of their bytes.

The service may lose a suite, so the client's record of uploads can be wrong and is corrected by the service's errors.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from sandbox_service.client.json_encoding import encoded

SUITES_KEPT = 256  # uploaded by `put_suite`; older ones are not uploaded again automatically


@dataclass(frozen=True)
class Suite:
    """Tests in the form that the service stores. As a submission's `suite` it is uploaded automatically."""

    id: str
    body: bytes

    @classmethod
    def of(
        cls,
        tests: Sequence[Any],
        checker: Any = None,
        limits: Any = None,
        *,
        interactor: Any = None,
        groups: Sequence[Any] | None = None,
    ) -> Self:
        """Return the suite of these tests.

        Args:
            tests: The tests, as plain values or models.
            checker: As in a submission.
            limits: As in a submission.
            interactor: As in a submission.
            groups: As in a submission.
        """
        given = {"tests": tests, "checker": checker, "limits": limits, "interactor": interactor, "groups": groups}
        body = encoded({name: value for name, value in given.items() if value is not None}, sort_keys=True)
        return cls("sha256:" + hashlib.sha256(body).hexdigest(), body)


class SuiteCache:
    """Records which suites the service has, how often each was uploaded, and which are being uploaded."""

    def __init__(self) -> None:
        self.there: set[str] = set()
        self._kept: OrderedDict[str, Suite] = OrderedDict()
        self._puts: Counter[str] = Counter()
        self._locks: dict[str, asyncio.Lock] = {}

    def keep(self, suite: Suite) -> None:
        """Keep a suite, so that it can be uploaded again when only its id is given."""
        self._kept[suite.id] = suite
        self._kept.move_to_end(suite.id)
        if len(self._kept) > SUITES_KEPT:
            self._kept.popitem(last=False)

    def kept(self, name: str) -> Suite | None:
        """Return the suite of that name, if it was kept recently."""
        return self._kept.get(name)

    def puts(self, name: str) -> int:
        """Return the number of uploads of the suite of that name."""
        return self._puts[name]

    def count_put(self, name: str) -> None:
        """Count an upload of the suite of that name."""
        self._puts[name] += 1
        self.there.add(name)

    def lock(self, name: str) -> asyncio.Lock:
        """Return the lock that lets one task upload the suite of that name while others wait."""
        return self._locks.setdefault(name, asyncio.Lock())
