"""Computes for a good part of the CPU time it is allowed, and then answers."""
# proctor: {"input": "", "output": "done\n", "limits": {"cpu_seconds": 2}}
import time

while time.process_time() < 1.0:
    pass
print("done")
