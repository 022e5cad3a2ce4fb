"""Write results by hand that Python's JSON decodes to lone surrogates, in every encoding that it guesses.

Must be a wrong answer, or a failure.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["RTE", "WA"], "outcome": "unpaid"}

import os

LINES = [
    b'"\\ud800"',
    b'{"\\udc00": "\\ud800\\ud800"}',
    b'"\xed\xa0\x80"',
    '{"result": "passed", "message": "\ud800"}'.encode("utf-8", "surrogatepass"),
    '"\ud800"'.encode("utf-16", "surrogatepass"),
    '"\ud800"'.encode("utf-32", "surrogatepass"),
    b'\xef\xbb\xbf"\\ud800"',
]


def solve(a, b):
    for descriptor in range(1, 20):
        for line in LINES:
            try:
                os.write(descriptor, line + b"\n")
            except OSError:
                break
    os._exit(0)


if __name__ == "__main__":
    solve(20, 22)
