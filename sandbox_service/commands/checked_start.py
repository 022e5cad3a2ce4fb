"""Starts `serve` and `worker` after checks of the settings and of the machine.

The service is imported after these checks, because some of its modules cannot be imported where a check fails.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from sandbox_service.doctor import preflight
from sandbox_service.errors import ConfigurationError
from sandbox_service.settings import PREFIX, Settings


def serve(given: Mapping[str, object]) -> int:
    """Serve until a signal ends the service.

    Args:
        given: Settings from the command line, which override the environment; None for one that is not given.

    Returns:
        The exit status.

    Raises:
        ProctorError: The settings, the machine or Redis cannot be used.
    """
    named = {f"{PREFIX}{name.upper()}": str(value) for name, value in given.items() if value is not None}
    settings = Settings.from_environment(os.environ | named)
    if not settings.redis_url:
        preflight.require(settings)
    from sandbox_service.commands import serve as command

    return command.serve(settings)


def work() -> int:
    """Grade for a fleet until a signal ends the worker.

    Returns:
        The exit status.

    Raises:
        ConfigurationError: There is no Redis in the settings.
        ProctorError: The settings, the machine or Redis cannot be used, or no sandbox has worked for a minute.
    """
    settings = Settings.from_environment()
    if not settings.redis_url:
        raise ConfigurationError(
            "a worker takes its jobs from Redis: set SANDBOX_REDIS_URL (proctor serve needs no Redis)"
        )
    preflight.require(settings)
    from sandbox_service.commands import worker

    return worker.work(settings)
