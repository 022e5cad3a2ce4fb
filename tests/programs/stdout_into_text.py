"""Collects its own output in a `StringIO` and prints it at the end in upper case."""
# proctor: {"input": "", "output": "FIRST\nSECOND\n"}
import contextlib
import io
import sys

text = io.StringIO()
with contextlib.redirect_stdout(text):
    print("first")
sys.stdout = text
print("second")
sys.stdout = sys.__stdout__
print(text.getvalue().upper(), end="")
