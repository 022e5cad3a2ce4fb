"""Ends by `sys.exit(0)` from within a `try` with `finally`."""
# proctor: {"input": "", "output": "answer\nfinally\n"}
import sys

try:
    print("answer")
    sys.exit(0)
finally:
    print("finally")
