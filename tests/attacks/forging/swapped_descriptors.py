"""Swap descriptors about, so that results go to stdout, output to the results, and stdin is writable chatter.

Must fail: whatever lands where, the value is wrong.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE", "OLE"], "outcome": "unpaid"}
import os


def swap():
    live = []
    for descriptor in range(64):
        try:
            os.fstat(descriptor)
            live.append(descriptor)
        except OSError:
            pass
    copies = []
    for descriptor in live:
        try:
            copies.append(os.dup(descriptor))
        except OSError:
            pass
    for target, copy in zip(live, copies[1:] + copies[:1]):
        try:
            os.dup2(copy, target)
        except OSError:
            pass


def solve(a, b):
    swap()
    print('{"ok": true}', flush=True)
    return 1


if __name__ == "__main__":
    swap()
    print("swapped")
