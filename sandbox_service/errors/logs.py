"""Logs one JSON object a line, without code, input or output of submissions.

Every process of the service logs so: the server, workers, slots, and those that read large bodies.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Mapping

FIELDS = (
    "reason",
    "address",
    "slot",
    "path",
    "before",
    "after",
    "suite",
    "digest",
    "uid",
)  # of `extra`; others are left out


def to_stderr(level: str, slot: int | None = None) -> None:
    """Log to stderr.

    Args:
        level: The least severe level that is logged, such as `info`.
        slot: The number of this process, if it is a slot: each line then has it.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonFormatter({} if slot is None else {"slot": slot}))
    logging.basicConfig(level=level.upper(), handlers=[handler])


class _JsonFormatter(logging.Formatter):
    def __init__(self, constant: Mapping[str, object]) -> None:
        super().__init__()
        self._constant = constant

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        line |= self._constant
        line |= {name: getattr(record, name) for name in FIELDS if hasattr(record, name)}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)
