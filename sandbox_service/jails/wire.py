"""The host's end of the wire. The messages are described once, in the guest's `wire.py`, which both sides read."""

from sandbox_service.guest.wire import (
    CALLS,
    DEADLINE,
    DONE,
    FAULT,
    MAX_MESSAGE,
    NOT_NEEDED,
    PAIR,
    RUNNING,
    STDIN,
    Job,
    Record,
    send_job,
    unpack_records,
)

__all__ = [
    "CALLS",
    "DEADLINE",
    "DONE",
    "FAULT",
    "MAX_MESSAGE",
    "NOT_NEEDED",
    "PAIR",
    "RUNNING",
    "STDIN",
    "Job",
    "Record",
    "send_job",
    "unpack_records",
]
