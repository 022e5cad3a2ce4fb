"""The zygote: a warm interpreter inside firejail that forks a fresh process for every test.

It is trusted and single-threaded, and reads no byte that a user wrote: code, input and output are passed as
descriptors between the host and the box. In order it imports the modules, builds the root file system, prepares the
streams, moves the interpreter to huge pages, installs the system call filter, reports its identity, and serves jobs
until the host closes the control socket.
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
import judge
import plain_programs
import program
import rootfs
import shared
import stacks
import tester
import two_boxes
import watchdog
import wire
from wire import Record

OURS = (
    "_box", "answer_lists", "answer_words", "callbacks", "calls", "candidate", "candidate_codec",
    "candidate_replies", "channel", "codec", "computed_names", "connection", "decoder", "descriptor_uses",
    "dispatcher", "encoder", "ending", "equality", "error_codec", "explanations", "fixed_points", "fixtures",
    "framework_tests", "handle_operators", "handle_state", "identifiers", "judge", "latex_answers", "latex_grammar",
    "latex_spelling", "leetcode", "lent_values", "libraries", "library_names", "live_globals", "mathematics",
    "name_resolution", "name_table", "name_uses", "operations", "plain_programs", "prelude", "program",
    "proxy_classes", "remote_handle", "results", "rootfs", "shared", "shared_classes", "stacks", "steady_reads",
    "tester", "tester_codec", "text_uses", "trees", "two_boxes", "type_name", "units", "watchdog", "wire", "zygote",
)  # fmt: skip
PYTHON_SIGNALS = {signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ}  # set by the interpreter at start
RESERVED_FDS = 12
OPEN_FILES = 256
THREADS = 512  # the kernel counts by uid, which other services on this machine may share
MAIN_STACK_BYTES = 1 << 30
THREAD_STACK_BYTES = 8 << 20
RESERVED_BYTES = 128 << 20  # address space beyond the memory limit: stacks of threads are reserved and seldom used
TMP_OPTIONS = "size=32m,nr_inodes=2048,mode=700"

Roles = tuple[Callable[[], NoReturn], ...]

_own_memory = 0
_report_fd = -1


def main() -> None:
    """Start, report the identity, serve jobs.

    argv[1] is JSON from the host: the control, guest and filter descriptors, uid, cpu and kind.
    """
    options = json.loads(sys.argv[1])
    restart_compiled(options)
    control = socket.socket(fileno=options["control"])
    roles = entry_points(options["kind"], options["libraries"])
    warm(options["kind"], options["shown"])
    report = identity()
    set_up(options)
    control.send(json.dumps(report).encode())
    serve(control, roles)
    os._exit(0)


def restart_compiled(options: dict[str, object]) -> None:
    """Restart the process if it compiled the guest modules: forks would copy the memory used by compiling.

    Args:
        options: the host's options.
    """
    if options.get("compiled") or sys.pycache_prefix is None:
        return
    options["compiled"] = True
    command = [*sys.orig_argv[:-1], json.dumps(options)]
    os.execv(command[0], command)


def entry_points(kind: str, folders: list[int]) -> Roles:
    """Return the entry points of boxes by role.

    The kind `mathematics` has its own two entry points for a job of two boxes, and needs libraries of the host's.

    Args:
        kind: kind of zygote.
        folders: descriptors of the libraries' folders.
    """
    if kind != "mathematics":
        return ROLES
    import libraries

    with libraries.shown(folders):
        import mathematics

        mathematics.rehearse()
    return program.run, calls.run, mathematics.run_reader, mathematics.run_referee, judge.run


def warm(kind: str, libraries: list[str]) -> None:
    """Import numpy if the kind asks for it, and set up state that must be the same in every box.

    Args:
        kind: kind of zygote.
        libraries: paths of the libraries that submissions may import.
    """
    sys.path.pop(0)  # the guest folder: its modules are all imported
    sys.pycache_prefix, sys.dont_write_bytecode = None, True
    if kind == "numpy":
        _import_numpy(libraries)
    sys.path.append(rootfs.LIBRARIES)
    reset_signals()
    random.seed(0)  # unseeded programs get the same numbers in every box, so that verdicts repeat
    _add_site_builtins()


def seed_anew(number: int) -> None:
    """Set another state of random numbers, those of numpy as well if it is loaded.

    Args:
        number: the seed.
    """
    random.seed(number)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(number)


def reset_signals() -> None:
    """Reset signal handlers and mask that the service's parent may have changed; every box inherits them."""
    for number in signal.valid_signals() - PYTHON_SIGNALS - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _import_numpy(libraries: list[str]) -> None:
    """Import numpy from the host's folder; the root file system is not built yet."""
    own_path = list(sys.path)
    sys.path.extend({os.path.dirname(path) for path in libraries if os.path.basename(path) == "numpy"})
    try:
        import numpy

        numpy.random.seed(0)
    except ModuleNotFoundError:  # not installed, or not to be imported: that is the submission's error
        pass
    sys.path[:] = own_path
    sys.path_importer_cache.clear()


def _add_site_builtins() -> None:
    """Add `exit`, `quit` and the other builtins that the site module makes."""
    import _sitebuiltins
    import builtins

    for name in ("exit", "quit"):
        setattr(builtins, name, _sitebuiltins.Quitter(name, "Ctrl-D (i.e. EOF)"))
    for name in ("copyright", "credits", "license"):
        setattr(builtins, name, _sitebuiltins._Printer(name, sys.copyright))
    builtins.help = _sitebuiltins._Helper()


def identity() -> dict[str, object]:
    """Return the values that the host compares with its own to prove that firejail created a jail."""
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


def set_up(options: dict[str, Any]) -> None:
    """Do the set-up that is shared by all tests; the system call filter comes last.

    Args:
        options: the host's options.
    """
    global _report_fd, _own_memory
    uid = options["uid"]
    if options["cpu"] >= 0:
        os.sched_setaffinity(0, [options["cpu"]])
    proc = watchdog.prepare()
    bpf = os.pread(options["filter"], 1 << 16, 0)
    os.close(options["filter"])
    rootfs.use_huge_text()
    _own_memory = _virtual_memory() + RESERVED_BYTES
    shown = {rootfs.LIBRARIES: options["shown"], rootfs.TEST_LIBRARIES: options["shown_to_tests"]}
    rootfs.build(uid, options["tester_uid"], shown, own_namespace=options["own_namespace"])
    os.close(options["guest"])
    _set_environment()
    uids: tuple[int, int] = (-1, -1) if options["own_namespace"] else (uid, options["tester_uid"])
    _report_fd = _box.prepare(*uids, TMP_OPTIONS, MAIN_STACK_BYTES, proc)
    _box.thread_stack(THREAD_STACK_BYTES)
    stacks.prepare()
    _reserve_fds()
    program.rehearse()
    program.prepare()
    tester.warm()
    calls.prepare()
    for name in OURS:
        sys.modules.pop(name, None)  # a program's own `import values` finds nothing of ours
    plain_programs.prepare()
    shared.prepare()
    gc.collect()
    _box.pack()
    gc.freeze()
    gc.disable()
    program.make_main()
    _box.huge_data(proc)
    _box.install_filter(bpf)


def _set_environment() -> None:
    """Reduce the environment to the variables that programs may see; firejail adds its own."""
    kept = {name: os.environ[name] for name in ("PATH", "LC_ALL", "TZ", "PYTHONHASHSEED") if name in os.environ}
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    os.environ.clear()
    os.environ.update(kept | threads | {"HOME": "/tmp", "TMPDIR": "/tmp"})  # the box's own
    time.tzset()


def _reserve_fds() -> None:
    """Occupy the low descriptor numbers, so that a descriptor from the host never has the number of one of a box's."""
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
    """Serve jobs until the host closes the socket. `_box.serve` answers short jobs itself and returns the others.

    Args:
        control: socket to the host.
        roles: entry points of boxes by role.
    """
    while True:
        found = _box.serve(control.fileno(), _own_memory, OPEN_FILES, THREADS)
        if found is None:
            return
        if isinstance(found, int):
            try:
                if found > 0xFF:
                    seed_anew(found >> 8)
                roles[found & 0xFF]()
            finally:
                control.detach()  # already closed in a box; its number may be a file of the program's
        else:
            control.send(watch_job(control, *found))


def watch_job(control: socket.socket, message: bytes, started: list[tuple[int, int, int]]) -> bytes:
    """Return the answer to a job whose boxes run longer than its first limit: the records, or the fault.

    Args:
        control: socket to the host.
        message: the job's message.
        started: pid, pidfd and RLIMIT_CPU of each box.
    """
    job = wire.unpack_job(message)
    limits = (job.cpu_seconds, job.tester_cpu_seconds)
    boxes = [watchdog.Box(*box, limits[place]) for place, box in enumerate(started)]
    waited = min(job.cpu_seconds, job.wall_seconds)
    last = watchdog.wait_for_end(control, job, *boxes, waited=waited)
    records = [*(watchdog.end_unneeded(control, box) for box in boxes[:-1]), last]
    fault = setup_fault(records)
    return wire.FAULT + fault if fault else wire.pack_records(records)


def setup_fault(records: list[Record]) -> bytes:
    """Return the report of a box whose set-up failed; empty if none did.

    Exit status 97 without a report is the program's own.

    Args:
        records: the records of the job's boxes.
    """
    if not any(record.status == _box.EXIT_SETUP << 8 for record in records):
        return b""
    try:
        return os.read(_report_fd, 4096)
    except BlockingIOError:
        return b""


# a box's entry point, by the role that `_box.serve` returns
ROLES: Roles = (program.run, calls.run, two_boxes.run_candidate, two_boxes.run_tester, judge.run, shared.run)
