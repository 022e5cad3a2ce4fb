"""Opens descriptor 1 and never closes it: python writes what it holds when it goes."""
# proctor: {"input": "", "output": "one\ntwo\n"}
output = open(1, "w", buffering=1 << 16)
output.write("two\n")
print("one")
