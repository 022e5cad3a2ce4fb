"""Reads by the `fileinput` module, which looks into `sys.argv` first."""
# proctor: {"input": "3 4\n5 12\n", "output": "5\n13\n"}
import fileinput
import math

for line in fileinput.input():
    print(math.isqrt(sum(int(x) ** 2 for x in line.split())))
