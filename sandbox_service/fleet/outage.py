"""Logs that Redis is away, with its address and the reason: once for each reason and then once a minute."""

from __future__ import annotations

import logging
import time

log = logging.getLogger(__name__)

REPEAT_SECONDS = 60.0
NOT_CONNECTED = "not yet connected"


class Outage:
    """The failures of one process to reach Redis. All parts of an event loop that retry report them to the same one.

    Attributes:
        reason: why the last attempt failed; empty after one that succeeded.
    """

    def __init__(self, address: str = "", away: str = "redis_away", back: str = "redis_back") -> None:
        """Create it before the first attempt.

        Args:
            address: of Redis, for the log; without a password.
            away: the event of a failure in the log.
            back: the event of its end.
        """
        self._address, self._away, self._back = address, away, back
        self.reason = NOT_CONNECTED
        self._logged = ""
        self._logged_at = 0.0
        self._is_logged = False

    def failed(self, error: Exception) -> None:
        """Note a failed attempt; log it unless the same was logged within a minute."""
        self.reason = str(error) or type(error).__name__
        now = time.monotonic()
        if self.reason != self._logged or now > self._logged_at + REPEAT_SECONDS:
            self._logged, self._logged_at, self._is_logged = self.reason, now, True
            log.warning(self._away, extra={"address": self._address, "reason": self.reason})

    def succeeded(self) -> None:
        """Note an attempt that succeeded; log the first one after a failure was logged."""
        self.reason = ""
        if self._is_logged:
            self._is_logged = False
            log.info(self._back, extra={"address": self._address})
