"""Prints its answer without a newline at the end."""
# proctor: {"input": "", "output": "42\n"}
print(42, end="")
