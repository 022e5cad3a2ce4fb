"""Change modules, builtins and caches of this interpreter, and look whether another run's changes are still here.

Must fail: each run has its own copy of the interpreter's memory.
"""
# proctor: {"test": ["stdin"], "expect": ["WA", "RTE"], "outcome": "harmless", "runs": 2}
import builtins
import collections
import decimal
import heapq
import json
import locale
import math
import os
import re
import sys
import warnings

for place in (builtins, collections, decimal, heapq, json, math, os, re, sys, warnings):
    if hasattr(place, "left_by_another_run"):
        print("ESCAPED another run has changed", place.__name__)
    place.left_by_another_run = True
if "left by another run" in sys.argv or "LEFT_BY_ANOTHER_RUN" in os.environ or os.getcwd() == "/left-by-another-run":
    print("ESCAPED arguments, environment or folder of another run")
sys.argv.append("left by another run")
os.environ["LEFT_BY_ANOTHER_RUN"] = "1"
if os.umask(0o111) == 0o111 or decimal.getcontext().prec == 3 or sys.getrecursionlimit() == 77:
    print("ESCAPED settings of another run")
decimal.getcontext().prec = 3
sys.setrecursionlimit(77)
locale.setlocale(locale.LC_ALL, "C")
heapq.heappush = heapq.heappop = math.gcd = lambda *args: 0
re.compile = lambda *args: None
print("held")
