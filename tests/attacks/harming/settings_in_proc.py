"""Write to every file below /proc, of this process and of the machine: autogroup, oom_score_adj, comm, clear_refs …

Must fail: what can be set there may outlive the process, as its session's share of the processors does. All of it is
read-only.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE"], "outcome": "unpaid", "runs": 2}
import os

KNOWN = (
    "autogroup coredump_filter oom_score_adj oom_adj comm clear_refs timerslack_ns setgroups uid_map gid_map".split()
)


def attempt(path):
    try:
        fd = os.open(path, os.O_WRONLY)
    except OSError:
        return
    os.write(1, b"ESCAPED can be written: " + path.encode() + b"\n")
    os.close(fd)


def solve(a, b):
    for folder, folders, names in os.walk("/proc"):
        folders[:] = [name for name in folders if name not in ("fd", "map_files", "cwd", "root")]
        for name in names:
            if not os.path.islink(f"{folder}/{name}"):
                attempt(f"{folder}/{name}")
    for name in KNOWN:
        for folder in ("/proc/self", "/proc/1", "/proc/thread-self", "/proc/self/task/1"):
            if os.path.exists(f"{folder}/{name}"):
                attempt(f"{folder}/{name}")
    return 0


solve(20, 22)
