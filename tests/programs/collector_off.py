"""Switches the garbage collector off, freezes it, and makes half a million cyclic objects."""
# proctor: {"input": "", "output": "False 500000\n"}
import gc

gc.disable()
gc.freeze()
rings = []
for _ in range(500_000):
    ring = []
    ring.append(ring)
    rings.append(ring)
print(gc.isenabled(), len(rings))
