"""Return what is short to write and long to read: brackets, numbers without end, exponents, empty results by the million.

Must be a wrong answer or a limit, soon.
"""
# proctor: {"test": "call", "expect": ["WA", "RTE", "TLE", "MLE", "OLE"], "outcome": "unpaid"}

import os

PARTS = [
    b"[" + b"[],{}," * 50_000 + b"0]",
    b"[" * 100_000,
    b"[" + b"1e999999999," * 20_000 + b"0]",
    b"7" * 100_000,
    b'{"__set__":[' * 900 + b"]}" * 900,
]


def solve(a, b):
    os.write(6, b"\n".join(PARTS) + b"\n" * 100_000)
    os._exit(0)
