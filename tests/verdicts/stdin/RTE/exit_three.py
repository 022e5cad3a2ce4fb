"""Prints the right answer and ends with status 3."""
import sys

input()
print(sum(int(x) ** 2 for x in input().split()))
sys.exit(3)
