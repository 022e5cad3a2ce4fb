"""Ask for ten gigabytes at once.

Must fail at the memory limit.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["MLE", "RTE"], "outcome": "harmless"}


def solve(a, b):
    block = bytearray(10 << 30)
    print("ESCAPED got ten gigabytes", flush=True)
    return len(block)


if __name__ == "__main__":
    solve(20, 22)
