"""Prints the answer instead of returning it."""


def solve(numbers, target):
    for j in range(len(numbers)):
        for i in range(j):
            if numbers[i] + numbers[j] == target:
                print([i, j])
                return
    print(None)
