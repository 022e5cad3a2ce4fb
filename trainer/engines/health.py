"""Waits until a vLLM server is healthy, and restarts it if the trainer started it and it died."""

from __future__ import annotations

import time
from typing import Any

from sandbox_service.client import Peer, errors
from sandbox_service.client.retries import NoAnswerError, Outage, RetryTimer
from trainer.engines.base import Notice
from trainer.engines.process import VllmProcess
from trainer.engines.vllm_api import HEALTH_TIMEOUT_SECONDS, RequestFailedError, VllmApi
from trainer.errors import InterruptedGenerationError, UnavailableError

PAUSE_SECONDS = 1.0  # between two looks at a server that is away
SETTING = "rollout.patience_seconds"
MOST_DEATHS = 3  # consecutive deaths of a server the trainer starts; 1 if it was never up

State = dict[str, Any]


class HealthMonitor:
    """Monitors one server; `process` is given if the trainer starts it."""

    def __init__(self, api: VllmApi, notice: Notice, patience_seconds: float, process: VllmProcess | None) -> None:
        self._api = api
        self._peer = Peer(api.url, patience_seconds, name="vLLM", url_setting="", patience_setting=SETTING)
        self._outage = Outage(f"vLLM at {api.url}", notice)
        self._notice = notice
        self._process = process
        self._was_up = False

    async def wait(self, why: str) -> list[State]:
        """Return the states of the server's workers once it is healthy; messages say why it is not.

        Raises:
            UnavailableError: It was not healthy within `patience_seconds`, or died too often.
            TrainerError: The server refuses the extension's methods.
        """
        began, timer, deaths = time.monotonic(), RetryTimer(self._peer, self._outage), 0
        while isinstance(states := await self._states(why), str):
            why, deaths = states, deaths + self._revive(deaths)
            try:
                await timer.wait(NoAnswerError(why, began, PAUSE_SECONDS))
            except errors.ServiceUnavailableError as away:
                raise UnavailableError(f"{away}. {self._log()}") from None
        timer.reset()
        self._was_up = True
        return states

    async def _states(self, why: str) -> list[State] | str:
        """Return the states of the workers, or why there are none."""
        if not await self._api.is_healthy():
            return why
        try:
            return await self._api.call("proctor_state", seconds=HEALTH_TIMEOUT_SECONDS)
        except (InterruptedGenerationError, RequestFailedError) as error:
            return str(error)

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

    def _log(self) -> str:
        return f"The end of {self._process.log}:\n{self._process.tail()}" if self._process else ""
