"""Ask for real-time scheduling, real-time disk priority and locked memory, to starve the neighbours.

Must fail: refused.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE", "TLE"], "outcome": "harmless"}
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
for policy in (os.SCHED_FIFO, os.SCHED_RR):
    try:
        os.sched_setscheduler(0, policy, os.sched_param(1))
        print("ESCAPED scheduled in real time")
    except OSError:
        pass
if os.uname().machine == "x86_64" and libc.syscall(251, 1, 0, (1 << 13) | 0) == 0:  # ioprio_set
    print("ESCAPED real-time disk priority")
attributes = (ctypes.c_uint32 * 12)(48, 6, 0, 0, 0, 0, 900_000, 0, 1_000_000, 0, 1_000_000, 0)
if os.uname().machine == "x86_64" and libc.syscall(314, 0, attributes, 0) == 0:  # sched_setattr: deadline
    print("ESCAPED deadline scheduling")
print("held")
