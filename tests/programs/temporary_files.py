"""Writes, reads, lists and deletes files in `/tmp`, with `tempfile` and `pathlib`."""
# proctor: {"input": "hello\n", "output": "HELLO 6 True a.txt\n"}
import os
import pathlib
import tempfile

text = input()
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder, "a.txt")
    path.write_text(text.upper() + "\n")
    size, listed, content = path.stat().st_size, os.listdir(folder), path.read_text().strip()
with tempfile.NamedTemporaryFile("w+") as file:
    file.write("x")
with open("/tmp/own-file-of-this-test", "w") as file:
    file.write("y")
os.remove("/tmp/own-file-of-this-test")
print(content, size, not os.path.exists(folder), *listed)
