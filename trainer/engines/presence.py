"""Waiting for a vLLM server: until it is well, or there is no patience left. If it is ours and dead, it is started."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from trainer.engines import door
from trainer.engines.base import Interrupted, Notice
from trainer.engines.door import Door, Failed
from trainer.engines.process import VllmProcess
from trainer.errors import Away

NOTICE_SECONDS = 5.0
FIRST_DELAY, MOST_DELAY = 0.1, 3.0
MOST_DEATHS = 3  # of a server that we start, one after the other; of one that never was up, 1

State = dict[str, Any]


class Presence:
    """Of the server behind a door; `process` if we start it."""

    def __init__(self, door: Door, notice: Notice, patience_seconds: float, process: VllmProcess | None) -> None:
        self._door = door
        self._notice = notice
        self._patience = patience_seconds
        self._process = process
        self._was_up = False
        self._trouble = ""

    async def wait(self, why: str) -> list[State]:
        """The states of its workers, once it is well. Raises Away; TrainerError if it is not as we need it."""
        self._trouble = why
        began = time.monotonic()
        tell = _Rarely(began)
        delay, deaths = FIRST_DELAY, 0
        while (states := await self._states()) is None:
            deaths += self._revive(deaths)
            away = time.monotonic() - began
            if away > self._patience:
                raise Away(self._farewell(away))
            tell(lambda: self._notice(self._waiting(time.monotonic() - began)))
            await asyncio.sleep(delay)
            delay = min(delay * 1.5, MOST_DELAY)
        if self._was_up and time.monotonic() - began > NOTICE_SECONDS:
            self._notice(f"vLLM at {self._door.url} is back after {time.monotonic() - began:.0f} s")
        self._was_up = True
        return states

    async def _states(self) -> list[State] | None:
        if not await self._door.is_well():
            return None
        try:
            return await self._door.call("proctor_state", seconds=door.WELL_SECONDS)
        except (Interrupted, Failed) as trouble:
            self._trouble = str(trouble)
            return None

    def _revive(self, deaths: int) -> int:
        """Start our own server if it is dead; how often it was. Raises Away if that is of no use."""
        if self._process is None or self._process.is_running:
            return 0
        if deaths >= (MOST_DEATHS if self._was_up else 1):
            raise Away(f"vLLM died as it started, and will again. {self._log()}")
        if self._was_up:
            self._notice(f"vLLM at {self._door.url} died: starting it again (its log is {self._process.log})")
        self._process.start()
        return 1

    def _waiting(self, seconds: float) -> str:
        what = f"is away for {seconds:.0f} s ({self._trouble})" if self._was_up else f"is not up after {seconds:.0f} s"
        return f"vLLM at {self._door.url} {what}; waiting for {self._patience:g} s"

    def _farewell(self, seconds: float) -> str:
        return (
            f"vLLM at {self._door.url} stayed away for {seconds:.0f} s ({self._trouble}), longer than the run has "
            f"patience (rollout.patience_seconds). {self._log()}"
        )

    def _log(self) -> str:
        return f"The end of {self._process.log}:\n{self._process.tail()}" if self._process else ""


class _Rarely:
    """Lets something be done every NOTICE_SECONDS."""

    def __init__(self, now: float) -> None:
        self._last = now

    def __call__(self, do: Callable[[], None]) -> None:
        if time.monotonic() - self._last > NOTICE_SECONDS:
            self._last = time.monotonic()
            do()
