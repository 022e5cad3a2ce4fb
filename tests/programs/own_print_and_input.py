"""Redefines `print` and `input` for itself, and patches a builtin."""
# proctor: {"input": "1\n2\n", "output": "3!\n"}
import builtins
import functools
import sys

builtins.input = lambda: sys.stdin.readline().strip()
print = functools.partial(print, end="!\n", flush=True)
print(int(input()) + int(input()))
