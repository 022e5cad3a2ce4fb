"""Its last line is a comment without a newline."""
# proctor: {"input": "", "output": "ok\n"}
if True:
    print("ok")  # no newline after this