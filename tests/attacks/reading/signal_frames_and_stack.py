"""Read the process's own stack from top to bottom: arguments, environment and locals of whoever ran before.

Must fail: the answer was never on this stack.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE"], "outcome": "unpaid"}
import ctypes
import re


def find():
    with open("/proc/self/maps") as maps:
        for line in maps:
            if "[stack]" in line:
                start, end = (int(part, 16) for part in line.split()[0].split("-"))
                text = ctypes.string_at(start, end - start)
                match = re.search(rb"(?:output|expected|==)\W{1,5}(\d{2,6})", text)
                return int(match[1]) if match else None
    return None


def solve(a, b):
    return find()


if __name__ == "__main__":
    print(find())
