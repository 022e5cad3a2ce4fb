"""Its source starts with a byte order mark, as saved by editors on Windows."""
# proctor: {"input": "2\n", "output": "4\n"}
print(2 * int(input()))
