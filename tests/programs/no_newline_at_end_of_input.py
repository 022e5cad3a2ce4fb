"""Its input has no newline at the end."""
# proctor: {"input": "2\n1 2\n3 4", "output": "10\n"}
import sys

n = int(sys.stdin.readline())
print(sum(sum(map(int, sys.stdin.readline().split())) for _ in range(n)))
