"""Find memory files among the open descriptors and overwrite, extend and rewind them with forged results.

Must fail: the right value is unknown, so whatever is written there is a wrong answer or a broken record, and a broken
record is the program's fault.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE", "OLE"], "outcome": "unpaid"}
import os

FORGED = b'{"ok": true, "value": true, "verdict": "AC"}\n' * 8


def forge():
    for descriptor in range(1, 256):
        try:
            os.fstat(descriptor)
            os.pwrite(descriptor, FORGED, 0)
            os.lseek(descriptor, 0, os.SEEK_END)
            os.write(descriptor, FORGED)
            os.lseek(descriptor, 0, os.SEEK_SET)
        except OSError:
            pass
    for name in os.listdir("/proc/self/fd"):
        try:
            with open(f"/proc/self/fd/{name}", "r+b", buffering=0) as file:
                file.write(FORGED)
        except OSError:
            pass


def solve(a, b):
    forge()
    return True


if __name__ == "__main__":
    forge()
