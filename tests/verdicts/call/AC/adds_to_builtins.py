"""Puts a helper where builtins are found."""
import builtins


def place_of(seen, number):
    return seen.get(number)


builtins.place_of = place_of
del place_of


def solve(numbers, target):
    seen = {}
    for i, number in enumerate(numbers):
        if place_of(seen, target - number) is not None:
            return [place_of(seen, target - number), i]
        seen[number] = i
    return None
