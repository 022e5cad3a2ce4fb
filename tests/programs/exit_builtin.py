"""Ends by `exit()` after its output; nothing after it may run."""
# proctor: {"input": "", "output": "done\n"}
print("done")
exit()
print("never")
