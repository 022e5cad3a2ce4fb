"""Looks at itself as the module `__main__`, and imports itself under that name."""
# proctor: {"input": "", "output": "7 True True\n"}
import sys

value = 7
import __main__

print(__main__.value, sys.modules["__main__"].__dict__ is globals(), __name__ == "__main__")
