"""Leave a daemon thread that goes on writing to stdout while the main thread ends.

What it writes belongs to a program that is over; nothing of it may reach another. Must fail.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE", "TLE", "OLE"], "outcome": "unpaid", "runs": 2}
import os
import threading
import time


def late():
    while True:
        time.sleep(0.002)
        try:
            os.write(1, b"late\n")
        except OSError:
            pass


def solve(a, b):
    threading.Thread(target=late, daemon=True).start()
    return 0


if __name__ == "__main__":
    solve(20, 22)
