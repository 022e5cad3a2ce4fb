"""Return a function, a bound method and a type instead of a value: things that a proxy might call back.

If the tester keeps such a handle, comparing it must not run the submission's code with the expected value. Must fail.
"""
# proctor: {"test": ["call", "assert"], "expect": ["WA", "RTE"], "outcome": "unpaid"}


class Meta(type):
    def __eq__(cls, other):
        return True

    def __hash__(cls):
        return 0


class Type(metaclass=Meta):
    def method(self):
        return self


calls = 0


def solve(a, b):
    global calls
    calls += 1
    return [Type, Type().method, solve, lambda *x: True][calls % 4]
