"""Hide always-equal objects inside list, tuple and dict subclasses that lie about length, items and order.

Must fail: containers are walked by exact type; a subclass is not a plain value.
"""
# proctor: {"test": ["call", "assert"], "expect": ["WA", "RTE"], "outcome": "unpaid"}


class Liar:
    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    def __hash__(self):
        return 1

    def __len__(self):
        return 1

    def __iter__(self):
        return iter((self,))

    def __getitem__(self, key):
        return self


class LyingList(Liar, list):
    pass


class LyingDict(Liar, dict):
    def items(self):
        return [("verdict", "AC")]


calls = 0


def solve(a, b):
    global calls
    calls += 1
    return [LyingList(), LyingDict(), [LyingList()], {"a": LyingDict()}][calls % 4]
