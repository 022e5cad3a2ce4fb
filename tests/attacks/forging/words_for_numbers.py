"""Answer with a word where a number is due.

A grader that treats a failed conversion to float as "equal" pays for any word at all. Must fail.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA"], "outcome": "unpaid"}


def solve(a, b):
    return "YES"


if __name__ == "__main__":
    print("YES")
