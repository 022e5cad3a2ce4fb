"""Start threads until no more can be had, each waiting for ever.

Threads are allowed, so this must end at the memory, task or time limit, with nothing left behind.
"""
# proctor: {"test": ["stdin", "call"], "expect": ["WA", "RTE", "TLE", "MLE"], "outcome": "harmless"}
import os
import threading
import time


def flood():
    threading.stack_size(65536)
    count = 0
    try:
        while count < 100_000:
            threading.Thread(target=time.sleep, args=(100,), daemon=True).start()
            count += 1
        print("ESCAPED a hundred thousand threads", flush=True)
    except (RuntimeError, MemoryError):
        pass
    os.write(1, b"threads: %d\n" % count)


def solve(a, b):
    flood()
    os._exit(0)


if __name__ == "__main__":
    flood()
    os._exit(0)
