"""The reward service's word on a submission, as a run asks for it: tests have a name, and errors are a run's."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sandbox_service.client import AsyncClient, Grade, Suite, reason_of
from trainer.service import Peer, as_ours

SUITES_REMEMBERED = 256  # names of tests that are in use; more are only worked out again

__all__ = ["Grade", "Grades", "reason_of"]


class Grades:
    """Asks for them. To be used and closed in one event loop; `notice` as for AsyncClient."""

    def __init__(self, peer: Peer, notice: Callable[[str], None] = print) -> None:
        with as_ours():
            self._client = AsyncClient(peer, notice=notice)
        self._suites: OrderedDict[int, tuple[object, Suite]] = OrderedDict()

    @property
    def away_seconds(self) -> float:
        """How long the service has been away, in all."""
        return self._client.away_seconds

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.close()

    async def of(self, submission: Mapping[str, Any], grading: Mapping[str, Any], problem: str) -> Grade:
        """The grade of a submission, which has all but its tests: those are `grading`'s "tests" or "suite".

        `problem` is its name in messages. Raises Away, and ConfigError for what the service refuses.
        """
        suite = grading.get("suite") or self._suite(grading["tests"])
        with as_ours():
            return await self._client.grade(name=f"problem {problem!r}", **submission, suite=suite)

    def _suite(self, tests: Sequence[Any]) -> Suite:
        """Of these tests; worked out once while they are in use, for they may be megabytes. Nobody changes them."""
        key = id(tests)  # `tests` is kept beside it, so no other object can have it
        if key not in self._suites:
            self._suites[key] = (tests, Suite.of(tests))
            if len(self._suites) > SUITES_REMEMBERED:
                self._suites.popitem(last=False)
        return self._suites[key][1]
