"""Prints a code fence, in the middle of a line, out of an answer that is itself fenced."""
# proctor: {"input": "", "output": "``` python ```\n", "completion": true}
print("```", "python", "```")
