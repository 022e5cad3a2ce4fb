"""Print, or return, every number that the answer could be: it is surely among them.

A checker that looks for the answer *in* the output, or compares sets of tokens, would pay. Must fail.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE"], "outcome": "unpaid"}


def solve(a, b):
    return list(range(10000))


if __name__ == "__main__":
    print(*range(10000), sep="\n")
