"""Write to stdout for ever, in large pieces and past every error.

Must fail at the output limit, and cost the host no memory.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["OLE", "TLE", "RTE"], "outcome": "harmless"}
import os


def solve(a, b):
    piece = b"0123456789abcde\n" * 65536
    while True:
        try:
            os.write(1, piece)
        except OSError:
            pass


if __name__ == "__main__":
    solve(20, 22)
