"""Writes bytes to `sys.stdout.buffer`."""
# proctor: {"input": "abc\n", "output": "cba\n"}
import sys

sys.stdout.buffer.write(sys.stdin.buffer.readline().strip()[::-1] + b"\n")
