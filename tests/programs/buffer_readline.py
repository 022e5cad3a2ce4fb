"""Reads bytes by `sys.stdin.buffer.readline`, the fast way; a mocked stdin often lacks it or repeats the first line."""
# proctor: {"input": "3\n5\n6\n7\n", "output": "18\n"}
import sys

readline = sys.stdin.buffer.readline
print(sum(int(readline()) for _ in range(int(readline()))))
