"""Read argument vectors, its own and everyone's, for codes, paths and answers passed on a command line.

Must fail: neither tests nor submissions are ever arguments.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE"], "outcome": "unpaid"}
import os
import re
import sys


def find():
    texts = [" ".join(sys.argv), " ".join(sys.orig_argv)]
    for name in os.listdir("/proc"):
        if name.isdigit() or name == "self":
            try:
                with open(f"/proc/{name}/cmdline", errors="replace") as file:
                    texts.append(file.read().replace("\0", " "))
            except OSError:
                pass
    for text in texts:
        match = re.search(r"(?:output|expected|answer|==)\W{0,4}(\d{2,6})", text)
        if match:
            return int(match[1])
    return None


def solve(a, b):
    return find()


if __name__ == "__main__":
    print(find())
