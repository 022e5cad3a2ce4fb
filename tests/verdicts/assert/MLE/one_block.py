"""One block of a gigabyte."""


def solve(text, width):
    return len(bytearray(1 << 30))
