"""Set the clock, the host's name and its domain.

Must fail: these belong to the machine. Each is set to what it is, so that even success would do no damage.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import ctypes
import os
import time

libc = ctypes.CDLL(None, use_errno=True)
try:
    time.clock_settime(time.CLOCK_REALTIME, time.time())
    print("ESCAPED set the clock")
except OSError:
    pass
name = os.uname().nodename.encode()
if libc.sethostname(name, len(name)) == 0:
    print("ESCAPED set the host's name")
if libc.setdomainname(b"(none)", 6) == 0:
    print("ESCAPED set the domain's name")
timex = (ctypes.c_long * 64)()
if libc.adjtimex(timex) >= 0:  # to look is harmless
    timex[0] = 2  # ADJ_FREQUENCY
    if libc.adjtimex(timex) >= 0:
        print("ESCAPED adjusted the clock's rate")
print("held")
