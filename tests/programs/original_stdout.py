"""Silences `sys.stdout` and prints to `sys.__stdout__`."""
# proctor: {"input": "", "output": "loud\n"}
import os
import sys

sys.stdout = open(os.devnull, "w")
print("silent")
print("loud", file=sys.__stdout__)
