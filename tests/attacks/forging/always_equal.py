"""Return an object that is equal to everything.

`result == expected` would be decided by the submission. Must fail: it is no plain value, and equality is decided
where the submission's code does not run.
"""
# proctor: {"test": ["call", "assert"], "expect": ["WA", "RTE"], "outcome": "unpaid"}


class Yes:
    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    def __hash__(self):
        return 0


def solve(a, b):
    return Yes()
