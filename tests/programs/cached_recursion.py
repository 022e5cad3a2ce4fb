"""A recursion through `lru_cache`, forty thousand deep on the main thread: it needs a roomy C stack."""
# proctor: {"input": "40000\n", "output": "800020000\n"}
import sys
from functools import cache

sys.setrecursionlimit(10**6)


@cache
def total(n):
    return n and n + total(n - 1)


print(total(int(input())))
