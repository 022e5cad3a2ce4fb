"""Its own lines end in carriage return and newline."""
# proctor: {"input": "4\n", "output": "one\ntwo\n16\n"}
print("""one
two""")
print(int(input()) ** 2)
