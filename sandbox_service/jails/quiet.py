"""Running alone: a lock between the slots of one machine, so that a suspect time-out can be repeated undisturbed.

Everybody who works holds the lock shared; who needs quiet takes it alone. A second lock, the gate, is passed by all
on their way in, so that one who waits for quiet is not kept waiting by a stream of newcomers.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager


class Quiet:
    """The two locks, on files that every slot opens for itself (a lock belongs to the opening)."""

    def __init__(self, gate_path: str, room_path: str) -> None:
        self._gate = os.open(gate_path, os.O_RDWR | os.O_CLOEXEC)
        self._room = os.open(room_path, os.O_RDWR | os.O_CLOEXEC)

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Work beside others."""
        self._enter(fcntl.LOCK_SH)
        try:
            yield
        finally:
            fcntl.flock(self._room, fcntl.LOCK_UN)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Work while nobody else does. To be entered from within `shared`, which is given up meanwhile."""
        fcntl.flock(self._room, fcntl.LOCK_UN)
        self._enter(fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._room, fcntl.LOCK_SH)

    def _enter(self, how: int) -> None:
        fcntl.flock(self._gate, fcntl.LOCK_EX if how == fcntl.LOCK_EX else fcntl.LOCK_SH)
        try:
            fcntl.flock(self._room, how)
        finally:
            fcntl.flock(self._gate, fcntl.LOCK_UN)


class NoQuiet:
    """For a slot that has no neighbours."""

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Nothing to do."""
        yield

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Nothing to do."""
        yield
