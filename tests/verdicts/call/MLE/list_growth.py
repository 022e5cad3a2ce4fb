"""A list that grows without end."""


def solve(numbers, target):
    rows = []
    while True:
        rows.append(bytearray(1 << 20))
