"""Spin until the limit strikes, and answer the warning signal with a clean exit of status 0.

A grader that reads "ended with 0" first would miss that the time was used up; in any case there is no answer.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE", "TLE"], "outcome": "unpaid"}
import os
import signal

for _signal in (signal.SIGXCPU, signal.SIGTERM, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF, signal.SIGHUP):
    signal.signal(_signal, lambda *args: os._exit(0))


def solve(a, b):
    while True:
        pass


if __name__ == "__main__":
    solve(20, 22)
