"""Return containers that contain themselves: there is no end to them.

Must fail as an error of the program, in bounded time.
"""
# proctor: {"test": ["call", "assert"], "expect": ["WA", "RTE", "TLE", "MLE", "OLE"], "outcome": "unpaid"}
calls = 0


def solve(a, b):
    global calls
    calls += 1
    ring = [a]
    ring.append(ring)
    table = {"a": ring}
    table["self"] = table
    return [ring, table][calls % 2]
