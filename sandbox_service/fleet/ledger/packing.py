"""The format of answers in Redis: a flag, the digest of the body that it answers, and a Zstandard frame.

Results of tests are similar, so an answer compresses to a fifth; Redis copies it six times, and Lua reads each byte.
The frame has a checksum, because no process on the way parses all of an answer (see grading/encoded_grade.py).
"""

from __future__ import annotations

from zstandard import ZstdCompressor, ZstdDecompressor, ZstdError, frame_content_size

PREFIX = 17  # bytes before the frame
DIGEST = slice(1, PREFIX)
UNSURE = bytes(16)  # instead of the digest, when another process made the claim
LEVEL = -3  # some 40 % larger than at the first positive level, in half the time
MOST_BYTES = 512 << 20  # of an answer, as Redis allows; a small frame can declare any size


class AnswerCodec:
    """Packs and unpacks answers, in one thread."""

    def __init__(self) -> None:
        self._compress = ZstdCompressor(level=LEVEL, write_checksum=True).compress
        self._decompress = ZstdDecompressor().decompress

    def pack(self, answer: bytes, fault: bool, digest: bytes) -> bytes:
        """Return an answer as it is stored. The functions write the flag C for G when they copy it to another id.

        Args:
            answer: the grade, in JSON.
            fault: True if it is a fault of the service.
            digest: of the submission's body.
        """
        return b"".join((b"F" if fault else b"G", digest, self._compress(answer)))

    def unpack(self, stored: bytes) -> bytes:
        """Return a stored answer; empty if it is damaged."""
        frame = stored[PREFIX:]
        try:
            if frame_content_size(frame) > MOST_BYTES:
                return b""
            return self._decompress(frame, allow_extra_data=False)
        except ZstdError:
            return b""
