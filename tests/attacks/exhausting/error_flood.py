"""Write to stderr for ever: a stream that is easily forgotten when output is limited.

Must fail at a limit, and cost the host no memory.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["OLE", "TLE", "RTE", "WA"], "outcome": "harmless"}
import os


def solve(a, b):
    piece = b"complaint!" * 100_000
    while True:
        try:
            os.write(2, piece)
        except OSError:
            pass


if __name__ == "__main__":
    solve(20, 22)
