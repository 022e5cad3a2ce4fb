"""Where a step's time goes: wall seconds by name, that add up to the step.

    clock.reset()
    with clock("generate"):
        …
    clock.move("generate", "wait", batch.rewarding)
    clock.seconds()  # {"generate": …, "wait": …, "other": …}

Of a span within another the time counts once, for the inner. Sampling and grading overlap, so grading has no time of
its own: "wait" is from the last sample's end to the last reward.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

NAMES = ("generate", "wait", "train", "sync", "save", "other")  # in the order of a step


class Clock:
    """For one thread."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._spans: list[float] = []  # for each open span the seconds that belong to others
        self.reset()

    def reset(self) -> None:
        """Begin again, as at the beginning of a step. Not within a span."""
        assert not self._spans, "a span is open"
        self._began = self._now()
        self._seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Count what is done in here under this name."""
        began = self._now()
        self._spans.append(0.0)
        try:
            yield
        finally:
            inner = self._spans.pop()
            whole = self._now() - began
            self._seconds[name] = self._seconds.get(name, 0.0) + whole - inner
            if self._spans:
                self._spans[-1] += whole

    def move(self, source: str, target: str, seconds: float) -> None:
        """Count some of what was counted under one name under another; no more than there is."""
        seconds = min(max(seconds, 0.0), self._seconds.get(source, 0.0))
        self._seconds[source] = self._seconds.get(source, 0.0) - seconds
        self._seconds[target] = self._seconds.get(target, 0.0) + seconds

    def seconds(self) -> dict[str, float]:
        """By name since the last reset; "other" is what was under no name. Not within a span."""
        other = self._now() - self._began - sum(self._seconds.values())
        return self._seconds | {"other": max(other, 0.0)}
