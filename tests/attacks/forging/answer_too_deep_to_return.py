"""Return a value that can just be sent, so that it cannot be sent back if the test passes it on.

Must fail: what the candidate's own values make too big is the candidate's failure, not the test's.
"""
# proctor: {"test": ["assert"], "expect": ["WA", "RTE"], "outcome": "unpaid"}


def solve(a, b):
    deep = []
    for _ in range(198):
        deep = [deep]
    return deep
