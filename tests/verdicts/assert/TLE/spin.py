"""Never stops computing."""


def solve(text, width):
    while True:
        pass
