"""Raise an exception whose class, text and arguments hold lone surrogates, which no UTF-8 has.

Must fail as any exception: text is made sendable where it enters, and no box or slot is brought down by it.
"""
# proctor: {"test": ["call", "assert"], "expect": ["RTE"], "outcome": "unpaid"}


class Meta(type):
    __name__ = "\udfff"


Broken = Meta("\ud800", (Exception,), {"__str__": lambda self: "\udc80" * 5000})


def solve(a, b):
    raise Broken("\ud83d", "\udfff" * 3000)
