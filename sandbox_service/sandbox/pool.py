"""The sandboxes of one slot: one of each kind, started when needed, and a spare.

A run that loses its sandbox is repeated in another. If it loses that one too, a control program runs: if it succeeds,
the submission ended its sandboxes; otherwise the sandbox is at fault.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TypeVar

from sandbox_service.errors import BoxSetupError, JailDiedError, SandboxError
from sandbox_service.sandbox import canary
from sandbox_service.sandbox.base import Sandbox

T = TypeVar("T")
STANDARD = "std"


class ProgramKilledJailError(Exception):
    """Two sandboxes ended under this program while a control program succeeded: the program's failure."""


class JailPool:
    """Ready sandboxes for one slot. Not thread-safe."""

    def __init__(
        self,
        start: Callable[[str], Sandbox],
        uid: int,
        recycle_after: int,
        canary_seconds: float,
        standard: str = "std",
        uids: Mapping[str, int] | None = None,
    ) -> None:
        """Start nothing yet.

        Args:
            start: starts a sandbox with a zygote of that kind.
            uid: the uid that boxes must have.
            recycle_after: runs after which a sandbox is replaced.
            canary_seconds: how often the canary is repeated.
            standard: the kind that is always kept ready, with a spare.
            uids: by kind, the uids of boxes that have another one.
        """
        self._start = start
        self._standard = standard
        self._uid = uid
        self._uids = uids or {}
        self._recycle_after = recycle_after
        self._canary_seconds = canary_seconds
        self._jails: dict[str, Sandbox] = {}
        self._spare: Sandbox | None = None
        self._checked = 0.0
        self.replaced = 0

    def open(self) -> None:
        """Start the standard sandbox and prove it. Raises SandboxError."""
        jail = self.jail(self._standard)
        try:
            canary.check_deadline(jail)
        except SandboxError as fault:
            raise jail.explained(fault) from None
        self._make_spare()

    def jail(self, kind: str) -> Sandbox:
        """Return a ready, proved sandbox; start one if there is none.

        Args:
            kind: the kind of zygote.

        Raises:
            SandboxError: none started, or it is not isolated.
        """
        jail = self._jails.get(kind)
        if jail is not None and jail.runs < self._recycle_after:
            return jail
        if jail is not None:
            self.discard(kind)
        spare = self._take_spare(kind)
        if spare is not None:
            with suppress(JailDiedError):  # it may have died while it waited
                return self._proved(kind, spare)
        return self._proved(kind, self._start(kind))

    def _proved(self, kind: str, jail: Sandbox) -> Sandbox:
        self._jails[kind] = jail
        try:
            jail.wait_ready()
            canary.check(jail, self._uids.get(kind, self._uid))
        except SandboxError as fault:
            self.discard(kind)
            raise jail.explained(fault) from None
        self._checked = time.monotonic()
        self._make_spare()
        return jail

    def recheck(self) -> None:
        """Run the canary again if it is due. Raises SandboxError; the sandbox has then been killed."""
        if time.monotonic() - self._checked < self._canary_seconds:
            return
        for kind in list(self._jails):
            try:
                canary.check(self._jails[kind], self._uids.get(kind, self._uid))
            except SandboxError:
                self.discard(kind)
                raise
        self.jail(self._standard)
        self._checked = time.monotonic()

    def run(self, kind: str, action: Callable[[Sandbox], T]) -> T:
        """Call `action` with a sandbox, and once more with another if that one fails.

        Args:
            kind: the kind of zygote.
            action: one run.

        Returns:
            What `action` returns.

        Raises:
            ProgramKilledJailError: the program ended two sandboxes.
            SandboxError: the sandbox failed.
            BoxSetupError: two sandboxes could not set up a box.
        """
        try:
            return action(self.jail(kind))
        except (JailDiedError, BoxSetupError):
            self.discard(kind)
        jail = self.jail(kind)  # if none can be had, that says nothing about the program
        try:
            return action(jail)
        except JailDiedError as fault:
            self.discard(kind)
            self._control(kind)
            raise ProgramKilledJailError(str(fault)) from fault
        except BoxSetupError:
            self.discard(kind)
            raise

    def run_both(self, kind: str, other: str, action: Callable[[Sandbox, Sandbox], T]) -> T:
        """As `run`, with two sandboxes at the same time.

        Args:
            kind: the kind of zygote of the first one, in which the program runs.
            other: that of the second one.
            action: one run.

        Returns:
            What `action` returns.

        Raises:
            ProgramKilledJailError: the program ended two pairs of sandboxes.
            SandboxError: a sandbox failed.
        """
        try:
            return self._with_both(kind, other, action)
        except (JailDiedError, BoxSetupError):
            self.jail(kind)  # if none can be had, that says nothing about the program
            self.jail(other)
        try:
            return self._with_both(kind, other, action)
        except JailDiedError as fault:
            self._control(kind)
            self._control(other)
            raise ProgramKilledJailError(str(fault)) from fault

    def _with_both(self, kind: str, other: str, action: Callable[[Sandbox, Sandbox], T]) -> T:
        first, second = self.jail(kind), self.jail(other)
        try:
            return action(first, second)
        except BaseException:  # a box may still run, and its end would be taken for that of the next one
            self.discard(kind)
            self.discard(other)
            raise

    def distrust(self) -> None:
        """Run the canary before the next submission."""
        self._checked = 0.0

    def _control(self, kind: str) -> None:
        """Raise SandboxError unless a harmless program succeeds in a new sandbox."""
        jail = self.jail(kind)
        with jail.zygote.probes.control() as program:
            if jail.run_stdin(program, b"", canary.LIMITS).stdout != b"42\n":
                raise JailDiedError("a control program failed too")

    def discard(self, kind: str) -> None:
        """Kill the sandbox of this kind; the next call of `jail` starts another."""
        jail = self._jails.pop(kind, None)
        if jail is not None:
            self.replaced += 1
            jail.kill()

    def close(self) -> None:
        """Kill all sandboxes."""
        for kind in list(self._jails):
            self.discard(kind)
        if self._spare is not None:
            self._spare.kill()
            self._spare = None

    def jails(self) -> list[Sandbox]:
        """Return all sandboxes there are, the spare included."""
        return [*self._jails.values(), *([self._spare] if self._spare else [])]

    def _make_spare(self) -> None:
        if self._spare is None:
            with suppress(OSError, JailDiedError):  # a spare only saves time
                self._spare = self._start(self._standard)

    def _take_spare(self, kind: str) -> Sandbox | None:
        if kind != self._standard or self._spare is None:
            return None
        spare, self._spare = self._spare, None
        return spare
