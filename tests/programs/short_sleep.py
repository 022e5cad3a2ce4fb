"""Sleeps a tenth of a second: waiting costs no CPU time and is no fault."""
# proctor: {"input": "", "output": "awake True\n"}
import time

start = time.monotonic()
time.sleep(0.1)
print("awake", time.monotonic() - start >= 0.1)
