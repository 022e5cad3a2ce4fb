"""Return a coroutine, which would leave the interpreter with status 0 where it is awaited.

Must fail: it equals no plain value, and it runs in the candidate's box only.
"""
# proctor: {"test": ["assert"], "expect": ["WA", "RTE"], "outcome": "unpaid"}


async def leave():
    raise SystemExit(0)


def solve(a, b):
    return leave()
