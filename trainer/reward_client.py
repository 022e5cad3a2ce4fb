"""The trainer's entry to `sandbox_service.client`: grades submissions and translates the client's errors.

HTTP, retries and waiting for an absent service are the client's. This module adds two things: the client's exceptions
become the trainer's (`UnavailableError`, `ConfigError`), and a problem's suite is hashed once for all its samples.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sandbox_service.client import AsyncClient, Grade, Peer, Suite, errors
from trainer.errors import ConfigError, UnavailableError

SUITE_CACHE_SIZE = 256  # suites of problems in use; the oldest is dropped first


@contextmanager
def trainer_errors() -> Iterator[None]:
    """Translate the client's exceptions.

    Raises:
        UnavailableError: The service did not answer for `Peer.patience_seconds`.
        ConfigError: The service refused the request, or the address is not that of such a service.
    """
    try:
        yield
    except errors.ServiceUnavailableError as unavailable:
        raise UnavailableError(str(unavailable)) from None
    except (errors.RefusedError, errors.NotProctorError) as refused:
        raise ConfigError(str(refused)) from None


class RewardClient(AsyncClient):
    """An `AsyncClient` with the trainer's exceptions. Use and close it in one event loop."""

    def __init__(self, peer: Peer, *, notice: Callable[[str], None] = print) -> None:
        with trainer_errors():
            super().__init__(peer, notice=notice)
        self._suites_by_tests: OrderedDict[int, tuple[object, Suite]] = OrderedDict()

    async def grade_problem(self, submission: Mapping[str, Any], grading: Mapping[str, Any], problem: str) -> Grade:
        """Return the grade of a submission to a problem; see `trainer_errors`.

        Args:
            submission: The fields of `schema.Submission` except its tests.
            grading: The problem's grading fields; "suite" or "tests" is read. The tests must not be modified later.
            problem: The problem's id, for messages.
        """
        suite = grading.get("suite") or self._suite_of(grading["tests"])
        with trainer_errors():
            return await self.grade(name=f"problem {problem!r}", **submission, suite=suite)

    def _suite_of(self, tests: Sequence[Any]) -> Suite:
        """Return the suite of these tests, cached by identity: hashing megabytes for every sample is slow."""
        key = id(tests)  # the entry holds a reference to `tests`, so that the id cannot be reused
        if key not in self._suites_by_tests:
            self._suites_by_tests[key] = (tests, Suite.of(tests))
            if len(self._suites_by_tests) > SUITE_CACHE_SIZE:
                self._suites_by_tests.popitem(last=False)
        return self._suites_by_tests[key][1]
