"""Let the entry point be a class, so that "calling the function" makes an instance that equals everything.

Must fail: what the call returns is no plain value, whatever kind of callable was called.
"""
# proctor: {"test": ["call", "assert"], "expect": ["WA", "RTE"], "outcome": "unpaid"}


class solve:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __eq__(self, other):
        self.answer = other
        return True

    def __hash__(self):
        return hash(self.a)
