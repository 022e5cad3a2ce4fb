"""Reads at address 0."""
import ctypes


def solve(text, width):
    return ctypes.string_at(0)
