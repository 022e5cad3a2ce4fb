"""A lock between the slots of one machine, so that a suspect time-out can be repeated without other runs.

Every run of a box holds the lock shared; a repeated run takes it exclusively. All take a second lock, the gate, on
their way in, so that a slot that waits for exclusiveness is not overtaken by new shared runs.

An exclusive run stops all other slots. A budget, kept in the locked file, bounds the time for which it may: SHARE of
all time, and BURST_SECONDS at once. When the budget is used up, a repeat runs beside others.
"""

from __future__ import annotations

import fcntl
import os
import struct
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

SHARE = 0.1
BURST_SECONDS = 5.0
BUDGET = struct.Struct("<dd")  # seconds left, and the monotonic time of that figure


class ExclusiveRun:
    """The two locks, on files that every slot opens for itself: flock(2) belongs to the open file description."""

    def __init__(self, gate_path: str, lock_path: str) -> None:
        self._gate = os.open(gate_path, os.O_RDWR | os.O_CLOEXEC)
        self._lock = os.open(lock_path, os.O_RDWR | os.O_CLOEXEC)
        self._shared = _Shared(self._gate, self._lock)

    def shared(self) -> AbstractContextManager[None]:
        """Return a context in which a box runs beside others. It must not be entered again from within."""
        return self._shared

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Run a box while no other slot runs one; beside others if the budget is used up. Not within `shared`."""
        fcntl.flock(self._gate, fcntl.LOCK_EX)
        began = time.monotonic()  # from now on new runs wait
        try:
            is_alone = self._enter()
        finally:
            fcntl.flock(self._gate, fcntl.LOCK_UN)
        try:
            yield
        finally:
            if is_alone:
                self._spend(time.monotonic() - began)
            fcntl.flock(self._lock, fcntl.LOCK_UN)

    def _enter(self) -> bool:
        """Take the lock; return whether exclusively: another slot may have used the budget up while this one waited."""
        if self._left() > 0:
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            if self._left() > 0:
                return True
        fcntl.flock(self._lock, fcntl.LOCK_SH)
        return False

    def _left(self) -> float:
        """Return the seconds for which other slots may be stopped now."""
        written = os.pread(self._lock, BUDGET.size, 0)
        if len(written) < BUDGET.size:
            return BURST_SECONDS
        left, then = BUDGET.unpack(written)
        seconds: float = left + SHARE * (time.monotonic() - then)
        return min(BURST_SECONDS, seconds)

    def _spend(self, seconds: float) -> None:
        os.pwrite(self._lock, BUDGET.pack(self._left() - seconds, time.monotonic()), 0)


class _Shared:
    """The context of `ExclusiveRun.shared`. A class, because a generator costs every run a microsecond more."""

    __slots__ = ("_gate", "_lock")

    def __init__(self, gate: int, lock: int) -> None:
        self._gate = gate
        self._lock = lock

    def __enter__(self) -> None:
        fcntl.flock(self._gate, fcntl.LOCK_SH)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_SH)
        finally:
            fcntl.flock(self._gate, fcntl.LOCK_UN)

    def __exit__(self, *_: object) -> None:
        fcntl.flock(self._lock, fcntl.LOCK_UN)


class NoExclusiveRun:
    """For the only slot of a machine: no locks."""

    def shared(self) -> AbstractContextManager[None]:
        """Return a context that does nothing."""
        return nullcontext()

    def alone(self) -> AbstractContextManager[None]:
        """Return a context that does nothing."""
        return nullcontext()
