"""Ends well, but without an answer: for a call that is a failure."""
import sys


def solve(numbers, target):
    sys.exit(0)
