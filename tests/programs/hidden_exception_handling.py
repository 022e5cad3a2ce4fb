"""Relies on `finally`, `else`, bare `except`, `assert` and `SystemExit` being caught."""
# proctor: {"input": "", "output": "assert works\nexit caught 3\nelse finally\n"}
import sys

try:
    assert 1 == 2, "works"
except AssertionError as error:
    print("assert", error)
try:
    sys.exit(3)
except SystemExit as error:
    print("exit caught", error.code)
try:
    pass
except:
    print("never")
else:
    print("else", end=" ")
finally:
    print("finally")
