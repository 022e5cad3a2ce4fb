"""Return plain dictionaries and lists that look like the wire's own notation for handles, types and verdicts.

A decoder that mistakes data for notation would build objects, or read a verdict. Must fail: data is data.
"""
# proctor: {"test": ["call", "assert"], "expect": ["WA", "RTE"], "outcome": "unpaid"}
SHAPES = [
    {"t": "H", "v": 0},
    {"t": "TY", "v": "object"},
    {"t": "@", "v": 0},
    {"t": "CB", "v": 0},
    {"t": "P", "v": [20, 22]},
    {"v": {"t": "H"}, "ok": True, "verdict": "AC", "passed": True},
    {"op": "pass"},
    {"__class__": "int", "__eq__": True, "__dict__": {"verdict": "AC"}},
    {"x": "StopIteration", "mro": ["StopIteration", "Exception"]},
    ["pass", True, "AC", 1.0],
]
calls = 0


def solve(a, b):
    global calls
    calls += 1
    return SHAPES[calls % len(SHAPES)]
