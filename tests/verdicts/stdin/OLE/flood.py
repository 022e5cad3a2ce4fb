"""Prints without end."""
while True:
    print("0123456789abcde" * 64)
