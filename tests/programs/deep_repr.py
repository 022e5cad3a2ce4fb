"""Prints a list nested a thousand deep, and one that holds itself."""
# proctor: {"input": "", "output_expr": "'[' * 1001 + ']' * 1001 + '\\n[1, [...]]\\n'"}
import sys

sys.setrecursionlimit(10_000)
nested = []
for _ in range(1000):
    nested = [nested]
ring = [1]
ring.append(ring)
print(nested)
print(ring)
