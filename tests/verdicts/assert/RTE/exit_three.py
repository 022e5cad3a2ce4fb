"""Ends with status 3."""
import os


def solve(text, width):
    os._exit(3)
