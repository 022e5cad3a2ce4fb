"""The classic daemon: fork, new session, fork again; the grandchild writes to stdout after the program has ended.

Must fail: no fork; and with forks allowed, all of a box's processes end with it.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import os
import time

try:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(0.3)
            os.write(1, b"ESCAPED a daemon is at work\n")
            time.sleep(1000)
        os._exit(0)
    print("ESCAPED forked a daemon")
except OSError:
    pass
print("held")
