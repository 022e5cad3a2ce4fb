"""Ignore and block every signal, and then spin.

Must be killed by the one signal that cannot be ignored.
"""
# proctor: {"test": ["stdin", "call"], "expect": ["TLE", "RTE"], "outcome": "harmless"}
import signal


def solve(a, b):
    for number in signal.valid_signals():
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    while True:
        pass


if __name__ == "__main__":
    solve(20, 22)
