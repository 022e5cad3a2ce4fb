"""Reads exactly as many bytes as `fstat` says stdin has: right only if stdin is a regular file."""
# proctor: {"input": "4 5 6\n", "output": "120\n"}
import os

a, b, c = map(int, os.read(0, os.fstat(0).st_size).split())
print(a * b * c)
