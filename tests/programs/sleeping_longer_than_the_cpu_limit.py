"""Sleeps longer than its CPU limit: only computing counts against that."""
# proctor: {"input": "", "output": "rested\n", "limits": {"cpu_seconds": 1, "wall_seconds": 10}}
import time

time.sleep(1.5)
print("rested")
