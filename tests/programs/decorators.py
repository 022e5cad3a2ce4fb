"""Stacks decorators with arguments, classes as decorators, and properties."""
# proctor: {"input": "", "output": "11 calls: 2 area 12\n"}
import functools


def add(amount):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args):
            return function(*args) + amount

        return wrapper

    return decorate


class Counted:
    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.function, self.calls = function, 0

    def __call__(self, *args):
        self.calls += 1
        return self.function(*args)


@Counted
@add(1)
@add(2)
def double(n):
    return 2 * n


class Box:
    def __init__(self, a, b):
        self.a, self.b = a, b

    @property
    def area(self):
        return self.a * self.b


double(1)
print(double(4), "calls:", double.calls, "area", Box(3, 4).area)
