"""Running the HTTP server: its loop, its log, and its end."""

from __future__ import annotations

import logging
import signal
import socket
from types import FrameType

import uvicorn
from fastapi import FastAPI

from sandbox_service import bootstrap, garbage, hands, logs, preflight
from sandbox_service.api import connections
from sandbox_service.jails import diagnosis
from sandbox_service.settings import PREFIX, Settings

SWEEP_TICKS = 20  # of uvicorn's, ten a second


def serve(settings: Settings) -> int:
    """Serve until SIGTERM or SIGINT; then finish what was taken. The exit status.

    Raises ConfigurationError if the address cannot be had, which is asked for before any jail is started, or if Redis
    would not keep what it is given.
    """
    listener = preflight.listen(settings)
    logs.to_stderr(settings.log_level)
    if settings.redis_url:
        hands.require_memory(settings.redis)
    else:
        say_what_is_weaker()
    app = bootstrap.service(settings)
    config = uvicorn.Config(
        app,
        loop="uvloop",
        http=connections.protocol(_bounds(settings)),
        backlog=4096,
        timeout_keep_alive=settings.keepalive_seconds,
        timeout_graceful_shutdown=int(settings.shutdown_seconds) + 5,
        access_log=False,
        log_config=None,
    )
    server = _Server(config, app, settings)
    server.run(sockets=[listener])
    return 0 if server.started else 1


def _bounds(settings: Settings) -> connections.Bounds:
    most = connections.room_for(settings.connections)
    return connections.Bounds(most, settings.patience_seconds, settings.keepalive_seconds + 1.0)


class _Server(uvicorn.Server):
    """Looks after its connections, and tells the queue of a signal at once, so that it takes nothing more."""

    def __init__(self, config: uvicorn.Config, app: FastAPI, settings: Settings) -> None:
        super().__init__(config)
        self._app = app
        self._settings = settings

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        garbage.settle()

    async def on_tick(self, counter: int) -> bool:
        if counter % SWEEP_TICKS == 0:
            connections.sweep(self.server_state.connections)
        return await super().on_tick(counter)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        del frame
        logging.getLogger(__name__).info("closing", extra={"reason": signal.Signals(sig).name})
        begin_closing = getattr(self._app.state, "begin_closing", None)
        if begin_closing is not None:
            begin_closing()
        # not uvicorn's own, which raises the signal again at the end: closing when told to is a success
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True


def say_what_is_weaker() -> None:
    """Log what jails on this machine lack."""
    for weakness in diagnosis.weaknesses():
        logging.getLogger(__name__).warning("weaker", extra={"reason": weakness})


def list_settings() -> int:
    """Print every setting, its default and what it is for."""
    for name, field in Settings.model_fields.items():
        print(f"{PREFIX}{name.upper():<22} {field.default!s:<18} {field.description}")
    return 0
