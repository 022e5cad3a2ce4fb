"""Mixes `input()`, `sys.stdin.readline`, iteration and `read()` on one stream, in the order in which they agree."""
# proctor: {"input": "one\ntwo\nthree\nfour\nfive\n", "output": "one|two|three|four,five\n"}
import sys

first = input()
second = sys.stdin.readline().strip()
third = next(sys.stdin).strip()
rest = sys.stdin.read().split()
print(first, second, third, ",".join(rest), sep="|")
