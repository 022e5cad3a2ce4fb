"""Opens descriptor 0 in binary and reads it line by line."""
# proctor: {"input": "2\n10 20\n30 40\n", "output": "30\n70\n"}
with open(0, "rb") as file:
    for _ in range(int(file.readline())):
        print(sum(map(int, file.readline().split())))
