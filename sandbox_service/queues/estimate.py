"""How long work will take, guessed from how long the last took: what queues are bounded by."""

from __future__ import annotations

FIRST_GUESS_SECONDS = 0.05
MEMORY = 0.01  # each answer counts this much, so the last few hundred decide


class Estimate:
    """The mean time of a test in a slot, of late. Seconds."""

    def __init__(self) -> None:
        self._seconds = FIRST_GUESS_SECONDS

    def cost(self, tests: int) -> float:
        """What so many tests will take."""
        return tests * self._seconds

    def learn(self, seconds: float, tests: int) -> None:
        """So many tests have taken so long."""
        if tests:
            self._seconds += MEMORY * (seconds / tests - self._seconds)
