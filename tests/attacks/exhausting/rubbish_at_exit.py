"""Answer wrongly at once, and spend the time on tearing down: finalisers that make more finalisers.

Time is counted until the process is gone. Must be stopped.
"""
# proctor: {"test": ["stdin", "call"], "expect": ["WA", "TLE", "RTE", "MLE"], "outcome": "harmless"}


class Phoenix:
    def __del__(self):
        globals()["keep"] = Phoenix()
        while True:
            pass


def solve(a, b):
    global keep
    keep = Phoenix()
    return 0


if __name__ == "__main__":
    solve(20, 22)
