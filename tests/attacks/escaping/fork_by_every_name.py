"""Make a process by every call that can: fork, vfork, clone, `os.forkpty`, `multiprocessing`, `posix_spawn`.

Must fail: a program has one process unless its limits say otherwise.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import ctypes
import multiprocessing
import os

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def raw_of(function, *arguments):
    def call():
        result = function(*arguments)
        if result < 0:
            raise OSError
        return result

    return call


def started():
    child = multiprocessing.get_context("fork").Process(target=os._exit, args=(0,))
    child.start()
    return child.pid


ways = {
    "os.fork": os.fork,
    "os.forkpty": lambda: os.forkpty()[0],
    "libc.fork": raw_of(libc.fork),
    "multiprocessing": started,
    "posix_spawn": lambda: os.posix_spawn("/bin/true", ["true"], {}),
    "posix_spawnp": lambda: os.posix_spawnp("true", ["true"], {}),
}
if os.uname().machine == "x86_64":
    ways |= {"fork by number": raw_of(libc.syscall, 57), "clone by number": raw_of(libc.syscall, 56, 17, 0, 0, 0, 0)}
for name, way in ways.items():
    try:
        if way() == 0:
            os._exit(0)
        print("ESCAPED made a process by", name, flush=True)
    except (OSError, PermissionError):
        pass
print("held")
