"""Works on arrays, bytearrays, memory views and packed structures in place."""
# proctor: {"input": "abcdef\n", "output": "fedcba 21 [1, 770] 6\n"}
import array
import struct

text = bytearray(input().encode())
view = memoryview(text)
view[:] = bytes(view[::-1])
numbers = array.array("i", range(7))
wide = memoryview(struct.pack("<HH", 1, 770)).cast("H")
print(text.decode(), sum(memoryview(numbers)), wide.tolist(), len(view))
