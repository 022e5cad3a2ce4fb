"""Sizes and times of the simulation, and the settings of the service in it."""

from __future__ import annotations

import re

from sandbox_service.settings import Settings

SLOTS = 2
RATE = 400.0  # submissions a second, about
GROUPS = (8, 16)
TESTS = 10
REAL_SECONDS = 0.15  # of grading, in measurements without the common rate
SPREAD = 0.5  # times are uniform within this share of their mean
SETTLE_SECONDS = 6.0  # longer than RQ's wait for a job
STAMP = re.compile(rb"@(\d+\.\d+)@")
EVERYTHING = 1 << 30  # a bound that is none


def service_settings(url: str) -> Settings:
    """Return settings with bounds that never refuse."""
    return Settings(
        redis_url=url,
        cache_seconds=0,
        queue_submissions=EVERYTHING,
        queue_bytes=EVERYTHING,
        queue_cpu_seconds=EVERYTHING,
    )
