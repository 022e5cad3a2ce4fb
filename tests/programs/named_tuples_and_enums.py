"""Named tuples, flags, ordered enums and default dictionaries of default dictionaries."""
# proctor: {"input": "", "output": "P(x=1, y=2) Perm.R|W 2 {'a': {'b': 1}}\n"}
from collections import defaultdict, namedtuple
from enum import Flag, IntEnum, auto


class Perm(Flag):
    R = auto()
    W = auto()


class Level(IntEnum):
    LOW = 1
    HIGH = 2


P = namedtuple("P", "x y")
tree = defaultdict(lambda: defaultdict(int))
tree["a"]["b"] += 1
print(P(1, 2), Perm.R | Perm.W, max(Level).value, {key: dict(value) for key, value in tree.items()})
