"""Ends with status 3."""
import os


def solve(numbers, target):
    os._exit(3)
