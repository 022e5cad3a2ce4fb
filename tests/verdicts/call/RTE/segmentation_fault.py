"""Reads at address 0."""
import ctypes


def solve(numbers, target):
    return ctypes.string_at(0)
