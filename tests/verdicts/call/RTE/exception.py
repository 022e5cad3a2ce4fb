"""Divides by zero."""


def solve(numbers, target):
    return target // 0
