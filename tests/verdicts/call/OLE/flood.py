"""Prints without end."""


def solve(numbers, target):
    while True:
        print("0123456789abcde" * 64)
