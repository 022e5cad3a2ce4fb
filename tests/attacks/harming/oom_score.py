"""Make oneself the last to be killed when memory runs out, and others the first.

Must fail: the score may not go below what it was, and nobody else's is in reach.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import os

try:
    with open("/proc/self/oom_score_adj") as file:
        before = int(file.read())
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("-1000")
    print("ESCAPED will never be killed for memory")
except OSError:
    before = 0
for pid in {os.getppid(), *range(1, 100)} - {0, os.getpid()}:
    try:
        with open(f"/proc/{pid}/oom_score_adj", "w") as file:
            file.write("1000")
        print("ESCAPED offered up process", pid)
    except OSError:
        pass
print("held", before)
