"""Waits for the end of a box that makes several calls, and stops it if a call after the first does not end soon.

The results show how far it is. The submission controls them: one that writes them at other times only has calls
repeated, or not stopped.
"""

from __future__ import annotations

import os
import time

from sandbox_service.errors import SandboxError
from sandbox_service.sandbox.base import Outcome
from sandbox_service.sandbox.running import RunningBox
from sandbox_service.sandbox.stall import Stall
from sandbox_service.schema import Limits

MOST_READ_BYTES = 1 << 20  # to count results; with more, a call is not stopped


def end_of(box: RunningBox, results: int, count: int, limits: Limits) -> Outcome:
    """Return the outcome of a box without its stdout. A box that was stopped ended as if it had been done.

    Args:
        box: the box, started.
        results: the file with a line for each result.
        count: how many results are expected.
        limits: those of the box.

    Raises:
        SandboxError: the sandbox failed.
    """
    progress = _Progress(box, results, count, limits)
    return box.end(Stall.look_seconds(limits), progress.is_stalled)


class _Progress:
    """The results that a box has written, and since when there are no more."""

    def __init__(self, box: RunningBox, results: int, count: int, limits: Limits) -> None:
        self._box, self._results, self._count, self._limits = box, results, count, limits
        self._written = 0
        self._stall: Stall | None = None  # before the first result, the whole limit is the call's own

    def is_stalled(self) -> bool:
        """Return whether the present call takes too long, and others came before it."""
        cpu, written = self._cpu_seconds(), os.fstat(self._results).st_size
        if cpu is None:
            return False
        if written != self._written:
            self._written, self._stall = written, Stall(self._limits, cpu)
        return self._stall is not None and self._stall.is_over(cpu) and self._is_unfinished()

    def _is_unfinished(self) -> bool:
        text = os.pread(self._results, MOST_READ_BYTES, 0)
        return len(text) < MOST_READ_BYTES and text.count(b"\n") < self._count

    def _cpu_seconds(self) -> float | None:
        try:
            return time.clock_gettime(self._box.cpu_clock())
        except (OSError, SandboxError):  # it has just ended
            return None
