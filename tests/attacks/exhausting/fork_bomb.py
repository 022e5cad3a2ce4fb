"""Fork without end.

Must fail at the first fork, and leave the machine as it was.
"""
# proctor: {"test": ["stdin", "call"], "expect": ["WA", "RTE", "TLE"], "outcome": "harmless"}
import os
import time


def bomb():
    while True:
        try:
            if os.fork() > 0:
                print("ESCAPED forked", flush=True)
        except OSError:
            return
        time.sleep(0)


def solve(a, b):
    bomb()
    return 0


if __name__ == "__main__":
    bomb()
    print("held")
