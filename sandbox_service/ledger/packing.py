"""How an answer lies in Redis: a flag, the digest of the body that it answers, and the answer as a frame of Zstandard.

An answer says the same of each test, so packed it has a fifth of its bytes; and Redis copies them six times, through a
Lua that looks at each one. The frame ends in a checksum: nobody on the way reads all of an answer (see answers.py), so
damage would only be seen by who asked.
"""

from __future__ import annotations

from zstandard import ZstdCompressor, ZstdDecompressor, ZstdError, frame_content_size

PREFIX = 17  # bytes before the frame
DIGEST = slice(1, PREFIX)
UNSURE = bytes(16)  # instead of a digest: another process made the claim
LEVEL = -3  # some 40 % larger than at the first positive level, in half the time
MOST_BYTES = 512 << 20  # of an answer, as Redis itself would take; a few bytes can say that they hold any number


class Packing:
    """Packs and unpacks answers, in one thread."""

    def __init__(self) -> None:
        self._compress = ZstdCompressor(level=LEVEL, write_checksum=True).compress
        self._decompress = ZstdDecompressor().decompress

    def pack(self, answer: bytes, fault: bool, digest: bytes) -> bytes:
        """The one form of all answers in Redis. The ledger itself writes C for G where it copies one to another id."""
        return b"".join((b"F" if fault else b"G", digest, self._compress(answer)))

    def unpack(self, stored: bytes) -> bytes:
        """The answer of this form; nothing if it is not as it was written."""
        frame = stored[PREFIX:]
        try:
            if frame_content_size(frame) > MOST_BYTES:
                return b""
            return self._decompress(frame, allow_extra_data=False)
        except ZstdError:
            return b""
