"""Close nothing, duplicate the standard streams many times over and keep them in threads after the main part is done.

A host that waits for the end of a stream would wait with it. Must be ended by the wall clock at the latest.
"""
# proctor: {"test": ["stdin", "call"], "expect": ["WA", "TLE", "RTE"], "outcome": "harmless"}
import os
import threading
import time


def solve(a, b):
    kept = []
    for descriptor in range(16):
        for _ in range(8):
            try:
                kept.append(os.dup(descriptor))
            except OSError:
                break
    threading.Thread(target=time.sleep, args=(1000,), daemon=False).start()
    os.write(1, b"done\n")
    return 0


if __name__ == "__main__":
    solve(20, 22)
