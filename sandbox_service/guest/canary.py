"""The canary: a program that tries operations that a box must refuse, and prints the results.

It runs where every submission runs. Its stdin is the path of a file that anyone on the machine may read and a box must
not see. The program is ours, so its output can be trusted; the host compares it word for word.
"""

import ctypes
import errno
import json
import os
import socket


def outcome(action):
    try:
        action()
    except OSError as error:
        return errno.errorcode.get(error.errno, "?")
    return "done"


def lines(path):
    """Return the lines of the file at a path; none where /proc is empty."""
    try:
        with open(path) as file:
            return file.read().splitlines()
    except FileNotFoundError:
        return []


def status(*names):
    pairs = dict(line.split(":\t", 1) for line in lines("/proc/self/status") if ":\t" in line)
    return {name: pairs[name].strip() for name in names if name in pairs}


def raw(call, *arguments):
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, call)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), "")


def create(path):
    with open(path, "w"):
        pass


def interfaces():
    return [line.split(":")[0].strip() for line in lines("/proc/net/dev")[2:]]


witness = input()
seen = {
    "pid": os.getpid(),
    "uid": os.getuid(),
    "processes": [name for name in os.listdir("/proc") if name.isdigit()],
    "interfaces": interfaces(),
    "root": sorted(os.listdir("/")),
    **status("CapEff", "CapPrm", "NoNewPrivs", "Seccomp", "Seccomp_filters"),
    "read_witness": outcome(lambda: open(witness).close()),
    "write_root": outcome(lambda: create("/canary")),
    "write_usr": outcome(lambda: create("/usr/canary")),
    "write_tmp": outcome(lambda: create("/tmp/canary")),
    "socket": outcome(lambda: socket.socket().close()),
    "shared_memory": outcome(lambda: raw("shmget", 0, 4096, 0o1600)),
    "semaphores": outcome(lambda: raw("semget", 0, 1, 0o1600)),
    "messages": outcome(lambda: raw("msgget", 0, 0o1600)),
    "mount": outcome(lambda: raw("mount", b"none", b"/tmp", b"tmpfs", 0, None)),
    "new_user_namespace": outcome(lambda: raw("unshare", 0x10000000)),
    "ptrace": outcome(lambda: raw("ptrace", 16, 1, 0, 0)),
    "fork": outcome(lambda: os.fork() or os._exit(0)),
    "execute": outcome(lambda: os.execv("/nonexistent", ["nonexistent"])),
}
print(json.dumps(seen))
