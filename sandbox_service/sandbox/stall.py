"""Decides when a box that several runs share is stopped, since its present run does not end soon.

Such a run is repeated in a box of its own, with the whole limit, so that an endless run costs its limit once and not
twice. A long run that would have ended is repeated as well, and costs a part of the limit more. Only the first run of a
box may use the whole limit: no other run came before it, so that its end is final.
"""

from __future__ import annotations

import time

from sandbox_service.schema import Limits

CPU_SHARE = 0.05  # of the limit
WALL_SHARE = 0.2  # more, since a busy machine delays each run
LEAST_LOOK_SECONDS, MOST_LOOK_SECONDS = 0.005, 1.0


class Stall:
    """The patience with one run in a shared box."""

    def __init__(self, limits: Limits, cpu_seconds: float, began: float | None = None) -> None:
        """Begin with a run.

        Args:
            limits: those of the box.
            cpu_seconds: what the box has used before this run.
            began: when the run began, on the monotonic clock; None for now.
        """
        self._cpu_end = cpu_seconds + CPU_SHARE * limits.cpu_seconds
        self._wall_end = (time.monotonic() if began is None else began) + WALL_SHARE * limits.wall

    def is_over(self, cpu_seconds: float | None) -> bool:
        """Return whether the run took too long.

        Args:
            cpu_seconds: what the box has used until now; None if it has ended.
        """
        return cpu_seconds is not None and (cpu_seconds > self._cpu_end or time.monotonic() > self._wall_end)

    @staticmethod
    def look_seconds(limits: Limits) -> float:
        """Return how long to wait for news before looking at the box."""
        return min(max(CPU_SHARE / 2 * limits.cpu_seconds, LEAST_LOOK_SECONDS), MOST_LOOK_SECONDS)
