"""Its source draws warnings from the compiler: an invalid escape, and `is` with a literal."""
# proctor: {"input": "", "output": "\\d+ True\n"}
n = 5
print("\d+", n is 5)
