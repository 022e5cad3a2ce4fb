"""Move to all processors, where other boxes run, and bind other processes to one.

Must fail: the box keeps to the processor that it was given.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import os

before = os.sched_getaffinity(0)
try:
    os.sched_setaffinity(0, range(1024))
except OSError:
    pass
if os.sched_getaffinity(0) - before:
    print("ESCAPED moved to processors", sorted(os.sched_getaffinity(0) - before))
for pid in {os.getppid(), *range(1, 100)} - {0, os.getpid()}:
    try:
        os.sched_setaffinity(pid, before)
        print("ESCAPED bound process", pid)
    except OSError:
        pass
print("held")
