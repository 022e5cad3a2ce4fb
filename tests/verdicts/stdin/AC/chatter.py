"""Right, with much to say on stderr."""
import sys

input()
print("thinking " * 1000, file=sys.stderr)
print(sum(int(x) ** 2 for x in input().split()))
