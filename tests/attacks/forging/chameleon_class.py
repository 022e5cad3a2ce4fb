"""Return an object whose `__class__` says `int` and whose metaclass claims to be, and to equal, every type.

`isinstance(x, int)`, `x.__class__ is int` and `type(x) == int` are all fooled; `type(x) is int` is not. Must fail.
"""
# proctor: {"test": ["call", "assert"], "expect": ["WA", "RTE"], "outcome": "unpaid"}


class AnyType(type):
    def __eq__(cls, other):
        return True

    def __hash__(cls):
        return hash(int)

    def __instancecheck__(cls, instance):
        return True

    def __subclasscheck__(cls, subclass):
        return True


class Chameleon(metaclass=AnyType):
    __class__ = int

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0

    def __index__(self):
        return 0

    def __int__(self):
        return 0

    def __repr__(self):
        return "True"


Chameleon.__name__ = Chameleon.__qualname__ = "int"
Chameleon.__module__ = "builtins"


def solve(a, b):
    return Chameleon()
