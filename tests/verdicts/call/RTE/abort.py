"""Aborts."""
import os


def solve(numbers, target):
    os.abort()
