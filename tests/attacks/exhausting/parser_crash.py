"""Drive the parser and the compiler into the ground with deeply nested source made at run time.

Interpreters have crashed here. Must end in this process alone.
"""
# proctor: {"test": ["stdin"], "expect": ["RTE", "MLE", "TLE", "WA"], "outcome": "harmless"}
import ast
import sys

sys.setrecursionlimit(2**31 - 1)
for source in ("-" * 200_000 + "1", "1" + "+1" * 200_000, "x" + ".a" * 200_000, "f" + "()" * 200_000, "not " * 100_000 + "1"):
    for step in (lambda: compile(source, "deep", "eval"), lambda: ast.dump(ast.parse(source))):
        try:
            step()
        except (SyntaxError, RecursionError, MemoryError):
            pass
print("held")
