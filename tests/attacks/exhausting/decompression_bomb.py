"""Unpack a small text into gigabytes.

Must fail at the memory limit.
"""
# proctor: {"test": ["stdin"], "expect": ["MLE", "RTE", "TLE"], "outcome": "harmless"}
import zlib

packer = zlib.compressobj(9)
packed = b"".join(packer.compress(bytes(1 << 20)) for _ in range(64)) + packer.flush()
text = zlib.decompress(packed)
while True:
    text += zlib.decompress(packed)
    if len(text) > 1 << 30:
        print("ESCAPED unpacked a gigabyte")
        break
