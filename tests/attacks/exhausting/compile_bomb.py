"""A short source whose compilation is large: the optimiser folds constants into megabytes, many times over.

If sources are compiled by the trusted side, that side pays. Must end as the program's own failure.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["RTE", "MLE", "TLE", "CE", "WA"], "outcome": "harmless"}
for _size in (10, 100, 1000):
    source = "x = (" + " + ".join(['"a" * 4000 + (1,) * 200 * 20 + 2 ** 2000'] * _size * 100) + ")"
    compile(source, "bomb", "exec")
    eval("[" * 90 + "0" + "]" * 90)
while True:
    compile("(" + "lambda: " * 50 + "0, " * 200_000 + ")", "bomb", "exec")
