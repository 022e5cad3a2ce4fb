"""Lower the own CPU limit so that the kernel ends the process with SIGKILL, which looks like the machine's doing.

Must fail: a program cannot avoid a verdict this way. It counts as the program's failure.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["RTE", "TLE"], "outcome": "unpaid"}
import resource


def solve(a, b):
    resource.setrlimit(resource.RLIMIT_CPU, (0, 0))
    while True:
        pass


solve(20, 22)
