"""Measures where a step's wall time goes, by named spans that add up to the step.

    clock.reset()
    with clock("generate"):
        …
    clock.count_as_wait(batch.reward_wait_seconds)
    clock.seconds()  # {"generate": …, "wait": …, "other": …}

The time of a nested span counts for the inner span only. Sampling and grading overlap, so grading has no span: "wait"
is the time from the end of the last sample to the last reward.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

NAMES = ("generate", "wait", "train", "sync", "evaluate", "save", "other")  # in the order of a step


class Clock:
    """A span timer for one thread."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._name = "other"  # the innermost open span
        self.reset()

    def reset(self) -> None:
        self._since = self._now()
        self._seconds = {"other": 0.0}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Measure a block under a name, one of NAMES."""
        outer = self._switch(name)
        try:
            yield
        finally:
            self._switch(outer)

    def count_as_wait(self, seconds: float) -> None:
        """Count some seconds of "generate", at most all of them, as "wait"."""
        moved = min(max(seconds, 0.0), self._seconds.get("generate", 0.0))
        for name, change in (("generate", -moved), ("wait", moved)):
            self._seconds[name] = self._seconds.get(name, 0.0) + change

    def seconds(self) -> dict[str, float]:
        """Return the seconds by name since the last reset; "other" is the time outside all spans."""
        self._switch(self._name)
        return dict(self._seconds)

    def _switch(self, name: str) -> str:
        """Count the time until now for the open span, open another one (name), and return the former."""
        now, former = self._now(), self._name
        self._seconds[former] = self._seconds.get(former, 0.0) + now - self._since
        self._since, self._name = now, name
        return former
