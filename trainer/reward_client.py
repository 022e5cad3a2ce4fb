"""The trainer's entry to `sandbox_service.client`: grades submissions, translates errors, and counts missing verdicts.

HTTP, retries and waiting for an absent service are the client's. Here the client's exceptions become the trainer's
(`UnavailableError`, `ConfigError`), a problem's suite is hashed once for all its samples, and a run ends when too many
samples have no verdict.
"""

from __future__ import annotations

import math
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sandbox_service.client import AsyncClient, Grade, Peer, Suite, errors
from trainer.errors import ConfigError, TooManyFaultsError, UnavailableError

SUITE_CACHE_SIZE = 256  # suites of problems in use; the oldest is dropped first
WINDOW = 1000  # samples
EVIDENCE = 200  # samples that a share is computed of at least
DEVIATIONS = 3.0  # standard deviations


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
        """Return the grade of a submission, its fields except the tests, to a problem; see `trainer_errors`.

        Of the grading fields "suite" or "tests" is read. The tests must not be modified later. The problem's id is for
        messages.
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


class FaultGauge:
    """Counts samples without a verdict over a sliding window.

    Of the last n samples (at most 1000), f have no verdict; n is taken as 200 if it is smaller. With the allowed share
    s, the run ends when f > n·s + 3·√(n·s·(1 - s)), three standard deviations of the binomial distribution above its
    mean. For s = 1 % this is 7 of the first 200 or 20 of 1000: a true share of 2 % ends the run within its first 1000
    samples, and 0.5 % does not. With s = 0 the first sample without a verdict ends the run.
    """

    def __init__(self, share: float, setting: str = "reward.max_fault_share") -> None:
        self._share = share
        self._setting = setting
        self._last: deque[str | None] = deque(maxlen=WINDOW)  # reasons of faults; None for a verdict

    def count(self, fault: str | None) -> None:
        """Count a sample by its fault: why it has no verdict, None if it has one.

        Raises:
            TooManyFaultsError: The share of samples without a verdict is too high.
        """
        self._last.append(fault)
        if fault is None:
            return
        reasons = Counter(reason for reason in self._last if reason is not None)
        faults, graded = reasons.total(), len(self._last)
        expected = max(graded, EVIDENCE) * self._share
        if faults > expected + DEVIATIONS * math.sqrt(expected * (1 - self._share)):
            often = "".join(f"\n  {count} × {reason}" for reason, count in reasons.most_common(3))
            raise TooManyFaultsError(
                f"the reward service returned no verdict for {faults} of the last {graded} samples "
                f"({faults / graded:.1%}; {self._setting} is {self._share:.1%}): see its log. Most frequent reasons:"
                + often
            )
