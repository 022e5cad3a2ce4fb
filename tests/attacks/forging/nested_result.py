"""Return lists nested a hundred thousand deep: whoever encodes or decodes them recursively runs out of stack.

If it is the trusted side, that is the service's fault, and the sample is masked. Must fail as the program's own error.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE", "MLE", "OLE"], "outcome": "unpaid"}
DEPTH = 100_000


def solve(a, b):
    value = 0
    for _ in range(DEPTH):
        value = [value]
    return value


if __name__ == "__main__":
    print("[" * DEPTH + "]" * DEPTH)
