"""Raise the own priority and lower everybody else's.

Must fail: no right to raise, and nobody to lower.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import os

before = os.getpriority(os.PRIO_PROCESS, 0)
for which, who, value in [(os.PRIO_PROCESS, 0, before - 1), (os.PRIO_USER, 0, -20), (os.PRIO_PGRP, 0, -20), (os.PRIO_PROCESS, 1, -20)]:
    try:
        os.setpriority(which, who, value)
    except OSError:
        pass
if os.getpriority(os.PRIO_PROCESS, 0) < before:
    print("ESCAPED raised the own priority")
for pid in {os.getppid(), *range(1, 100)} - {0, os.getpid()}:
    try:
        os.setpriority(os.PRIO_PROCESS, pid, 19)
        print("ESCAPED lowered the priority of process", pid)
    except OSError:
        pass
print("held")
