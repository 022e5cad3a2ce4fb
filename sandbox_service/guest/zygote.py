"""The zygote: a warm interpreter inside firejail that turns every test into a fresh process.

It is trusted, single-threaded, and reads no byte that a user wrote: code, input and output travel as descriptors
from the host to the box and back. Its life: import (the host's bootstrap says what), build the room, prepare the
streams, put the interpreter on huge pages, install the system call filter, say hello, then serve jobs until the
host goes away.
"""

import _socket as socket
import gc
import json
import os
import random
import sys
import time
from collections.abc import Callable
from typing import Any, NoReturn

import _box
import calls
import pair
import program
import room
import tester
import watch
import wire
from wire import Job, Record

OURS = (
    "_box", "calls", "candidate", "leetcode", "pair", "program", "room", "tester", "values", "watch", "wire", "zygote",
)  # fmt: skip
RESERVED_FDS = 12
OPEN_FILES = 256
THREADS = 64
MAIN_STACK_BYTES = 1 << 30
THREAD_STACK_BYTES = 8 << 20
TESTER_MEMORY_BYTES = 2 << 30
TMP_OPTIONS = "size=32m,nr_inodes=2048"
LIBRARIES = ("/usr/lib/python3/dist-packages", "/usr/local/lib/python3/dist-packages")

_own_memory = 0
_report_fd = -1


def main() -> None:
    """Start, say hello, serve. argv[1] is the host's JSON: control, guest and filter descriptors, uid, cpu, kind."""
    options = json.loads(sys.argv[1])
    start_again_compiled(options)
    control = socket.socket(fileno=options["control"])
    warm(options["kind"])
    hello = identity()
    move_in(options)
    control.send(json.dumps(hello).encode())
    serve(control)
    os._exit(0)


def start_again_compiled(options: dict[str, object]) -> None:
    """Begin anew once the guest's own modules are compiled: what compiling leaves in memory, every fork would copy."""
    if options.get("compiled"):
        return
    options["compiled"] = True
    command = [*sys.orig_argv[:-1], json.dumps(options)]
    os.execv(command[0], command)


def warm(kind: str) -> None:
    """Have numpy if it is asked for, and make what must be the same in every box the same."""
    sys.path.pop(0)  # the guest folder: its modules are all imported
    sys.pycache_prefix, sys.dont_write_bytecode = None, True
    sys.path.extend(path for path in LIBRARIES if os.path.isdir(path))
    if kind == "numpy":
        import numpy

        numpy.random.seed(0)
    random.seed(0)  # a program that draws without seeding gets the same numbers in every box: verdicts repeat
    _add_site_builtins()


def _add_site_builtins() -> None:
    """`exit`, `quit` and the like, which the site module would have made."""
    import _sitebuiltins
    import builtins

    for name in ("exit", "quit"):
        setattr(builtins, name, _sitebuiltins.Quitter(name, "Ctrl-D (i.e. EOF)"))
    builtins.help = _sitebuiltins._Helper()


def identity() -> dict[str, object]:
    """What the host compares with its own: the proof that firejail did put us into a jail."""
    with open("/proc/self/status") as file:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    with open("/proc/self/net/dev") as file:
        interfaces = [line.split(":")[0].strip() for line in file.readlines()[2:]]
    return {
        "namespaces": {name: os.readlink(f"/proc/self/ns/{name}") for name in ("pid", "net", "mnt", "ipc")},
        "interfaces": interfaces,
        "seccomp": status.get("Seccomp"),
        "filters": status.get("Seccomp_filters"),
        "no_new_privs": status.get("NoNewPrivs"),
        "bounding_set": status.get("CapBnd"),
        "python": "{} {}.{}.{}".format(sys.implementation.name, *sys.version_info[:3]),
    }


def move_in(options: dict[str, Any]) -> None:
    """Everything that is done once so that no test pays for it; the filter comes last."""
    global _report_fd, _own_memory
    uid = options["uid"]
    if options["cpu"] >= 0:
        os.sched_setaffinity(0, [options["cpu"]])
    watch.prepare()
    bpf = os.pread(options["filter"], 1 << 16, 0)
    os.close(options["filter"])
    room.use_huge_text()
    _own_memory = _virtual_memory()
    room.build(uid, own_namespace=options["own_namespace"])
    os.close(options["guest"])
    _set_environment()
    owner = "" if options["own_namespace"] else f",uid={uid},gid={uid}"
    box_uid = -1 if options["own_namespace"] else uid
    _report_fd = _box.prepare(box_uid, f"{TMP_OPTIONS},mode=700{owner}", MAIN_STACK_BYTES)
    _box.thread_stack(THREAD_STACK_BYTES)
    _reserve_fds()
    program.rehearse()
    program.prepare()
    tester.warm()
    calls.prepare()
    for name in OURS:
        sys.modules.pop(name, None)  # a program's own `import values` finds nothing of ours
    gc.collect()
    _box.trim()
    gc.freeze()
    gc.disable()
    _box.install_filter(bpf)


def _set_environment() -> None:
    """Firejail added variables of its own; programs see only these."""
    kept = {name: os.environ[name] for name in ("PATH", "LC_ALL", "TZ", "PYTHONHASHSEED") if name in os.environ}
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    os.environ.clear()
    os.environ.update(kept | threads | {"HOME": "/tmp", "TMPDIR": "/tmp"})  # the box's own
    time.tzset()


def _reserve_fds() -> None:
    """Occupy the low numbers, so that a descriptor from the host never stands where a box's 0, 1, 2, … will be."""
    null = os.open("/dev/null", os.O_RDWR)
    for fd in range(RESERVED_FDS):
        if fd < 3 or not _is_open(fd):
            os.dup2(null, fd, inheritable=fd < 3)
    os.close(null)


def _is_open(fd: int) -> bool:
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True


def _virtual_memory() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def serve(control: socket.socket) -> None:
    """Answer jobs until the host is gone. `_box.serve` answers most by itself, and hands over what needs more."""
    while True:
        handed_over = _box.serve(control.fileno(), _own_memory, OPEN_FILES, THREADS)
        if handed_over is None:
            program.run()
        message, fds, pid, pidfd = handed_over
        if not message:
            return
        control.send(answer(control, wire.unpack_job(message), fds, pid, pidfd))


def answer(control: socket.socket, job: Job, fds: list[int], pid: int, pidfd: int) -> bytes:
    """Run a job, or wait for the box that already runs it; the records, or the fault."""
    try:
        if pid:
            waited = min(job.cpu_seconds, job.wall_seconds)
            records = [watch.until_end(control, job, watch.Box(pid, pidfd, job.cpu_seconds), waited=waited)]
        else:
            records = RUNNERS[job.mode](control, job, fds)
        check_setup(records)
    except OSError as error:
        return wire.FAULT + str(error).encode()
    return wire.pack_records(records)


def run_stdin(control: socket.socket, job: Job, fds: list[int]) -> list[Record]:
    """A whole program on one input."""
    source, cache, stdin, stdout, stderr = fds
    return [watch.until_end(control, job, spawn(job, (stdin, stdout, stderr, source, cache), program.run))]


def run_calls(control: socket.socket, job: Job, fds: list[int]) -> list[Record]:
    """Calls of a submission's functions, one after another in one box."""
    source, cache, wanted, stdout, stderr, results = fds
    box = spawn(job, (0, stdout, stderr, source, cache, wanted, results), calls.run)
    return [watch.until_end(control, job, box)]


def run_pair(control: socket.socket, job: Job, fds: list[int]) -> list[Record]:
    """A candidate and its tester, each in a box, joined by two pipes and nothing else. Records in that order.

    The tester decides when it is over; a candidate that still runs then is killed, which says nothing about it.
    """
    source, cache, prelude, test, stdout, stderr, tester_stderr, report = fds
    to_candidate, to_tester = os.pipe(), os.pipe()
    generous = job._replace(cpu_seconds=job.tester_cpu_seconds, memory_bytes=max(job.memory_bytes, TESTER_MEMORY_BYTES))
    one = spawn(job, (0, stdout, stderr, source, cache, prelude, to_candidate[0], to_tester[1]), pair.run_candidate)
    other = spawn(generous, (0, 0, tester_stderr, test, to_tester[0], to_candidate[1], report), pair.run_tester)
    for fd in (*to_candidate, *to_tester):
        os.close(fd)
    tester_record = watch.until_end(control, job, one, other)
    return [watch.no_longer(control, one), tester_record]


RUNNERS = {wire.STDIN: run_stdin, wire.CALLS: run_calls, wire.PAIR: run_pair}


def spawn(job: Job, fds: tuple[int, ...], inside: Callable[[], NoReturn]) -> watch.Box:
    """A new box; in it, `inside` runs and never returns."""
    backstop = int(2 * job.cpu_seconds) + 2
    tasks = THREADS if job.processes == 1 else job.processes + THREADS
    child = _box.spawn(fds, backstop, _own_memory + job.memory_bytes, job.file_bytes, OPEN_FILES, tasks)
    if child is None:
        inside()
    pid, pidfd = child
    return watch.Box(pid, pidfd, job.cpu_seconds)


def check_setup(records: list[Record]) -> None:
    """Raises OSError if a box ended because its set-up failed.

    That it did is told by a report; without one, the exit status 97 is the program's own.
    """
    if not any(record.status == _box.EXIT_SETUP << 8 for record in records):
        return
    try:
        report = os.read(_report_fd, 4096)
    except BlockingIOError:
        return
    raise OSError(f"set-up: {report.decode(errors='replace')}")
