"""Send every signal to the own process group: whoever shares the group with a box would be hit.

Must fail: the group ends at the box. The program may well kill itself.
"""
# proctor: {"test": ["stdin", "call"], "expect": ["WA", "RTE", "TLE"], "outcome": "harmless"}
import os
import signal


def shoot():
    for number in range(1, signal.NSIG):
        if number in (signal.SIGKILL, signal.SIGSTOP):
            continue
        try:
            signal.signal(number, signal.SIG_IGN)
            os.killpg(0, number)
        except (OSError, ValueError):
            pass
    os.killpg(0, signal.SIGKILL)


def solve(a, b):
    shoot()
    return 0


if __name__ == "__main__":
    shoot()
