"""Uses assignment expressions in a loop, a comprehension and a condition."""
# proctor: {"input": "4\n7\n0\n", "output": "11 [1, 4, 9] 9\n"}
total = 0
while (n := int(input())) != 0:
    total += n
squares = [last := i * i for i in range(1, 4)]
print(total, squares, last)
