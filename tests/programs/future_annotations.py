"""Starts with a `__future__` import, which must stay the first statement whatever is put before it."""
# proctor: {"input": "2 3\n", "output": "5\n"}
from __future__ import annotations

import dataclasses


@dataclasses.dataclass
class Pair:
    a: int
    b: NotDefinedAnywhere = 0

    def total(self: Pair) -> Missing:
        return self.a + self.b


print(Pair(*map(int, input().split())).total())
