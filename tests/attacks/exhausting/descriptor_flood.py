"""Open descriptors until none is left, and go on with none.

Must fail at the process's own limit; the machine's table stays free.
"""
# proctor: {"test": ["stdin", "call"], "expect": ["WA", "RTE"], "outcome": "harmless"}
import os


def flood():
    count = 0
    try:
        while count < 200_000:
            os.open("/dev/null", os.O_RDONLY)
            count += 1
        os.write(1, b"ESCAPED two hundred thousand descriptors\n")
    except OSError:
        pass
    return count


def solve(a, b):
    return -flood()


if __name__ == "__main__":
    os.write(1, b"opened: %d\n" % -flood())
