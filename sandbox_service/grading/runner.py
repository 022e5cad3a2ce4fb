"""Runs actions in a slot's sandboxes, and repeats a run whose outcome the machine may have caused."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import TypeVar

from sandbox_service.errors import SandboxError
from sandbox_service.judging.verdict import is_suspect, judge
from sandbox_service.sandbox.base import Outcome, Sandbox
from sandbox_service.sandbox.exclusive import ExclusiveRun, NoExclusiveRun
from sandbox_service.sandbox.pool import JailPool
from sandbox_service.schema import Limits, Verdict

T = TypeVar("T")


class Runner:
    """The sandboxes of one slot.

    Attributes:
        slow_alone: a time-out of the current submission was repeated alone and timed out again; its other time-outs
            are not repeated.
    """

    def __init__(self, jails: JailPool, exclusive: ExclusiveRun | NoExclusiveRun) -> None:
        self._jails = jails
        self._exclusive = exclusive
        self.slow_alone = False

    def run(self, kind: str, limits: Limits, action: Callable[[Sandbox], T], outcome_of: Callable[[T], Outcome]) -> T:
        """Run once; once more if the box was killed from outside, and once more alone if a time-out is suspect.

        Args:
            kind: the kind of zygote.
            limits: the limits of the run.
            action: the run.
            outcome_of: the outcome that decides, of what `action` returns.

        Returns:
            What the last call of `action` returned.

        Raises:
            ProgramKilledJailError: the program ended its sandboxes.
            SandboxError: the sandbox failed.
        """
        return self._settled(lambda: self._jails.run(kind, action), limits, outcome_of)

    def run_both(
        self,
        kinds: tuple[str, str],
        limits: Limits,
        action: Callable[[Sandbox, Sandbox], T],
        outcome_of: Callable[[T], Outcome],
    ) -> T:
        """As `run`, in two sandboxes at the same time: the program's and the judge's.

        Args:
            kinds: the kinds of zygote.
            limits: the limits of the program.
            action: the run.
            outcome_of: the outcome of the program, of what `action` returns.

        Returns:
            What the last call of `action` returned.

        Raises:
            ProgramKilledJailError: the program ended its sandboxes.
            SandboxError: a sandbox failed.
        """
        return self._settled(lambda: self._jails.run_both(*kinds, action), limits, outcome_of)

    def counts(self, outcome: Outcome, limits: Limits) -> bool:
        """Return whether `run` would not repeat a run for this outcome.

        Args:
            outcome: of the run.
            limits: the limits of the run.
        """
        if _killed_from_outside(outcome, limits):
            return False
        return self.slow_alone or not is_suspect(outcome, limits)

    def _settled(self, run_once: Callable[[], T], limits: Limits, outcome_of: Callable[[T], Outcome]) -> T:
        """Return the result of a run that the machine did not cause. Raise SandboxError if it was killed twice."""
        with self._exclusive.shared():
            result = run_once()
            if _killed_from_outside(outcome_of(result), limits):
                result = run_once()
                if _killed_from_outside(outcome_of(result), limits):
                    raise SandboxError("the box was killed from outside, twice: is the machine out of memory?")
        if is_suspect(outcome_of(result), limits) and not self.slow_alone:
            with self._exclusive.alone():
                result = run_once()
            self.slow_alone = outcome_of(result).timed_out
        return result


def _killed_from_outside(outcome: Outcome, limits: Limits) -> bool:
    """Return whether the box ended by a SIGKILL that no limit of the run explains.

    A box is PID 1 of its namespace, so that no signal sent in it is a SIGKILL. A limit that it set itself is told apart
    by the zygote.
    """
    if outcome.signal != signal.SIGKILL or outcome.timed_out:
        return False
    return judge(outcome, limits)[0] == Verdict.RTE
