"""End the process with status 0 while the program is still being loaded, before a function exists to be called.

Must fail: a box that ended before its first call has answered nothing.
"""
# proctor: {"test": ["stdin", "call", "assert"], "expect": ["WA", "RTE"], "outcome": "unpaid"}
import os

os._exit(0)
