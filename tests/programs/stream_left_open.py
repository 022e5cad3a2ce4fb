"""Writes into a stream class of its own that is never flushed: python closes it when it goes."""
# proctor: {"input": "", "output": "one\ntwo\n"}
from io import BytesIO, IOBase
from os import *


class FastOutput(IOBase):
    def __init__(self):
        self.buffer = BytesIO()
        self.print = lambda text: self.buffer.write(text.encode())

    def flush(self):
        write(1, self.buffer.getvalue())
        self.buffer.truncate(0), self.buffer.seek(0)


output = FastOutput()
output.print("two\n")
print("one")
