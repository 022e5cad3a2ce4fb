"""One firejail with a zygote in it: started, proved to be a jail, given work, killed.

firejail may *not* jail and say nothing of it: where it believes itself already sandboxed it runs the program as it
is. So a jail that has started is not yet trusted: the zygote reports what it sees of itself, and `_verify` compares
that with what the host sees of itself. The canary (canary.py) then tries what must not work.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import struct
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from sandbox_service.errors import JailDied, JailUnsafe, SetupFailed
from sandbox_service.jails import cgroups, files, libraries, seccomp, wire
from sandbox_service.jails.base import Outcome
from sandbox_service.jails.files import Program
from sandbox_service.jails.ourselves import filters
from sandbox_service.schema import Limits

GUEST = Path(__file__).resolve().parent.parent / "guest"
PROFILE = Path(__file__).resolve().parent / "worker.profile"
KINDS = ("std", "numpy", "processes", "mathematics")

START_SECONDS = 30.0
START_WITH_LIBRARIES_SECONDS = 120.0  # four seconds of CPU time; the first time, they are compiled as well
GRACE_SECONDS = 5.0
PATIENCE = 8.0  # a starved box is waited for up to this many times its wall limit
MAIN_STACK_BYTES = 1 << 30
LEAST_FILE_BYTES = 16 << 20  # room for the compiled program, whatever the output limit
STDERR_BYTES = 64 << 10
LAST_WORDS_BYTES = 2000
TESTER_SECONDS = 10.0
TASKS_BESIDE = 24  # threads of the program, the zygote, firejail

# What programs usually import comes first; then the guest's own modules, whose compiled form is kept in the jail's
# private /tmp, because a zygote that had to compile would carry what compiling leaves in memory into every fork.
USUAL_MODULES = """
    ast bisect collections contextlib copy datetime decimal fractions functools heapq itertools json linecache math
    operator random re statistics string threading traceback typing
"""
BOOTSTRAP = f"""
import sys, {", ".join(USUAL_MODULES.split())}
sys.path.insert(0, "/proc/self/fd/%d")
sys.pycache_prefix = "/tmp/compiled"
import zygote
zygote.main()
"""
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/nonexistent",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",  # the order of a set decided some answers
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",  # else every thread reserves 64 MiB of the address space that is limited
    "LD_BIND_NOW": "1",
    "container": "docker",  # without it firejail, inside a container, takes itself for jailed and does nothing
}


@dataclass(frozen=True)
class Place:
    """Where a jail stands: which programs, which uid its boxes get (-1: ours), which processor it is bound to."""

    firejail: str
    python: str
    uid: int
    cpu: int

    @property
    def privileged(self) -> bool:
        """As root every box gets a uid of its slot's own; else everything runs as us, in a user namespace."""
        return self.uid >= 0


@dataclass(frozen=True)
class PairResult:
    """An assert test's two outcomes and what the tester wrote: None if it wrote nothing whole."""

    candidate: Outcome
    tester: Outcome
    report: dict[str, object] | None


class Jail:
    """A firejail and its zygote. Not thread-safe: one slot drives it, one run at a time."""

    def __init__(self, place: Place, kind: str) -> None:
        folders = libraries.opened() if kind == "mathematics" else []
        self.kind = kind
        self.runs = 0
        self.identity: dict[str, object] = {}
        self._ready = False
        self._scratch: list[int] = []
        self._sent = (0, 0)  # of which program the zygote has the files, and for which kind of run
        self._complaints = os.fdopen(files.create(), "rb")
        self._control, remote = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._patience = -1.0
        self._group = cgroups.create(cgroups.name_of(place.uid)) if kind == "processes" else None
        try:
            self._process = _start(place, kind, remote, self._complaints.fileno(), folders)
        except OSError as error:
            self._control.close()
            self._complaints.close()
            raise JailDied(f"{place.firejail} cannot be started: {error}") from None
        finally:
            remote.close()
            for folder in folders:
                os.close(folder)

    def wait_ready(self) -> None:
        """Wait for the zygote's word, and check it. Raises JailDied, or JailUnsafe if this is no jail."""
        if self._ready:
            return
        try:
            message = self._receive(START_WITH_LIBRARIES_SECONDS if self.kind == "mathematics" else START_SECONDS)
        except JailDied as fault:
            raise JailDied(f"no jail started ({fault}): {self._last_words()}") from None
        try:
            self.identity = json.loads(message)
        except ValueError:
            raise JailDied(f"the zygote did not start: {message[:300]!r}") from None
        _verify(self.identity)
        if self._group is not None:
            for process in self.processes():
                self._group.add(process.pid)
        self._ready = True

    def _last_words(self) -> str:
        """The end of what firejail, or the zygote before its room was built, wrote on stderr."""
        text = files.read(self._complaints.fileno(), LAST_WORDS_BYTES, end=True).decode("utf-8", "replace")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return " | ".join(lines[-3:]) or "firejail said nothing"

    def run_stdin(self, program: Program, stdin: bytes, limits: Limits) -> Outcome:
        """Run the program once on this input, in a box of its own. Raises SandboxFault."""
        source, out, err = self._files(stdin, b"", b"")
        (record,) = self._run(wire.STDIN, limits, program, [source, out, err])
        return _outcome(record, out, err, limits)

    def run_calls(self, program: Program, calls: bytes, limits: Limits) -> tuple[Outcome, bytes]:
        """Make the calls (JSON) in one box; the outcome and the lines of results. Raises SandboxFault."""
        wanted, out, err, results = self._files(calls, b"", b"", b"")
        (record,) = self._run(wire.CALLS, limits, program, [wanted, out, err, results])
        return _outcome(record, out, err, limits), files.read(results, limits.output_bytes + 1)

    def run_pair(self, program: Program, prelude: str, test: bytes, limits: Limits) -> PairResult:
        """Run a test program (JSON with its names) against the candidate, in two boxes. Raises SandboxFault."""
        first, wanted, out, err, tester_err, report = self._files(prelude.encode(), test, b"", b"", b"", b"")
        one, other = self._run(wire.PAIR, limits, program, [first, wanted, out, err, tester_err, report])
        return PairResult(_outcome(one, out, err, limits), _outcome(other, report, tester_err, limits), _report(report))

    def _files(self, *contents: bytes) -> list[int]:
        """Memfds with these contents. They are used again by the next run, when all that had them is dead."""
        while len(self._scratch) < len(contents):
            self._scratch.append(files.create())
        for fd, content in zip(self._scratch, contents, strict=False):
            files.refill(fd, content)
        return self._scratch[: len(contents)]

    def _run(self, mode: int, limits: Limits, program: Program, scratch: list[int]) -> list[wire.Record]:
        self.runs += 1
        if self._group is None:
            return self._exchange(_job(mode, limits), program, scratch)
        self._group.limit(limits.memory_bytes, limits.processes + TASKS_BESIDE)
        before = self._group.oom_kills()
        records = self._exchange(_job(mode, limits), program, scratch)
        if self._group.oom_kills() == before:
            return records
        return [record._replace(peak_memory_bytes=limits.memory_bytes) for record in records]  # it used all there was

    def _exchange(self, job: wire.Job, program: Program, scratch: list[int]) -> list[wire.Record]:
        known, self._sent = self._sent, (program.serial, job.mode)
        fds = [] if known == self._sent else [program.source_fd, program.cache_fd, *scratch]
        try:
            wire.send_job(self._control, job, fds)
        except OSError as error:
            raise JailDied(f"the zygote is gone: {error}") from None
        give_up = time.monotonic() + job.patience_seconds + GRACE_SECONDS
        message = wire.RUNNING
        while message == wire.RUNNING:
            message = self._receive(min(job.wall_seconds + GRACE_SECONDS, give_up - time.monotonic()))
        if message[:1] == wire.FAULT:
            raise SetupFailed(message[1:].decode("utf-8", "replace"))
        return wire.unpack_records(message)

    def _receive(self, seconds: float) -> bytes:
        if seconds != self._patience:
            self._patience = seconds
            whole, part = divmod(max(seconds, 0.001), 1)
            timeval = struct.pack("ll", int(whole), int(part * 1e6))
            self._control.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeval)
        try:
            message = self._control.recv(wire.MAX_MESSAGE)
        except BlockingIOError:
            raise JailDied(f"no answer from the zygote in {seconds:.1f} s") from None
        except OSError as error:
            raise JailDied(f"no answer from the zygote: {error}") from None
        if not message:
            raise JailDied("the zygote ended")
        return message

    def kill(self) -> None:
        """End everything in it, at once and for certain."""
        for fd in self._scratch:
            os.close(fd)
        self._scratch.clear()
        self._control.close()  # the zygote ends itself when it notices, even where we may not kill firejail
        for process in _family(self._process.pid):
            with suppress(psutil.Error):
                process.kill()
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._complaints.close()
        if self._group is not None:
            self._group.remove()

    def processes(self) -> list[psutil.Process]:
        """Firejail and what runs in it, for measuring and for tests that kill."""
        return _family(self._process.pid)


def _start(
    place: Place, kind: str, remote: socket.socket, complaints: int, folders: list[int]
) -> subprocess.Popen[bytes]:
    guest = os.open(GUEST, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    bpf = files.create(seccomp.build_filter(processes=kind == "processes"))
    fds = (remote.fileno(), guest, bpf, *folders)
    options = {
        "control": fds[0],
        "guest": guest,
        "filter": bpf,
        "uid": place.uid if place.privileged else os.getuid(),
        "own_namespace": not place.privileged,
        "cpu": place.cpu,
        "kind": kind,
        "libraries": folders,
    }
    jail = [place.firejail, "--quiet", f"--profile={PROFILE}", f"--keep-fd={','.join(map(str, fds))}", "--"]
    # -P -s -S: nothing but the standard library is on the path; not -I, which would ignore the fixed hash seed
    zygote = [place.python, "-P", "-s", "-S", "-c", BOOTSTRAP % guest, json.dumps(options)]
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    most = MAIN_STACK_BYTES if hard == resource.RLIM_INFINITY else min(MAIN_STACK_BYTES, hard)
    try:
        # the room for the main thread's stack is fixed when a program starts: contest programs recurse deeply
        resource.setrlimit(resource.RLIMIT_STACK, (most, hard))
        return subprocess.Popen(
            jail + zygote,
            pass_fds=fds,
            env=ENVIRONMENT,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=complaints,
            start_new_session=True,
        )
    finally:
        resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))
        os.close(guest)
        os.close(bpf)


def _verify(identity: dict[str, object]) -> None:
    """Compare what the zygote sees of itself with what we see of ourselves. Raises JailUnsafe."""
    namespaces = identity.get("namespaces")
    assert isinstance(namespaces, dict)
    shared = [name for name, seen in namespaces.items() if seen == str(Path(f"/proc/self/ns/{name}").readlink())]
    reasons = [f"it shares our {name} namespace" for name in shared]
    if identity.get("interfaces") != ["lo"]:
        reasons.append(f"it sees network interfaces {identity.get('interfaces')}")
    if identity.get("seccomp") != "2" or not _more(identity.get("filters"), filters()):
        reasons.append("firejail installed no system call filter")
    if identity.get("no_new_privs") != "1":
        reasons.append("it may gain privileges")
    if reasons:
        raise JailUnsafe("firejail did not jail: " + ", ".join(reasons))


def _more(theirs: object, ours: int | None) -> bool:
    """Whether they have more filters than we; an old kernel does not count them."""
    return ours is None or (isinstance(theirs, str) and int(theirs) > ours)


def _job(mode: int, limits: Limits) -> wire.Job:
    return wire.Job(
        mode=mode,
        cpu_seconds=limits.cpu_seconds,
        tester_cpu_seconds=limits.cpu_seconds + TESTER_SECONDS,
        processes=limits.processes,
        memory_bytes=limits.memory_bytes,
        file_bytes=max(limits.output_bytes, LEAST_FILE_BYTES) + 1,
        wall_seconds=limits.wall,
        patience_seconds=limits.wall * (PATIENCE if limits.processes == 1 else 1.0),  # or they starve each other
    )


def _outcome(record: wire.Record, out: int, err: int, limits: Limits) -> Outcome:
    written = files.size(out)
    status = 0 if record.why_killed == wire.NOT_NEEDED else record.status  # that it was killed says nothing of it
    return Outcome(
        exit_code=os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
        signal=os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
        timed_out=record.why_killed == wire.DEADLINE,
        cpu_seconds=record.cpu_seconds,
        wall_seconds=record.wall_seconds,
        starved_seconds=None if record.starved_seconds < 0 else record.starved_seconds,
        peak_memory_bytes=record.peak_memory_bytes,
        stdout=os.pread(out, min(written, limits.output_bytes + 1), 0) if written else b"",
        stderr=files.read(err, STDERR_BYTES),
        stdout_bytes=written,
    )


def _report(fd: int) -> dict[str, object] | None:
    try:
        report = json.loads(files.read(fd, STDERR_BYTES))
    except ValueError:
        return None
    return report if isinstance(report, dict) else None


def _family(pid: int) -> list[psutil.Process]:
    try:
        parent = psutil.Process(pid)
        return [parent, *parent.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []
