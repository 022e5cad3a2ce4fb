"""The messages between the host and a zygote: one SEQPACKET message in each direction for every run.

The host sends a `Job` with its files as descriptors, which belong to this run alone. The zygote answers with one
`Record` for each box, or with the text of a fault; before that it may send any number of messages that the job still
runs. This is the only guest file that the host imports too, so that both sides read one description. `_box.c` repeats
it for its fast path; a test compares the two.
"""

import _socket as socket  # not `socket`, whose helpers would slow down every fork
import array
import struct
from typing import NamedTuple

# kinds of job, and the descriptors sent with each, in this order
STDIN = 1  # source, cache, stdin, stdout, stderr
CALLS = 2  # source, cache, calls, stdout, stderr, results
PAIR = 3  # source, cache, prelude, test, stdout, stderr, tester's stderr, report
JUDGE = 4  # source, cache, stdin, stdout, stderr, folder
SHARED = 5  # source, cache, stdin, stdout, stderr, channel: one end of a pair of sockets, see below
CANDIDATE = 6  # source, cache, prelude, requests, stdout, stderr, replies: the first box of a pair, alone

# why a box was killed
NOT_KILLED, DEADLINE, NOT_NEEDED, OWN_LIMIT = 0, 1, 2, 3

# first byte of an answer
DONE = b"D"
FAULT = b"F"
RUNNING = b"R"

TEST_ENDED = NEXT_TEST = b"D"  # on the channel

JOB = struct.Struct("<BBBIQQdddd")
RECORD = struct.Struct("<iBdddQ")
MAX_MESSAGE = 4096


class Job(NamedTuple):
    """One run: kind and limits, in seconds and bytes; `tester_cpu_seconds` is for the tester of an assert test."""

    mode: int
    mounts: bool  # the box has a /tmp and a /proc of its own; a tester's has them always
    seed: int  # of the program's random numbers
    processes: int
    memory_bytes: int
    file_bytes: int
    cpu_seconds: float
    tester_cpu_seconds: float
    wall_seconds: float
    patience_seconds: float  # longest total wait for a starved box


class Record(NamedTuple):
    """Observations of one box: wait status, the reason if it was killed, times, peak memory."""

    status: int
    why_killed: int  # NOT_KILLED, DEADLINE, NOT_NEEDED, or OWN_LIMIT (a lower limit that it set itself)
    cpu_seconds: float
    wall_seconds: float
    starved_seconds: float  # negative: unknown
    peak_memory_bytes: int


def send(control: socket.socket, message: bytes, fds: list[int]) -> None:
    """Send a message with descriptors.

    Args:
        control: socket to the zygote.
        message: the bytes.
        fds: the descriptors.

    Raises:
        OSError: the other end is closed.
    """
    control.sendmsg([message], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))])


def unpack_job(message: bytes) -> Job:
    """Return the job in a message.

    Args:
        message: bytes received.

    Raises:
        struct.error: the message is not a job.
    """
    return Job(*JOB.unpack(message))


def pack_records(records: list[Record]) -> bytes:
    """Return the answer to a job that was run.

    Args:
        records: one record for each box.
    """
    return DONE + b"".join(RECORD.pack(*record) for record in records)


def unpack_records(message: bytes) -> list[Record]:
    """Return the records of a `DONE` answer.

    Args:
        message: bytes received.

    Raises:
        struct.error: the message is not a list of records.
    """
    return [Record(*fields) for fields in RECORD.iter_unpack(message[1:])]
