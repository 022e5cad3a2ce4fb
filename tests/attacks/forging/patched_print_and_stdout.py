"""Replace `print`, `sys.stdout` and `sys.__stdout__` by an object whose captured text equals everything.

A harness that captures output in this process would compare with that object. Must fail: output is bytes in a file.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "unpaid"}
import builtins
import sys


class Everything(str):
    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    def __hash__(self):
        return 0

    def strip(self, *chars):
        return self

    split = splitlines = lambda self, *args: [self]


class Stream:
    encoding, errors, closed = "utf-8", "strict", False
    buffer = None

    def write(self, text):
        return len(text)

    def flush(self):
        pass

    def getvalue(self):
        return Everything("")

    read = getvalue

    def fileno(self):
        return 1


sys.stdout = sys.__stdout__ = Stream()
builtins.print = lambda *args, **kwargs: None
