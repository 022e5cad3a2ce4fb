"""A sandbox made of an isolation tool and a zygote: started, verified, given runs, killed.

An isolation tool may fail to isolate without saying so. So the zygote reports what it sees of itself, and `verify`
compares that with what this process sees of itself. The canary (canary.py) then tries what must be blocked.
"""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import psutil

from sandbox_service.errors import BoxSetupError, JailDiedError, JailUnsafeError, ProctorError, SandboxError
from sandbox_service.sandbox import cgroups, diagnosis, files, wire
from sandbox_service.sandbox.base import IsolationTool, Outcome, Place, Zygote
from sandbox_service.sandbox.host import filters
from sandbox_service.sandbox.outcomes import STDERR_BYTES, outcome_with
from sandbox_service.sandbox.running import RunningBox, children
from sandbox_service.sandbox.shared_run import ChannelRun
from sandbox_service.sandbox.stall import Stall
from sandbox_service.schema import Limits

GRACE_SECONDS = 5.0
MAIN_STACK_BYTES = 1 << 30
LAST_WORDS_BYTES = 2000
TASKS_BESIDE = 24  # threads of the program, the zygote, the isolation tool
NO_ROOM = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC)  # this process cannot make a run's files


class Jail:
    """An isolation tool with a zygote in it: the part that is common to all zygotes. The derived classes know the
    messages of theirs, and implement `base.Sandbox`.
    """

    def __init__(self, tool: IsolationTool, place: Place, zygote: Zygote) -> None:
        from sandbox_service.sandbox import _host  # not above: without it `proctor doctor` must still say so

        self._host = _host
        self.zygote = zygote
        self.place = place
        self.runs = 0
        self.identity: dict[str, object] = {}
        self._tool = tool
        self._ready = False
        self._receive_timeout = -1.0
        self._zygote_pid: int | None = None
        self._unfinished: tuple[int | None, Limits] = (None, Limits())
        self._oom_kills = 0
        self._stderr = os.fdopen(files.create(), "rb")
        self._control, remote = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._cgroup = cgroups.create(cgroups.name_of(place.uid, zygote.kind)) if zygote.may_fork else None
        try:
            self._process = _start(tool, zygote, place, remote, self._stderr.fileno())
        except (OSError, ProctorError) as error:
            self._control.close()
            self._stderr.close()
            if self._cgroup is not None:
                self._cgroup.remove()
            if isinstance(error, OSError):
                raise JailDiedError(f"{tool.program} cannot be started: {error}") from None
            raise
        finally:
            remote.close()

    def wait_ready(self) -> None:
        """Wait for the zygote's report about itself, and verify it. Raises JailDiedError, JailUnsafeError."""
        if self._ready:
            return
        try:
            message = self._receive(self.zygote.start_seconds)
        except JailDiedError as fault:
            raise JailDiedError(f"no jail started ({fault}): {self._last_words()}") from None
        try:
            self.identity = json.loads(message)
        except ValueError:
            raise JailDiedError(f"the zygote did not start: {message[:300]!r}") from None
        verify(self.identity, self._tool.name)
        if self._cgroup is not None:
            for process in self.processes():
                self._cgroup.add(process.pid)
        self._ready = True

    def _last_words(self) -> str:
        """Return the last lines that the tool, or the zygote before its root was built, wrote to stderr."""
        text = files.read(self._stderr.fileno(), LAST_WORDS_BYTES, end=True).decode("utf-8", "replace")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return " | ".join(lines[-3:]) or f"{self._tool.name} said nothing"

    def _limited(self, limits: Limits, run: Callable[[], list[wire.Record]]) -> list[wire.Record]:
        """Run under the jail's cgroup, if it has one: the records then show whether all memory was used."""
        self.runs += 1
        if self._cgroup is None:
            return run()
        self._cgroup.limit(limits.memory_bytes, limits.processes + TASKS_BESIDE)
        before = self._cgroup.oom_kills()
        records = run()
        if self._cgroup.oom_kills() == before:
            return records
        return [record._replace(peak_memory_bytes=limits.memory_bytes) for record in records]  # it used all there was

    def _begin(self, message: bytes, fds: list[int], err: int, limits: Limits, patience_seconds: float) -> RunningBox:
        """Send a job of one box and return at once. `err`: its stderr, which is closed when it has ended."""
        box = self._expected(err, limits, patience_seconds)
        try:
            wire.send(self._control, message, fds)
        except OSError as error:
            os.close(err)
            raise JailDiedError(f"the zygote is gone: {error}") from None
        return box

    def _expected(self, err: int | None, limits: Limits, patience_seconds: float) -> RunningBox:
        """Prepare for the end of a box whose job is sent next. `err`: as in `_begin`; None: the caller reads it."""
        self.runs += 1
        if self._zygote_pid is None:  # no box runs now, so it is the last of the family
            leaves = [process.pid for process in self.processes() if not children(process.pid)]
            if len(leaves) != 1:
                raise JailDiedError("the zygote cannot be told from other processes in the jail")
            self._zygote_pid = leaves[0]
        if self._cgroup is not None:
            self._cgroup.limit(limits.memory_bytes, limits.processes + TASKS_BESIDE)
            self._oom_kills = self._cgroup.oom_kills()
        self._unfinished = err, limits
        return RunningBox(self, self._zygote_pid, patience_seconds + GRACE_SECONDS)

    def _begin_shared(
        self,
        message: bytes,
        before: Sequence[int],
        stdin: bytes,
        after: Sequence[int],
        limits: Limits,
        patience_seconds: float,
        explain: Callable[[Outcome], Outcome] = lambda outcome: outcome,
        *,
        writes_over: bool = False,
    ) -> ChannelRun:
        """Start a box of several tests, with files of its own between these descriptors; the channel comes last.

        Args:
            message: its job.
            before: descriptors before stdin, stdout and stderr.
            stdin: input of the first test.
            after: descriptors after them.
            limits: those of the box.
            patience_seconds: the longest wait for a starved box.
            explain: finds the reason of a failure in what the program printed.
            writes_over: see `ChannelRun`.

        Returns:
            The run of the first test.

        Raises:
            SandboxError: the sandbox failed.
        """
        box = self._expected(None, limits, patience_seconds)
        silence = Stall.look_seconds(limits)
        with self._sending():
            channel, *fds = self._host.begin_shared(self._control.fileno(), message, before, stdin, after, silence)
        return ChannelRun(box, channel, (fds[0], fds[1], fds[2]), limits, explain, writes_over=writes_over)

    @contextmanager
    def _sending(self) -> Iterator[None]:
        """Raise JailDiedError if the zygote is gone; a lack of descriptors or memory here is none."""
        try:
            yield
        except OSError as error:
            if error.errno in NO_ROOM:
                raise
            raise JailDiedError(f"the zygote is gone: {error}") from None

    def control_fileno(self) -> int:
        """Return the descriptor on which a running box's end arrives."""
        return self._control.fileno()

    def receive_end(self) -> Outcome | None:
        """Receive a message about the box that `_begin` started, and return its outcome if it has ended."""
        message = self._receive(GRACE_SECONDS)
        if message == wire.RUNNING:
            return None
        err, limits = self._unfinished
        try:
            if message[:1] == wire.FAULT:
                raise BoxSetupError(message[1:].decode("utf-8", "replace"))
            (record,) = self._records(message)
            if self._cgroup is not None and self._cgroup.oom_kills() != self._oom_kills:
                record = record._replace(peak_memory_bytes=limits.memory_bytes)
            return outcome_with(record, 0, b"", b"" if err is None else files.read(err, STDERR_BYTES))
        finally:
            if err is not None:
                os.close(err)

    def _records(self, message: bytes) -> list[wire.Record]:
        """Return the records of an answer."""
        return wire.unpack_records(message)

    def _run_box(
        self,
        message: bytes,
        before: Sequence[int],
        stdin: bytes,
        after: Sequence[int],
        limits: Limits,
        patience_seconds: float,
    ) -> Outcome:
        """Run one box with files of its own for stdin, stdout and stderr, sent between these descriptors."""
        return self._run_boxes(message, before, stdin, after, (limits,), patience_seconds)[0]

    def _run_boxes(
        self,
        message: bytes,
        before: Sequence[int],
        stdin: bytes,
        after: Sequence[int],
        limits: Sequence[Limits],
        patience_seconds: float,
    ) -> list[Outcome]:
        """Run a box for each of `limits`, one after the other, as `_run_box` does; `stdin` is that of the first one.

        Returns:
            The outcomes of the boxes that were run.
        """
        wrote = []
        wall_seconds = sum(each.wall for each in limits)

        def run() -> list[wire.Record]:
            fds = self._send_files(message, before, stdin, after, len(limits))
            try:
                return self._records(self._answer(wall_seconds, patience_seconds))
            finally:
                for at, each in enumerate(limits):
                    out, err = fds[2 * at : 2 * at + 2]
                    wrote.append(self._host.finish(out, err, each.output_bytes + 1, STDERR_BYTES))

        records = self._limited(limits[0], run)
        return [outcome_with(record, *found) for record, found in zip(records, wrote, strict=False)]

    def _send_files(
        self, message: bytes, before: Sequence[int], stdin: bytes, after: Sequence[int], boxes: int
    ) -> tuple[int, ...]:
        """Send a job with a run's files, and return those of stdout and stderr of each box."""
        with self._sending():
            return self._host.begin(self._control.fileno(), message, before, stdin, after, boxes)

    def _exchange(self, message: bytes, fds: list[int], wall_seconds: float, patience_seconds: float) -> bytes:
        """Send a job and return the answer that it was done."""
        try:
            wire.send(self._control, message, fds)
        except OSError as error:
            raise JailDiedError(f"the zygote is gone: {error}") from None
        return self._answer(wall_seconds, patience_seconds)

    def _answer(self, wall_seconds: float, patience_seconds: float) -> bytes:
        """Return the answer to a job that was sent."""
        give_up = time.monotonic() + patience_seconds + GRACE_SECONDS
        answer = wire.RUNNING
        while answer == wire.RUNNING:
            answer = self._receive(min(wall_seconds + GRACE_SECONDS, give_up - time.monotonic()))
        if answer[:1] == wire.FAULT:
            raise BoxSetupError(answer[1:].decode("utf-8", "replace"))
        return answer

    def _receive(self, seconds: float) -> bytes:
        if seconds != self._receive_timeout:
            self._receive_timeout = seconds
            whole, part = divmod(max(seconds, 0.001), 1)
            timeval = struct.pack("ll", int(whole), int(part * 1e6))
            self._control.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeval)
        try:
            message = self._control.recv(wire.MAX_MESSAGE)
        except BlockingIOError:
            raise JailDiedError(f"no answer from the zygote in {seconds:.1f} s") from None
        except OSError as error:
            raise JailDiedError(f"no answer from the zygote: {error}") from None
        if not message:
            raise JailDiedError("the zygote ended")
        return message

    def kill(self) -> None:
        """End all processes in it."""
        self._control.close()  # the zygote ends itself when it notices, even where we may not kill a SUID tool
        for process in _family(self._process.pid):
            with suppress(psutil.Error):
                process.kill()
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._stderr.close()
        if self._cgroup is not None:
            self._cgroup.remove()

    def processes(self) -> list[psutil.Process]:
        """Return the isolation tool's processes and those in the jail."""
        return _family(self._process.pid)

    def explained(self, fault: SandboxError) -> SandboxError:
        """Return the fault with advice for the operator, if the cause is known."""
        return diagnosis.explained(fault, self._tool)


def _start(
    tool: IsolationTool, zygote: Zygote, place: Place, remote: socket.socket, stderr: int
) -> subprocess.Popen[bytes]:
    inside = zygote.launch(place, remote.fileno())
    opened = set(inside.fds)
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    most = MAIN_STACK_BYTES if hard == resource.RLIM_INFINITY else min(MAIN_STACK_BYTES, hard)
    try:
        launch = tool.enclose(replace(inside, fds=[remote.fileno(), *inside.fds]))
        opened |= set(launch.fds) - {remote.fileno()}
        # the room for the main thread's stack is fixed when a program starts: contest programs recurse deeply
        resource.setrlimit(resource.RLIMIT_STACK, (most, hard))
        return subprocess.Popen(
            launch.command,
            pass_fds=launch.fds,
            env=dict(launch.environment),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            start_new_session=True,
        )
    finally:
        resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))
        for fd in opened:
            os.close(fd)


def verify(identity: dict[str, object], tool: str) -> None:
    """Compare the zygote's report on itself with this process's own namespaces, filters and privileges.

    Args:
        identity: the zygote's report (guest/zygote.py).
        tool: the name of the isolation tool, for the message.

    Raises:
        JailUnsafeError: the zygote shares something that a jail must have for itself.
    """
    namespaces = identity.get("namespaces")
    assert isinstance(namespaces, dict)
    shared = [name for name, seen in namespaces.items() if seen == str(Path(f"/proc/self/ns/{name}").readlink())]
    reasons = [f"it shares our {name} namespace" for name in shared]
    if identity.get("interfaces") != ["lo"]:
        reasons.append(f"it sees network interfaces {identity.get('interfaces')}")
    if identity.get("seccomp") != "2" or not _more(identity.get("filters"), filters()):
        reasons.append(f"{tool} installed no system call filter")
    if identity.get("no_new_privs") != "1":
        reasons.append("it may gain privileges")
    if reasons:
        raise JailUnsafeError(f"{tool} did not jail: " + ", ".join(reasons))


def _more(theirs: object, ours: int | None) -> bool:
    """Return whether the zygote has more filters than this process; an old kernel does not count them."""
    return ours is None or (isinstance(theirs, str) and int(theirs) > ours)


def _family(pid: int) -> list[psutil.Process]:
    try:
        parent = psutil.Process(pid)
        return [parent, *parent.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []
