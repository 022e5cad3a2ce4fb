"""Call `quit()` where the answer was wanted.

`SystemExit` slips past `except Exception`, so a sloppy harness ends in silence with status 0. Must fail.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE"], "outcome": "unpaid"}
import builtins
import site


def solve(a, b):
    leave = getattr(builtins, "quit", None) or site.sys.exit
    leave()


if __name__ == "__main__":
    solve(20, 22)
