"""Ends a run when the reward service returns no verdict for too many samples."""

from __future__ import annotations

import math
from collections import Counter, deque

from trainer.errors import TooManyFaultsError

WINDOW = 1000  # samples
EVIDENCE = 200  # samples that a share is computed of at least
DEVIATIONS = 3.0  # standard deviations


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
