"""Closes stdin and stderr when it is done with them, and goes on printing."""
# proctor: {"input": "5\n", "output": "25\n"}
import sys

n = int(input())
sys.stdin.close()
sys.stderr.close()
print(n * n)
