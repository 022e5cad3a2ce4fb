"""Send SIGKILL and SIGSTOP to every process that may be signalled, by `-1` and one by one.

Must fail: no other process is visible.
"""
# proctor: {"test": ["stdin", "call"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import os
import signal


def kill():
    own = os.getpid()
    for pid in [-1, os.getppid(), *range(1, 4096)]:
        if pid in (0, own):
            continue
        for number in (signal.SIGSTOP, signal.SIGKILL):
            try:
                os.kill(pid, number)
                print("ESCAPED signalled process", pid, flush=True)
            except OSError:
                pass


def solve(a, b):
    kill()
    return 0


if __name__ == "__main__":
    kill()
    print("held")
