"""Return lone surrogates, and print NUL bytes and broken UTF-8, to make the host stumble while it decodes.

A stumble reported as the service's fault would mask a wrong sample. Must fail as a wrong answer.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE"], "outcome": "unpaid"}
import os

TEXTS = ["\ud800", "\udfff\ud800", "\x00", "a\x00b", "\U0010ffff\ufffe"]
calls = 0


def solve(a, b):
    global calls
    calls += 1
    os.write(1, b"\x00\xff\xfe\xc3\x28\xed\xa0\x80\n")
    os.write(2, b"\xf8\x88\x80\x80\x80\n")
    return {TEXTS[calls % 5]: TEXTS}


if __name__ == "__main__":
    solve(20, 22)
