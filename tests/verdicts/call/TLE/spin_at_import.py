"""Never finishes loading."""
while True:
    pass


def solve(numbers, target):
    return [0, 1]
