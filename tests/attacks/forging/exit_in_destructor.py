"""Leave an object whose finaliser ends the process with status 0 once the harness lets go of it.

It strikes after the call, in code that the harness thinks its own. Must fail.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE"], "outcome": "unpaid"}
import os
import sys
import weakref


class Bomb:
    def __del__(self):
        os._exit(0)


def solve(a, b):
    bomb = Bomb()
    weakref.finalize(sys.modules["__main__"], os._exit, 0)
    return [bomb]


if __name__ == "__main__":
    keep = solve(20, 22)
    sys.exit(1)
