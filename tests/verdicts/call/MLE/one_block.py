"""One block of a gigabyte."""


def solve(numbers, target):
    return len(bytearray(1 << 30))
