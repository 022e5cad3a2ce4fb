"""Raise things that are no `Exception`: `KeyboardInterrupt`, `GeneratorExit`, one of its own, an exception group.

They slip through `except Exception`, and a harness may take the silence for success. Must fail.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE"], "outcome": "unpaid"}


class Mine(BaseException):
    def __str__(self):
        return "PASS"


calls = 0


def solve(a, b):
    global calls
    calls += 1
    kinds = [KeyboardInterrupt(), GeneratorExit(), Mine(), BaseExceptionGroup("x", [SystemExit(0)])]
    raise kinds[calls % 4]


if __name__ == "__main__":
    solve(20, 22)
