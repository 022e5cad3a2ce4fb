"""In the first call rebind the entry point, hang threads on the box and leave traps for the calls that follow.

Must fail: each answer is wrong by itself, and an odd call makes the rest run in fresh processes.
"""
# proctor: {"test": ["call", "assert"], "expect": ["WA", "RTE"], "outcome": "unpaid", "runs": 2}
import sys
import threading
import time


def trap():
    while True:
        for frame in list(sys._current_frames().values()):
            if "passed" in frame.f_locals:
                frame.f_locals["passed"] = True
        time.sleep(0.001)


def solve(a, b):
    threading.Thread(target=trap, daemon=True).start()
    globals()["solve"] = lambda *args: sys.exit(0)
    return 1
