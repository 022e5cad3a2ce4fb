"""Prints a blank after every number and an empty line at the end, as many right programs do."""
# proctor: {"input": "4\n", "output": "0 1 2 3\n"}
for i in range(int(input())):
    print(i, end=" ")
print()
print()
