"""Estimates the CPU seconds of submissions from the times of the last ones; queues are bounded by them."""

from __future__ import annotations

FIRST_GUESS_SECONDS = 0.05
MEMORY = 0.01  # weight of the last answer in the mean, so that the last few hundred decide


class Estimate:
    """The moving mean of the seconds of a test in a slot."""

    def __init__(self) -> None:
        self._seconds = FIRST_GUESS_SECONDS

    def cost(self, tests: int) -> float:
        """Return the estimated seconds of so many tests."""
        return tests * self._seconds

    def learn(self, seconds: float, tests: int) -> None:
        """Note that so many tests have taken so many seconds."""
        if tests:
            self._seconds += MEMORY * (seconds / tests - self._seconds)
