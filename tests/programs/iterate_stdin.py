"""Iterates over stdin itself, line by line."""
# proctor: {"input": "a b\nc\n\nd e f\n", "output": "2 1 0 3\n"}
import sys

print(*(len(line.split()) for line in sys.stdin))
