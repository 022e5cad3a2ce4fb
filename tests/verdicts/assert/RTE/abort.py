"""Aborts."""
import os


def solve(text, width):
    os.abort()
