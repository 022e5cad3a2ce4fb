"""Text that somebody has packed with pickle. Nothing is unpickled: the text is taken out by hand.

LiveCodeBench's hidden tests are JSON text, pickled, packed by zlib and written in base 64. A pickle is a program, which
can call any function that its author likes. So it is only listed here, as `pickletools` does; one that does anything
but put down a single text is refused, and nothing of it was run.
"""

from __future__ import annotations

import base64
import binascii
import pickletools
import zlib

MOST_BYTES = 1 << 30  # unpacked

_TEXT = {"UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"}
_HARMLESS = {"PROTO", "FRAME", "MEMOIZE", "PUT", "BINPUT", "LONG_BINPUT", "STOP"}


def packed_text(packed: str, most_bytes: int = MOST_BYTES) -> str:
    """The text. Raises ValueError for anything else."""
    try:
        unzip = zlib.decompressobj()
        pickled = unzip.decompress(base64.b64decode(packed, validate=True), most_bytes)
    except (binascii.Error, zlib.error) as trouble:
        raise ValueError(f"it is not text, pickled and packed: {trouble}") from None
    if not unzip.eof:
        raise ValueError(f"it is cut off, or has more than {most_bytes} bytes")
    return _only_text(pickled)


def _only_text(pickled: bytes) -> str:
    found: list[str] = []
    for step, value, _ in pickletools.genops(pickled):  # raises ValueError for what is no pickle
        if step.name in _TEXT:
            found.append(str(value))
        elif step.name not in _HARMLESS:
            raise ValueError(f"it is more than one text, pickled: it has {step.name}, and is not unpickled")
    if len(found) != 1:
        raise ValueError(f"it is not one text, pickled, but {len(found)}")
    return found[0]
