"""Programs for a launcher: the executable, the files beside it, and its limits.

An `Executable` is prepared once for a submission and run for each of its tests. It holds sealed files without names, or
the path of an interpreter and the files that this reads.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType

from sandbox_service.sandbox.base import Check, JudgeCall
from sandbox_service.sandbox.launch_wire import ENVIRONMENT, Box, BoxFile, Following, Request, pack
from sandbox_service.schema import Limits

STARVED_FACTOR = 8.0  # a starved box may run for up to this many times its wall limit
LEAST_FILE_BYTES = 16 << 20
TMP_BYTES = 32 << 20  # beside the program's own files
PAGE_BYTES = 4096
TASKS = 512
NATIVE_ADDRESS_BYTES = 2 << 30  # beyond data and stack: arenas of malloc, Go's reservations
MACHINE_ADDRESS_BYTES = 64 << 30  # virtual machines reserve gigabytes
MOST_BESIDE_STACK_BYTES = 16 << 20
TASKS_BESIDE = 48  # threads of the runtimes of programs with processes

# places of the descriptors of a stdin run; the program's own files follow
STDIN, STDOUT, STDERR, FIRST_FILE = 0, 1, 2, 3

ELF_MAGIC, PT_LOAD, PF_W = b"\x7fELF\x02", 1, 2
HEADER, SEGMENT = struct.Struct("<16xHHIQQQIHHH"), struct.Struct("<IIQQQQQQ")


@dataclass(frozen=True)
class Needs:
    """The needs of a language's programs beyond the limits of a submission.

    Attributes:
        reserved_bytes: private memory that is mapped and seldom used: threads' stacks, of which one may have 1 GiB,
            tables of a virtual machine, arrays that are larger than what is used of them.
        stack_bytes: the main thread's stack; 0: somewhat less than the memory limit, so that a recursion without end
            overflows it, which is no MLE.
        processes: least number of processes that they are allowed.
        out_of_memory: words on stderr by which a failed program says that it ran out of memory.
        environment: variables.
    """

    reserved_bytes: int = 1152 << 20
    stack_bytes: int = 0
    processes: int = 1
    out_of_memory: tuple[bytes, ...] = ()
    environment: Mapping[str, str] = field(default_factory=lambda: ENVIRONMENT)


class Executable:
    """A program that a launcher runs. A context manager, which closes its files."""

    def __init__(
        self,
        executable: int | str,
        arguments: Sequence[str],
        files: Mapping[str, int] | None = None,
        needs: Needs | None = None,
        refused: str | None = None,
        shared: Sequence[str] = (),
        *,
        mounts: bool = True,
    ) -> None:
        """Take over the descriptors.

        Args:
            executable: a sealed file, or the path of an interpreter in the room.
            arguments: with the program's own name.
            files: descriptors of files by their name in /tmp.
            needs: those of its language.
            refused: why the source did not compile; nothing can then be run.
            shared: further arguments for a box that runs several tests; empty: it cannot.
            mounts: its boxes have a /tmp and a /proc of their own; one with files in /tmp has them always.
        """
        self.executable = executable
        self.arguments = tuple(arguments)
        self.files = dict(files or {})
        self.needs = needs or Needs()
        self.mounts = mounts or bool(self.files)
        self.refused = refused
        self.can_share = bool(shared)
        self._shared = tuple(shared)
        own = [executable] if isinstance(executable, int) else []
        self.fds = [*own, *self.files.values()]
        self._file_bytes = sum(-(-os.fstat(fd).st_size // PAGE_BYTES) * PAGE_BYTES for fd in self.files.values())
        self.data_bytes = data_bytes_of(executable) if isinstance(executable, int) and not refused else 0
        # of the last run: the next one is nearly always by the same limits, and comparing the objects costs least
        self._packed: tuple[Limits | None, bytes] = None, b""
        self._packed_judge: tuple[Limits | None, object, bytes] = None, None, b""
        self._packed_check: tuple[Limits | None, object, bytes] = None, None, b""

    @classmethod
    def refusing(cls, reason: str) -> Executable:
        """Return the executable of a source that did not compile, with the reason."""
        return cls("", (), refused=reason)

    def begin_pass(self, number: int) -> None:
        """Do nothing: no runtime of a launcher fixes the seed of random numbers.

        Args:
            number: of the pass.
        """

    def __enter__(self) -> Executable:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for fd in self.fds:
            os.close(fd)
        self.fds = []

    def refusal(self, *, was_stopped: bool = False) -> str | None:  # noqa: ARG002
        """Return why the source did not compile, or None if it did.

        Args:
            was_stopped: not needed: the compiler has ended before the run.
        """
        return self.refused

    def box(self, place: int, descriptors: tuple[int, ...], limits: Limits) -> Box:
        """Return its box of a request.

        Args:
            place: of the first of `fds` in the request's list of descriptors.
            descriptors: sources of the box's descriptors 0, 1, 2 and so on.
            limits: those of the box.
        """
        needs, of_file = self.needs, isinstance(self.executable, int)
        processes = max(limits.processes, needs.processes)
        beside = enumerate(self.files, place + of_file)
        data_bytes = limits.memory_bytes + needs.reserved_bytes
        stack_bytes = needs.stack_bytes or limits.memory_bytes - min(limits.memory_bytes // 8, MOST_BESIDE_STACK_BYTES)
        address_bytes = data_bytes + stack_bytes + (NATIVE_ADDRESS_BYTES if of_file else MACHINE_ADDRESS_BYTES)
        return Box(
            executable=place if of_file else self.executable,
            arguments=self.arguments,
            descriptors=descriptors,
            cpu_seconds=limits.cpu_seconds,
            data_bytes=data_bytes,
            resident_bytes=limits.memory_bytes,
            address_bytes=address_bytes,
            stack_bytes=stack_bytes,
            file_bytes=max(limits.output_bytes, LEAST_FILE_BYTES) + 1,
            output_bytes=limits.output_bytes,
            tmp_bytes=TMP_BYTES + self._file_bytes,
            processes=processes,
            tasks=TASKS if processes == 1 else processes + TASKS_BESIDE,
            files=tuple(BoxFile(name, at) for at, name in beside),
            environment=needs.environment,
            mounts=self.mounts,
        )

    def message(self, limits: Limits) -> bytes:
        """Return the message that runs it on a stdin, for the descriptors STDIN, STDOUT, STDERR and its own."""
        if self._packed[0] is not limits:
            self._packed = limits, self._pack(limits)
        return self._packed[1]

    def shared_message(self, limits: Limits) -> bytes:
        """Return the message that runs it on several tests, for the descriptors of `message` and then the channel.

        In the box the channel is both 0 and 1, since a virtual machine can use these without opening them; the files of
        a test are opened anew for each, as descriptors 3 and 4 of /proc/self/fd.
        """
        return self._pack_shared(limits)

    def judges_message(self, call: JudgeCall, limits: Limits) -> bytes:
        """Return the message that runs it as a judge.

        Args:
            call: its command line, and how its box shows the folder.
            limits: those of the box.

        Returns:
            The message, for the descriptors STDIN, STDOUT, STDERR, its own, and the folder.
        """
        key = call.arguments, call.links, call.is_inside
        if self._packed_judge[0] is not limits or self._packed_judge[1] != key:
            request = self._judges_request(call, FIRST_FILE, (STDIN, STDOUT, STDERR), limits)
            self._packed_judge = limits, key, pack(request)
        return self._packed_judge[2]

    def checks_message(self, program: Executable, limits: Limits, check: Check) -> bytes:
        """Return the message that runs a program, and this one as its checker.

        Args:
            program: the program.
            limits: those of its box.
            check: how this one is called.

        Returns:
            The message, for STDIN, STDOUT and STDERR of the program and of the checker, the descriptors of the program,
            those of the checker, the folder, and the file in it that gets the output.
        """
        key = program, check[:-1]
        if self._packed_check[0] is not limits or self._packed_check[1] != key:
            self._packed_check = limits, key, self._pack_check(program, limits, check)
        return self._packed_check[2]

    def _pack_check(self, program: Executable, limits: Limits, check: Check) -> bytes:
        stdin, stdout, stderr, first = (FIRST_FILE + place for place in (STDIN, STDOUT, STDERR, FIRST_FILE))
        own = first + len(program.fds)
        output = own + len(self.fds) + 1
        box = program.box(first, (STDIN, STDOUT, STDERR), limits)
        return pack(
            Request((box,), limits.wall, patience_of(limits)),
            Following(
                self._judges_request(check.call, own, (stdin, stdout, stderr), check.limits),
                output=STDOUT,
                copies=(output, stdin if check.on_stdin else output),
                most_bytes=limits.output_bytes,
            ),
        )

    def _judges_request(self, call: JudgeCall, place: int, descriptors: tuple[int, ...], limits: Limits) -> Request:
        """Return the request that runs it as a judge; in the list of descriptors the folder is behind its own."""
        folder = place + len(self.fds)
        if call.is_inside:
            box = replace(self.box(place, descriptors, limits), folder=folder, mounts=False)
        else:
            box = self.box(place, (*descriptors, folder), limits)
            links = (name for name in call.links if name not in self.files)
            linked = tuple(BoxFile(name, target=f"/proc/self/fd/3/{name}") for name in links)
            box = replace(box, files=(*box.files, *linked), mounts=True)
        return Request((replace(box, arguments=(*box.arguments, *call.arguments)),), limits.wall, patience_of(limits))

    def _pack(self, limits: Limits) -> bytes:
        box = self.box(FIRST_FILE, (STDIN, STDOUT, STDERR), limits)
        return pack(Request((box,), limits.wall, patience_of(limits)))

    def _pack_shared(self, limits: Limits) -> bytes:
        channel = FIRST_FILE + len(self.fds)
        box = self.box(FIRST_FILE, (channel, channel, STDERR, STDIN, STDOUT), limits)
        whole = replace(box, arguments=(*box.arguments, *self._shared))
        return pack(Request((whole,), limits.wall, patience_of(limits)))

    def is_too_large(self, limits: Limits) -> bool:
        """Return whether its variables alone exceed the memory limit: it could not even be started."""
        return self.data_bytes > limits.memory_bytes + self.needs.reserved_bytes


def patience_of(limits: Limits) -> float:
    """Return the seconds after which a run is ended even if it is starved; several processes starve each other."""
    return limits.wall * (STARVED_FACTOR if limits.processes == 1 else 1.0)


def data_bytes_of(fd: int) -> int:
    """Return the bytes of an executable's writable segments; 0 if the file is no executable that is understood.

    Args:
        fd: its descriptor.
    """
    head = os.pread(fd, HEADER.size, 0)
    if len(head) < HEADER.size or not head.startswith(ELF_MAGIC):
        return 0
    _, _, _, _, table, _, _, _, size, count = HEADER.unpack(head)
    segments = (os.pread(fd, SEGMENT.size, table + at * size) for at in range(count))
    found = [SEGMENT.unpack(each) for each in segments if len(each) == SEGMENT.size]
    return sum(each[6] for each in found if each[0] == PT_LOAD and each[1] & PF_W)
