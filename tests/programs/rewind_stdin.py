"""Reads the input twice, seeking back in between."""
# proctor: {"input": "5 1 4\n", "output": "5\n1\n"}
import sys

print(max(map(int, sys.stdin.read().split())))
sys.stdin.seek(0)
print(min(map(int, sys.stdin.read().split())))
