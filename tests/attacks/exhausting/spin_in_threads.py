"""Compute for ever in eight threads that let go of the interpreter's lock, while the main thread sleeps.

The CPU time of all threads counts. Must be stopped.
"""
# proctor: {"test": ["stdin", "call"], "expect": ["TLE", "RTE"], "outcome": "harmless"}
import hashlib
import threading
import time


def work():
    block = bytes(1 << 20)
    while True:
        hashlib.sha256(block)


def solve(a, b):
    for _ in range(8):
        threading.Thread(target=work, daemon=True).start()
    time.sleep(1000)


if __name__ == "__main__":
    solve(20, 22)
