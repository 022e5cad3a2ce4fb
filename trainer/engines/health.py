"""Waits until a vLLM server is healthy, and restarts it if the trainer started it and it died."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from trainer.engines.base import Notice
from trainer.engines.process import VllmProcess
from trainer.engines.retry import FIRST_DELAY, MOST_DELAY
from trainer.engines.vllm_api import HEALTH_TIMEOUT_SECONDS, RequestFailedError, VllmApi
from trainer.errors import InterruptedGenerationError, UnavailableError

NOTICE_SECONDS = 5.0
MOST_DEATHS = 3  # consecutive deaths of a server the trainer starts; 1 if it was never up

State = dict[str, Any]


class HealthMonitor:
    """Monitors one server; `process` is given if the trainer starts it."""

    def __init__(self, api: VllmApi, notice: Notice, patience_seconds: float, process: VllmProcess | None) -> None:
        self._api = api
        self._notice = notice
        self._patience = patience_seconds
        self._process = process
        self._was_up = False
        self._error = ""

    async def wait(self, why: str) -> list[State]:
        """Return the states of the server's workers once it is healthy; messages say why it is not.

        Raises:
            UnavailableError: It was not healthy within `patience_seconds`, or died too often.
            TrainerError: The server refuses the extension's methods.
        """
        self._error = why
        began = time.monotonic()
        told, delay, deaths = began, FIRST_DELAY, 0
        while (states := await self._states()) is None:
            deaths += self._revive(deaths)
            away = time.monotonic() - began
            if away > self._patience:
                raise UnavailableError(self._timeout_message(away))
            if time.monotonic() - told > NOTICE_SECONDS:
                told = time.monotonic()
                self._notice(self._waiting_message(away))
            await asyncio.sleep(delay)
            delay = min(delay * 1.5, MOST_DELAY)
        if self._was_up and time.monotonic() - began > NOTICE_SECONDS:
            self._notice(f"vLLM at {self._api.url} is back after {time.monotonic() - began:.0f} s")
        self._was_up = True
        return states

    async def _states(self) -> list[State] | None:
        if not await self._api.is_healthy():
            return None
        try:
            return await self._api.call("proctor_state", seconds=HEALTH_TIMEOUT_SECONDS)
        except (InterruptedGenerationError, RequestFailedError) as error:
            self._error = str(error)
            return None

    def _revive(self, deaths: int) -> int:
        """Return 1 after starting the trainer's own server if it is dead, else 0.

        Raises:
            UnavailableError: It died too often.
        """
        if self._process is None or self._process.is_running:
            return 0
        if deaths >= (MOST_DEATHS if self._was_up else 1):
            raise UnavailableError(f"vLLM died as it started. {self._log()}")
        if self._was_up:
            self._notice(f"vLLM at {self._api.url} died: starting it again (its log is {self._process.log})")
        self._process.start()
        return 1

    def _waiting_message(self, seconds: float) -> str:
        what = (
            f"has been away for {seconds:.0f} s ({self._error})" if self._was_up else f"is not up after {seconds:.0f} s"
        )
        return f"vLLM at {self._api.url} {what}; waiting for {self._patience:g} s"

    def _timeout_message(self, seconds: float) -> str:
        return (
            f"vLLM at {self._api.url} stayed away for {seconds:.0f} s ({self._error}), longer than "
            f"rollout.patience_seconds. {self._log()}"
        )

    def _log(self) -> str:
        return f"The end of {self._process.log}:\n{self._process.tail()}" if self._process else ""
