"""Puts everything on few lines with semicolons, backslashes and one-line suites."""
# proctor: {"input": "3 4\n", "output": "5.0\n"}
import math; a, b = map(int, input().split()); c = \
    math.hypot(a, b)
if c > 0: print(c); x = 1; \
    y = 2
while x: x -= 1
class C: pass; n = 1
def f(): return 1; return 2
