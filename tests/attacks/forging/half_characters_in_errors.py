"""Fail with text that UTF-8 cannot carry, wherever an error has text, so that the answer cannot be written.

Must be a failure like any other: a verdict that cannot be sent would be a fault of the service, and masked.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["RTE", "WA"], "outcome": "unpaid"}

HALF = "\ud800 \udfff"


class Spoken(Exception):
    def __str__(self):
        return HALF

    __repr__ = __str__


class Silent(Exception):
    def __str__(self):
        raise UnicodeEncodeError("utf-8", HALF, 0, 1, HALF)


def solve(a, b):
    kind = type(HALF, (Exception,), {"__module__": HALF, "__qualname__": HALF})
    errors = [Spoken(), Silent(), kind(HALF), SyntaxError(HALF, (HALF, 1, 1, HALF)), KeyError(HALF), OSError(1, HALF)]
    error = ExceptionGroup(HALF, errors)
    error.add_note(HALF)
    raise error from ValueError(HALF)


if __name__ == "__main__":
    solve(20, 22)
