"""Not Python."""
n = int(input()
print(n))
