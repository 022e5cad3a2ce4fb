"""Writes a file into the working directory and reads it back: `input.txt`-style programs do."""
# proctor: {"input": "5\n6\n", "output": "30\n"}
import os

with open("input.txt", "w") as file:
    file.write(open(0).read())
with open("input.txt") as file:
    a, b = map(int, file)
os.unlink("input.txt")
print(a * b)
