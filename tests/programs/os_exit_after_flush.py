"""Flushes its output and leaves by `os._exit(0)`, to save the time of tearing down."""
# proctor: {"input": "", "output": "499500\n"}
import os
import sys

print(sum(range(1000)))
sys.stdout.flush()
os._exit(0)
