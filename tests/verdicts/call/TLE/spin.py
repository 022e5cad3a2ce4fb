"""Never stops computing."""


def solve(numbers, target):
    while True:
        pass
