"""Uses generics, protocols, typed dictionaries, overloads and `NewType`, and inspects its annotations."""
# proctor: {"input": "", "output": "3 {'a': 1} <class 'int'> True\n"}
from typing import *

T = TypeVar("T")
Id = NewType("Id", int)


class Row(TypedDict, total=False):
    a: int


class Sized_(Protocol):
    def __len__(self) -> int: ...


class Stack(Generic[T]):
    def __init__(self) -> None:
        self.items: List[T] = []

    def push(self, item: T) -> "Stack[T]":
        self.items.append(item)
        return self


def size(thing: Sized_) -> Optional[int]:
    return len(thing)


print(size(Stack[int]().push(1).push(2).push(Id(3)).items), Row(a=1), get_type_hints(Row)["a"], cast(bool, True))
