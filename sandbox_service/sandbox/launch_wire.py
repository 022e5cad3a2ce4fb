"""The messages between the host and a launcher (guest/launcher.c), which repeats the layouts; a test compares the two.

A request says everything about its one or two boxes: executable, arguments, environment, descriptors, files in /tmp,
limits. Files and descriptors are named by their place in the list of descriptors that is sent along. Two boxes are
joined by two pipes: box 0 writes to pipe 0, box 1 to pipe 1. Box 1 is the judge of the two: its end ends the run, after
`grace_seconds` for the other.

A message may have a second request, of one box. It is run, with another uid, when the only box of the first one has
ended with status 0 and has not written too much; what that box wrote is copied first.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

from sandbox_service.guest.wire import RECORD, Record

# sources of a descriptor that is not in the list: an empty device, or an end of a pipe
NOTHING, PIPE_0_READS, PIPE_0_WRITES, PIPE_1_READS, PIPE_1_WRITES = -1, -2, -3, -4, -5
IDLE = 4  # why a box was killed, beside those of guest/wire.py: neither of two boxes did anything for `idle_seconds`
COPY, LINK = 0, 1

REQUEST = struct.Struct("<Bdddd")
WANTED = struct.Struct("<hhHHHHHIIQQQQQQQd")
FILE = struct.Struct("<Bh")
FOLLOWING = struct.Struct("<hhhQ")

MOST_DESCRIPTORS, MOST_FILES, MOST_WORDS, MOST_BYTES = 12, 128, 511, 128 << 10

ENVIRONMENT: Mapping[str, str] = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/tmp",  # noqa: S108  the box's own
    "TMPDIR": "/tmp",  # noqa: S108
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
}


@dataclass(frozen=True)
class BoxFile:
    """A file in a box's /tmp, made before the program starts and removed with the box.

    Attributes:
        name: its path below /tmp; folders are made.
        place: of a copy, the place of its content in the list of descriptors; None for a link.
        target: of a link, where it points to; `/proc/self/fd/5` opens the box's descriptor 5 anew.
    """

    name: str
    place: int | None = None
    target: str = ""


@dataclass(frozen=True)
class Box:
    """One box.

    Attributes:
        executable: its place in the list of descriptors, or an absolute path in the room.
        arguments: with the program's own name.
        descriptors: places in the list, or NOTHING or an end of a pipe, for the descriptors 0, 1, 2 and so on.
        cpu_seconds: of all its processes.
        data_bytes: RLIMIT_DATA of each process: heap, private writable mappings, threads' stacks.
        resident_bytes: a box with a process that is found to hold more is killed.
        address_bytes: RLIMIT_AS of each process, which bounds its page tables.
        stack_bytes: the main thread's stack.
        file_bytes: the largest file that it can write.
        output_bytes: the only box of a request that is found to have written more to its output is killed.
        tmp_bytes: the size of its /tmp.
        processes: above 1 all its processes are watched; the room's filter decides whether it can fork.
        tasks: most processes and threads.
        files: files in its /tmp, which is the current folder.
        environment: the variables.
        folder: place in the list of a folder that is its current one. None: /tmp is.
        mounts: it has a /tmp and a /proc of its own. Without, both are empty and read-only, where the launcher is root.
    """

    executable: int | str
    arguments: tuple[str, ...]
    descriptors: tuple[int, ...]
    cpu_seconds: float
    data_bytes: int
    resident_bytes: int = 1 << 62
    address_bytes: int = 64 << 30
    stack_bytes: int = 256 << 20
    file_bytes: int = 16 << 20
    output_bytes: int = 1 << 62
    tmp_bytes: int = 32 << 20
    processes: int = 1
    tasks: int = 512
    files: tuple[BoxFile, ...] = ()
    environment: Mapping[str, str] = field(default_factory=lambda: ENVIRONMENT)
    folder: int | None = None
    mounts: bool = True


@dataclass(frozen=True)
class Request:
    """One run. `grace_seconds` and `idle_seconds` (0: not watched) are for two boxes."""

    boxes: tuple[Box, ...]
    wall_seconds: float
    patience_seconds: float
    grace_seconds: float = 0.2
    idle_seconds: float = 0.0


@dataclass(frozen=True)
class Following:
    """The second request of a message.

    Attributes:
        request: the request.
        output: place of the file to which the box of the first request writes.
        copies: places of the files that get a copy of it, before the box of this request starts.
        most_bytes: if there is more in that file, this request is not run.
    """

    request: Request
    output: int
    copies: tuple[int, int]
    most_bytes: int


@dataclass(frozen=True)
class Launched:
    """The answer to a message: the box that ended first, and a record of each box that was run."""

    first: int
    records: list[Record]


def pack(request: Request, following: Following | None = None) -> bytes:
    """Return the message of a request.

    Args:
        request: the request.
        following: a second one.

    Raises:
        ValueError: a text has a zero in it, or there is too much of something.
    """
    message = _packed(request)
    if following is not None:
        link = FOLLOWING.pack(following.output, *following.copies, following.most_bytes)
        message += link + _packed(following.request)
    if len(message) > MOST_BYTES:
        raise ValueError(f"a request of {len(message)} bytes, the most is {MOST_BYTES}")
    return message


def _packed(request: Request) -> bytes:
    head = REQUEST.pack(
        len(request.boxes),
        request.wall_seconds,
        request.patience_seconds,
        request.grace_seconds,
        request.idle_seconds,
    )
    return head + b"".join(map(_packed_box, request.boxes))


def _packed_box(box: Box) -> bytes:
    counts = (len(box.descriptors), len(box.files), len(box.arguments), len(box.environment))
    if any(
        count > most for count, most in zip(counts, (MOST_DESCRIPTORS, MOST_FILES, MOST_WORDS, MOST_WORDS), strict=True)
    ):
        raise ValueError(f"too many descriptors, files, arguments or variables: {counts}")
    of_path = isinstance(box.executable, str)
    return b"".join(
        (
            WANTED.pack(
                NOTHING if isinstance(box.executable, str) else box.executable,
                NOTHING if box.folder is None else box.folder,
                box.mounts,
                *counts,
                box.tasks,
                box.processes,
                box.data_bytes,
                box.resident_bytes,
                box.address_bytes,
                box.stack_bytes,
                box.file_bytes,
                box.output_bytes,
                box.tmp_bytes,
                box.cpu_seconds,
            ),
            struct.pack(f"<{len(box.descriptors)}h", *box.descriptors),
            *map(_packed_file, box.files),
            _text(str(box.executable)) if of_path else b"",
            *map(_text, box.arguments),
            *(_text(f"{name}={value}") for name, value in box.environment.items()),
        )
    )


def _packed_file(file: BoxFile) -> bytes:
    if file.name.startswith("/") or ".." in file.name.split("/"):
        raise ValueError(f"{file.name!r} is not a path below /tmp")
    kind = LINK if file.place is None else COPY
    return FILE.pack(kind, NOTHING if file.place is None else file.place) + _text(file.name) + _text(file.target)


def _text(text: str) -> bytes:
    encoded = text.encode("utf-8", "surrogateescape")
    if b"\0" in encoded:
        raise ValueError(f"{text[:80]!r} has a zero in it")
    return encoded + b"\0"


def unpack(answer: bytes) -> Launched:
    """Return the content of a `DONE` answer.

    Args:
        answer: bytes received.

    Raises:
        struct.error: the message is not a list of records.
    """
    return Launched(answer[1], [Record(*fields) for fields in RECORD.iter_unpack(answer[2:])])
