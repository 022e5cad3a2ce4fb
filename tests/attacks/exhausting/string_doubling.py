"""Double a string until it fills the memory, catching the error and going on.

Must fail at the limit, again and again, until time is up.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["MLE", "TLE", "RTE"], "outcome": "harmless"}


def solve(a, b):
    text, kept = "x", []
    while True:
        try:
            text += text
        except MemoryError:
            kept.append(text)
            text = "x"
        if len(text) > 1 << 30:
            print("ESCAPED a string of a gigabyte", flush=True)


if __name__ == "__main__":
    solve(20, 22)
