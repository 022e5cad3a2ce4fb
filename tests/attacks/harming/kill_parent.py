"""Kill the parent, its process group and the session's leader, and be told about one's own parent's death.

Must fail: the parent is outside this PID namespace.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import os
import signal

parent, own = os.getppid(), os.getpid()
print("parent", parent, flush=True)
for target in {parent, os.getsid(0), os.getpgid(0)} - {0, own}:
    for send in (os.kill, os.killpg):
        try:
            send(target, signal.SIGKILL)
            print("ESCAPED killed", target, flush=True)
        except OSError:
            pass
try:
    handle = os.pidfd_open(parent or 1)
    if parent:
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        print("ESCAPED killed the parent by its handle")
except (OSError, AttributeError):
    pass
print("held")
