"""Opens descriptor 1 and never closes it: python writes what it holds when it goes."""
# proctor: {"input": "", "output": "one\ntwo\n"}
outputs = {"answer": open(1, "w", buffering=1 << 16)}
outputs["answer"].write("two\n")
print("one")
