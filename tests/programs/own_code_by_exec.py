"""Makes functions with `exec`, evaluates expressions, compiles and builds modules of its own."""
# proctor: {"input": "2 + 3 * 4\n", "output": "14 9 5 from a module\n"}
import types

exec("def square(n):\n    return n * n")
module = types.ModuleType("made")
exec(compile("text = 'from a module'", "<made>", "exec"), module.__dict__)
print(eval(input(), {"__builtins__": {}}), square(3), (lambda a, b: a + b)(2, 3), module.text)
