"""Close every descriptor and sleep, so that the tester loses its candidate and has to kill it.

Must fail: that the box was killed by us is no fault of the machine, so the sample is not masked.
"""
# proctor: {"test": ["assert"], "expect": ["RTE", "TLE"], "outcome": "unpaid"}
import os
import time

os.closerange(3, 256)
time.sleep(60)


def solve(a, b):
    return None
