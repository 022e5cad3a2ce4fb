"""Return a generator, an iterator, a map that never ends.

Converting it to a list never ends. Must fail: it is not a plain value, or only the needed items are requested.
"""
# proctor: {"test": ["call", "assert"], "expect": ["RTE", "WA", "TLE", "MLE"], "outcome": "harmless"}
import itertools


def numbers():
    while True:
        yield 0


class Endless:
    def __iter__(self):
        return numbers()

    def __len__(self):
        return 1 << 62


calls = 0


def solve(a, b):
    global calls
    calls += 1
    return [numbers(), itertools.count(), map(str, numbers()), Endless()][calls % 4]
