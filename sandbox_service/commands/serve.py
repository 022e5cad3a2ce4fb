"""`proctor serve`: runs the HTTP server until a signal ends it."""

from __future__ import annotations

import logging
import signal
import socket
from types import FrameType

import uvicorn
from fastapi import FastAPI

from sandbox_service import allocator, bootstrap, event_loop
from sandbox_service.api import connections
from sandbox_service.api.events import is_open_to_all
from sandbox_service.doctor import preflight
from sandbox_service.errors import logs
from sandbox_service.sandbox import diagnosis
from sandbox_service.settings import Settings

log = logging.getLogger(__name__)

SWEEP_TICKS = 20  # ticks of uvicorn, ten per second


def serve(settings: Settings) -> int:
    """Serve until SIGTERM or SIGINT, then finish accepted work.

    Args:
        settings: The settings.

    Returns:
        The exit status.

    Raises:
        ConfigurationError: The address is not available, which is checked before any jail is started, or Redis is
            configured to drop data, or used by a version that this one cannot share it with.
    """
    with preflight.listen(settings) as listener:
        logs.to_stderr(settings.log_level)
        if settings.redis_url:
            from sandbox_service.fleet import wakeup  # which imports Redis and RQ

            wakeup.require_usable(settings.redis, settings.redis_name)
        else:
            diagnosis.log_weaknesses()
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


def _bounds(settings: Settings) -> connections.ConnectionBounds:
    most = connections.room_for(settings.connections)
    return connections.ConnectionBounds(most, settings.patience_seconds, settings.keepalive_seconds + 1.0)


class _Server(uvicorn.Server):
    """A uvicorn server that sweeps its connections and closes the queue as soon as a signal arrives."""

    def __init__(self, config: uvicorn.Config, app: FastAPI, settings: Settings) -> None:
        super().__init__(config)
        self._app = app
        self._settings = settings

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        event_loop.tune_gc()
        allocator.return_large_blocks()
        if self.started:
            try:
                print(announcement(self._settings), flush=True)
            except OSError as error:  # a full disk or a closed pipe, without which the service can do
                log.warning("not_announced", extra={"reason": str(error)})

    async def on_tick(self, counter: int) -> bool:
        if counter % SWEEP_TICKS == 0:
            connections.sweep(self.server_state.connections)
        return await super().on_tick(counter)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        del frame
        log.info("closing", extra={"reason": signal.Signals(sig).name})
        begin_closing = getattr(self._app.state, "begin_closing", None)
        if begin_closing is not None:
            begin_closing()
        # uvicorn's own handler raises the signal again at the end; here a requested end is a success
        self.force_exit = self.should_exit and sig == signal.SIGINT
        if self.force_exit:  # uvicorn logs tracebacks of all that it cancels then
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        self.should_exit = True


def announcement(settings: Settings) -> str:
    """Return lines with the service's address, its number of slots, and the keys that it needs."""
    host = "127.0.0.1" if settings.host in ("0.0.0.0", "::") else settings.host  # noqa: S104 compared, not bound
    address = f"http://{f'[{host}]' if ':' in host else host}:{settings.port}/"
    grades = "workers grade" if settings.redis_url else f"{settings.slot_count} slots grade on this machine"
    keys = "every request needs an API key" if settings.keys else "no API key is needed"
    lines = [f"proctor serves {address} (the page; its API: {address}docs); {grades}; {keys}"]
    if is_open_to_all(settings):
        lines.append(
            f"proctor: WARNING: {settings.host} is reachable from other machines and no key is needed: every"
            " client can run programs and read expected answers. Set SANDBOX_API_KEYS."
        )
    return "\n".join(lines)
