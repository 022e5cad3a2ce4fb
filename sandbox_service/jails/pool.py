"""The jails of one slot: one of each kind when it is needed, a spare, and what happens when one dies.

A run that loses its jail is done again in another. If it loses that one too, a control program tells whose fault it
is: if the control runs well, the program itself ended its jails; else the sandbox is at fault.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from sandbox_service.errors import JailDied, SandboxFault, SetupFailed
from sandbox_service.jails import canary, diagnosis
from sandbox_service.jails.files import Program
from sandbox_service.jails.firejail import Jail, Place

T = TypeVar("T")


class ProgramKilledJail(Exception):
    """Two jails ended under this program while a control program ran well: a statement about the program."""


class JailPool:
    """Ready jails for one slot. Not thread-safe."""

    def __init__(self, place: Place, uid: int, recycle_after: int, canary_seconds: float) -> None:
        self._place = place
        self._uid = uid
        self._recycle_after = recycle_after
        self._canary_seconds = canary_seconds
        self._jails: dict[str, Jail] = {}
        self._spare: Jail | None = None
        self._checked = 0.0
        self.replaced = 0

    def open(self) -> None:
        """Start the standard jail and prove it. Raises SandboxFault."""
        jail = self.jail("std")
        try:
            canary.check_deadline(jail)
        except SandboxFault as fault:
            raise diagnosis.explained(fault) from None
        self._make_spare()

    def jail(self, kind: str) -> Jail:
        """A ready, proved jail of this kind. Raises SandboxFault."""
        jail = self._jails.get(kind)
        if jail is not None and jail.runs < self._recycle_after:
            return jail
        if jail is not None:
            self.discard(kind)
        spare = self._take_spare(kind)
        if spare is not None:
            with suppress(JailDied):  # it may have died while it waited
                return self._proved(kind, spare)
        return self._proved(kind, Jail(self._place, kind))

    def _proved(self, kind: str, jail: Jail) -> Jail:
        self._jails[kind] = jail
        try:
            jail.wait_ready()
            canary.check(jail, self._uid)
        except SandboxFault as fault:
            self.discard(kind)
            raise diagnosis.explained(fault) from None
        self._checked = time.monotonic()
        self._make_spare()
        return jail

    def recheck(self) -> None:
        """Run the canary again if it is due. Raises SandboxFault; the jail is then gone."""
        if time.monotonic() - self._checked < self._canary_seconds:
            return
        for kind in list(self._jails):
            try:
                canary.check(self._jails[kind], self._uid)
            except SandboxFault:
                self.discard(kind)
                raise
        self.jail("std")
        self._checked = time.monotonic()

    def run(self, kind: str, action: Callable[[Jail], T]) -> T:
        """Do `action` with a jail, once more in another if that one fails.

        Raises ProgramKilledJail if the program is to blame, SandboxFault if we are.
        """
        try:
            return action(self.jail(kind))
        except (JailDied, SetupFailed):
            self.discard(kind)
        jail = self.jail(kind)  # if none can be had, that says nothing about the program
        try:
            return action(jail)
        except JailDied as fault:
            self.discard(kind)
            self._control(kind)
            raise ProgramKilledJail(str(fault)) from fault
        except SetupFailed:
            self.discard(kind)
            raise

    def distrust(self) -> None:
        """Have the canary run before the next submission."""
        self._checked = 0.0

    def _control(self, kind: str) -> None:
        """Raises SandboxFault unless a harmless program runs well in a new jail."""
        jail = self.jail(kind)
        with Program("print(6 * 7)") as program:
            if jail.run_stdin(program, b"", canary.LIMITS).stdout != b"42\n":
                raise JailDied("a control program failed too")

    def discard(self, kind: str) -> None:
        """Kill the jail of this kind; the next one is another."""
        jail = self._jails.pop(kind, None)
        if jail is not None:
            self.replaced += 1
            jail.kill()

    def close(self) -> None:
        """Kill everything."""
        for kind in list(self._jails):
            self.discard(kind)
        if self._spare is not None:
            self._spare.kill()
            self._spare = None

    def jails(self) -> list[Jail]:
        """All jails there are, the spare included."""
        return [*self._jails.values(), *([self._spare] if self._spare else [])]

    def _make_spare(self) -> None:
        if self._spare is None:
            with suppress(OSError, JailDied):  # a spare only saves time
                self._spare = Jail(self._place, "std")

    def _take_spare(self, kind: str) -> Jail | None:
        if kind != "std" or self._spare is None:
            return None
        spare, self._spare = self._spare, None
        return spare
