"""Indented by whim."""


def solve(numbers, target):
return [0, 1]
