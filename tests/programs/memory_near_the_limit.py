"""Uses three quarters of the memory it is allowed."""
# proctor: {"input": "", "output": "201326592\n", "limits": {"memory_bytes": 268435456}}
block = bytearray(192 << 20)
block[:: 1 << 12] = b"x" * len(block[:: 1 << 12])
print(len(block))
