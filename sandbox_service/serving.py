"""Running the HTTP server: its loop, its log, and its end."""

from __future__ import annotations

import json
import logging
import signal
import sys
import time
from types import FrameType

import uvicorn
from fastapi import FastAPI

from sandbox_service import bootstrap, preflight
from sandbox_service.jails import diagnosis
from sandbox_service.settings import PREFIX, Settings

LOG_FIELDS = ("reason", "slot", "path")


def serve(settings: Settings) -> int:
    """Serve until SIGTERM or SIGINT; then finish what was taken. The exit status.

    Raises ConfigurationError if the address cannot be had; it is asked for before any jail is started.
    """
    listener = preflight.listen(settings)
    logging.basicConfig(level=settings.log_level.upper(), handlers=[_handler()])
    for weakness in diagnosis.weaknesses():
        logging.getLogger(__name__).warning("weaker", extra={"reason": weakness})
    app = bootstrap.service(settings)
    config = uvicorn.Config(
        app,
        loop="uvloop",
        http="httptools",
        backlog=4096,
        timeout_keep_alive=settings.keepalive_seconds,
        timeout_graceful_shutdown=int(settings.shutdown_seconds) + 5,
        access_log=False,
        log_config=None,
    )
    server = _Server(config, app, settings)
    server.run(sockets=[listener])
    return 0 if server.started else 1


class _Server(uvicorn.Server):
    """Tells the queue of a signal at once: it takes nothing more, so that connections can come to their end."""

    def __init__(self, config: uvicorn.Config, app: FastAPI, settings: Settings) -> None:
        super().__init__(config)
        self._app = app
        self._settings = settings

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        del frame
        logging.getLogger(__name__).info("closing", extra={"reason": signal.Signals(sig).name})
        begin_closing = getattr(self._app.state, "begin_closing", None)
        if begin_closing is not None:
            begin_closing()
        # not uvicorn's own, which raises the signal again at the end: closing when told to is a success
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True


def list_settings() -> int:
    """Print every setting, its default and what it is for."""
    for name, field in Settings.model_fields.items():
        print(f"{PREFIX}{name.upper():<22} {field.default!s:<18} {field.description}")
    return 0


class _JsonFormatter(logging.Formatter):
    """One JSON object a line; never a submission's code, input or output."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        line |= {name: getattr(record, name) for name in LOG_FIELDS if hasattr(record, name)}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


def _handler() -> logging.Handler:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonFormatter())
    return handler
