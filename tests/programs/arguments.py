"""Looks at its arguments: there is one, the program's name."""
# proctor: {"input": "", "output": "1 True\n"}
import sys

print(len(sys.argv), isinstance(sys.argv[0], str))
