"""Keeps the `write` of a file that is never closed, as fast output is often written."""
# proctor: {"input": "3\n", "output": "3 twice is 6\n"}
import sys

read = sys.stdin.readline
write = open(1, "w").write
number = int(read())
write(f"{number} twice is {number * 2}\n")
