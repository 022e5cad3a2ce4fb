"""Has nothing to say, and nothing is expected."""
# proctor: {"input": "0\n", "output": ""}
for _ in range(int(input())):
    print("never")
