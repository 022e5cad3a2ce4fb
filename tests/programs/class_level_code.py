"""Computes in class bodies, class decorators, metaclasses and `__init_subclass__`."""
# proctor: {"input": "4\n", "output": "[0, 1, 4, 9] ['B', 'C'] 3\n"}


class Registry(type):
    names = []

    def __new__(mcls, name, bases, space):
        if bases:
            mcls.names.append(name)
        return super().__new__(mcls, name, bases, space)


class A(metaclass=Registry):
    n = int(input())
    squares = []
    for i in range(n):
        squares.append(i * i)

    def __init_subclass__(cls, **kwargs):
        cls.depth = len(cls.__mro__)


class B(A):
    pass


class C(A):
    pass


print(A.squares, Registry.names, C.depth)
