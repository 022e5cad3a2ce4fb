"""One block of a gigabyte."""
block = bytearray(1 << 30)
print(len(block))
