"""The host's end of the wire. The messages are described once, in the guest's `wire.py`, which both sides read."""

from sandbox_service.guest.wire import (
    CALLS,
    DONE,
    FAULT,
    MAX_MESSAGE,
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
    "DONE",
    "FAULT",
    "MAX_MESSAGE",
    "PAIR",
    "RUNNING",
    "STDIN",
    "Job",
    "Record",
    "send_job",
    "unpack_records",
]
