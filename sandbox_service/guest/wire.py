"""The messages between the host and a zygote: one SEQPACKET message each way for every run.

The host sends a `Job` with its files as descriptors, or without if they are those of the job before; the zygote
answers with one `Record` for every box it ran, or with the text of a fault, or first, any number of times, that it
still runs: a sign of life. This is the only guest file that the host imports too: both sides of a wire must read the
same description. `_box.c` has it once more, for its fast lane; a test holds the two together.
"""

import _socket as socket  # not `socket`: its helpers would weigh on every fork
import array
import struct
from typing import NamedTuple

# what to run, and which descriptors come along, in this order
STDIN = 1  # source, cache, stdin, stdout, stderr
CALLS = 2  # source, cache, calls, stdout, stderr, results
PAIR = 3  # source, cache, prelude, test, stdout, stderr, tester's stderr, report

# why a box was killed
NOT_KILLED, DEADLINE, NOT_NEEDED = 0, 1, 2

# what an answer begins with
DONE = b"D"
FAULT = b"F"
RUNNING = b"R"

JOB = struct.Struct("<BIQQdddd")
RECORD = struct.Struct("<iBdddQ")
MAX_MESSAGE = 4096


class Job(NamedTuple):
    """One run: kind and limits. Seconds and bytes; `tester_cpu_seconds` is for the trusted half of a pair."""

    mode: int
    processes: int
    memory_bytes: int
    file_bytes: int
    cpu_seconds: float
    tester_cpu_seconds: float
    wall_seconds: float
    patience_seconds: float  # how long a starved box may be waited for in all


class Record(NamedTuple):
    """What was seen of one box: wait status, whether it was killed at the deadline, times, peak memory."""

    status: int
    why_killed: int  # by us: not at all, at its deadline, or because it was no longer needed
    cpu_seconds: float
    wall_seconds: float
    starved_seconds: float  # negative: unknown
    peak_memory_bytes: int


def send_job(control: socket.socket, job: Job, fds: list[int]) -> None:
    """Send a job, with its files unless there are none to send. Raises OSError if the other side is gone."""
    if not fds:
        control.send(JOB.pack(*job))
        return
    control.sendmsg([JOB.pack(*job)], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))])


def unpack_job(message: bytes) -> Job:
    """The job in a message. Raises struct.error on nonsense."""
    return Job(*JOB.unpack(message))


def pack_records(records: list[Record]) -> bytes:
    """The answer to a job that was run."""
    return DONE + b"".join(RECORD.pack(*record) for record in records)


def unpack_records(message: bytes) -> list[Record]:
    """The records of a `DONE` answer. Raises struct.error on nonsense."""
    return [Record(*fields) for fields in RECORD.iter_unpack(message[1:])]
