"""Asks for far too much memory, and goes on without it."""
# proctor: {"input": "", "output": "made do with 10\n", "limits": {"memory_bytes": 1073741824}}
try:
    table = bytearray(1 << 60)
except MemoryError:
    table = bytearray(10)
print("made do with", len(table))
