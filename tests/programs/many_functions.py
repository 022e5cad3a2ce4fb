"""Makes twenty thousand small functions and calls each: compiled code adds up."""
# proctor: {"input": "", "output": "199990000\n"}
functions = [eval(f"lambda: {i}") for i in range(20_000)]
print(sum(function() for function in functions))
