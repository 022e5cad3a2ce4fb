"""Raise an exception with a message of a hundred megabytes and a thousand notes.

The report of the failure must be cut, not the service.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["RTE", "OLE", "MLE", "WA", "TLE"], "outcome": "harmless"}


def solve(a, b):
    error = ValueError("long " * 20_000_000)
    for _ in range(1000):
        error.add_note("note " * 200)
    raise error


if __name__ == "__main__":
    solve(20, 22)
