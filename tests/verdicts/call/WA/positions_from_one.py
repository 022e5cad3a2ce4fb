"""Counts positions from one."""


def solve(numbers, target):
    for j in range(len(numbers)):
        for i in range(j):
            if numbers[i] + numbers[j] == target:
                return [i + 1, j + 1]
