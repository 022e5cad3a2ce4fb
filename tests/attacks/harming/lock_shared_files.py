"""Take locks on every file that can be opened, the interpreter and its libraries included, and hold them to the end.

Anybody who waits for such a lock would wait for this program. Must fail: the next submission runs as usual.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE", "TLE"], "outcome": "harmless"}
import fcntl
import os
import sys
import time

held = []
for folder in (os.path.dirname(os.__file__), os.path.dirname(sys.executable), "/etc", "/tmp", "/dev", "/proc"):
    try:
        names = os.listdir(folder)
    except OSError:
        continue
    for name in names[:150]:
        try:
            descriptor = os.open(os.path.join(folder, name), os.O_RDONLY | os.O_NONBLOCK)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            held.append(descriptor)
            fcntl.fcntl(descriptor, 1024, fcntl.F_RDLCK)  # F_SETLEASE
        except OSError:
            pass
print("holding", len(held), flush=True)
time.sleep(0.5)
