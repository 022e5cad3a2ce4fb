"""A text of a gigabyte."""
text = input() * (1 << 30)
print(len(text))
