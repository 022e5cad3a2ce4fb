"""How many samples may be without a verdict before that is no accident any more."""

from __future__ import annotations

import math
from collections import Counter, deque

from trainer.errors import TooManyFaults

GAUGE_WINDOW = 1000
GAUGE_EVIDENCE = 200
GAUGE_DEVIATIONS = 3.0


class FaultGauge:
    """Ends a run whose samples have no verdict too often.

    Of the last 1000 samples, or as many as there were, f had none. With n of them, taken for 200 if there are fewer,
    and the share s that is allowed, the run ends when f > n·s + 3·√(n·s·(1 - s)): three standard deviations above what
    such a share gives by chance. With s = 1 %, that is 7 of the first 200 or 20 of 1000; so 2 % ends a run within its
    first 1000 samples, more does sooner, and ½ % does not. With s = 0 the first one does.
    """

    def __init__(
        self,
        share: float,
        window: int = GAUGE_WINDOW,
        evidence: int = GAUGE_EVIDENCE,
        setting: str = "reward.max_fault_share",
    ) -> None:
        self._share = share
        self._evidence = evidence
        self._setting = setting
        self._last: deque[str | None] = deque(maxlen=window)  # reasons of faults; None: there was a verdict

    def count(self, fault: str | None) -> None:
        """Take in one more: why it has no verdict, or None if it has one. Raises TooManyFaults."""
        self._last.append(fault)
        if fault is None:
            return
        reasons = Counter(reason for reason in self._last if reason is not None)
        if reasons.total() > self._bound():
            raise TooManyFaults(self._message(reasons))

    def _bound(self) -> float:
        expected = max(len(self._last), self._evidence) * self._share
        return expected + GAUGE_DEVIATIONS * math.sqrt(expected * (1 - self._share))

    def _message(self, reasons: Counter[str]) -> str:
        faults, graded = reasons.total(), len(self._last)
        often = [f"{count} × {reason}" for reason, count in reasons.most_common(3)]
        return "\n  ".join(
            [
                f"the reward service could not tell what {faults} of the last {graded} samples are worth "
                f"({faults / graded:.1%}; {self._setting} is {self._share:.1%}): its log says more. Most often:",
                *often,
            ]
        )
