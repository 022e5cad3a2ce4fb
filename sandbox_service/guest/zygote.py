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
import signal
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
from wire import Record

OURS = (
    "_box", "answers", "calls", "candidate", "equality", "leetcode", "libraries", "mathematics", "pair", "program",
    "room", "tester", "trees", "units", "values", "watch", "wire", "zygote",
)  # fmt: skip
USUAL_SIGNALS = (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM)
RESERVED_FDS = 12
OPEN_FILES = 256
THREADS = 512  # counted by uid, which other services on this machine may share
MAIN_STACK_BYTES = 1 << 30
THREAD_STACK_BYTES = 8 << 20
RESERVED_BYTES = 128 << 20  # of address space beside the memory limit: stacks of threads are reserved, seldom used
TMP_OPTIONS = "size=32m,nr_inodes=2048"
LIBRARIES = ("/usr/lib/python3/dist-packages", "/usr/local/lib/python3/dist-packages")

Roles = tuple[Callable[[], NoReturn], ...]

_own_memory = 0
_report_fd = -1


def main() -> None:
    """Start, say hello, serve. argv[1] is the host's JSON: control, guest and filter descriptors, uid, cpu, kind."""
    options = json.loads(sys.argv[1])
    start_again_compiled(options)
    control = socket.socket(fileno=options["control"])
    roles = roles_of(options["kind"], options["libraries"])
    warm(options["kind"])
    hello = identity()
    move_in(options)
    control.send(json.dumps(hello).encode())
    serve(control, roles)
    os._exit(0)


def start_again_compiled(options: dict[str, object]) -> None:
    """Begin anew once the guest's own modules are compiled: what compiling leaves in memory, every fork would copy."""
    if options.get("compiled"):
        return
    options["compiled"] = True
    command = [*sys.orig_argv[:-1], json.dumps(options)]
    os.execv(command[0], command)


def roles_of(kind: str, folders: list[int]) -> Roles:
    """What boxes are to run. For mathematics the two halves of a pair are others, and need libraries of the host's."""
    if kind != "mathematics":
        return ROLES
    import libraries

    with libraries.shown(folders):
        import mathematics

        mathematics.rehearse()
    return program.run, calls.run, mathematics.run_reader, mathematics.run_referee


def warm(kind: str) -> None:
    """Have numpy if it is asked for, and make what must be the same in every box the same."""
    sys.path.pop(0)  # the guest folder: its modules are all imported
    sys.pycache_prefix, sys.dont_write_bytecode = None, True
    sys.path.extend(path for path in LIBRARIES if os.path.isdir(path))
    if kind == "numpy":
        import numpy

        numpy.random.seed(0)
    for number in USUAL_SIGNALS:
        signal.signal(number, signal.SIG_DFL)  # whoever started the service may have had them ignored
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
    _own_memory = _virtual_memory() + RESERVED_BYTES
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
    _box.pack()
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


def serve(control: socket.socket, roles: Roles) -> None:
    """Answer jobs until the host is gone. `_box.serve` answers most by itself, and hands over those that take long."""
    while True:
        found = _box.serve(control.fileno(), _own_memory, OPEN_FILES, THREADS)
        if found is None:
            return
        if isinstance(found, int):
            roles[found]()
        else:
            control.send(watched(control, *found))


def watched(control: socket.socket, message: bytes, started: list[tuple[int, int]]) -> bytes:
    """The answer to a job whose boxes run longer than its first limit: the records, or the fault."""
    job = wire.unpack_job(message)
    limits = (job.cpu_seconds, job.tester_cpu_seconds)
    boxes = [watch.Box(pid, pidfd, limits[place]) for place, (pid, pidfd) in enumerate(started)]
    waited = min(job.cpu_seconds, job.wall_seconds)
    last = watch.until_end(control, job, *boxes, waited=waited)
    records = [*(watch.no_longer(control, box) for box in boxes[:-1]), last]
    fault = setup_fault(records)
    return wire.FAULT + fault if fault else wire.pack_records(records)


def setup_fault(records: list[Record]) -> bytes:
    """What was reported by a box whose set-up failed; nothing if none did.

    Exit status 97 without a report is the program's own.
    """
    if not any(record.status == _box.EXIT_SETUP << 8 for record in records):
        return b""
    try:
        return os.read(_report_fd, 4096)
    except BlockingIOError:
        return b""


# what a box runs, by the role that `_box.serve` returns in it
ROLES: Roles = (program.run, calls.run, pair.run_candidate, pair.run_tester)
