"""Replace the builtins that a comparison in this process would use: `all`, `len`, `zip`, `isinstance`, `type`, …

Must fail: the comparison happens in another process, and what must run here keeps its own references.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE", "MLE", "TLE"], "outcome": "unpaid"}
import builtins


class Same(str):
    def __eq__(self, other):
        return True

    __hash__ = str.__hash__


def solve(a, b):
    return None


for _name in ("all", "any", "isinstance", "issubclass", "callable", "hasattr", "bool"):
    setattr(builtins, _name, lambda *args: True)
builtins.len = lambda thing: 1
builtins.zip = lambda *args, **kwargs: iter(())
builtins.map = lambda *args: iter(())
builtins.enumerate = lambda *args: iter(())
builtins.sorted = builtins.list = lambda *args, **kwargs: []
builtins.abs = builtins.round = builtins.sum = lambda *args: 0
builtins.repr = builtins.str = lambda *args: Same("")
