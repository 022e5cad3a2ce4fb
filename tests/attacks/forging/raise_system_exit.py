"""Raise `SystemExit` in several dresses: code 0, `None`, `True` and an object that claims to be 0.

Must fail: none of them is an answer, whatever status the interpreter makes of it.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE"], "outcome": "unpaid"}


class Zero(int):
    def __eq__(self, other):
        return True

    __hash__ = int.__hash__


def solve(a, b):
    raise [SystemExit(Zero(0)), SystemExit(None), SystemExit(True), SystemExit(0)][a % 4]


if __name__ == "__main__":
    solve(20, 22)
