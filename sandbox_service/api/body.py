"""Request bodies: read with a bound, unpacked with the same bound, and never held twice.

Those that are still arriving have a bound together, so that many clients who stop in the middle cannot fill the memory.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import zstandard
from fastapi import Request

from sandbox_service.errors import BadRequest, BodyTooLarge, QueueFull

MOST_MEMBERS = 1024  # of a gzip file; those who compress in parallel or by blocks make one for each 64 KiB and more
PIECE = 256 << 10
ARRIVING_RETRY_SECONDS = 2.0


@dataclass
class Arriving:
    """How many bytes of bodies have come whose rest has not, and the most that there may be."""

    most: int
    bytes: int = 0

    def add(self, count: int) -> None:
        """Count more. Raises QueueFull if that is too many."""
        self.bytes += count
        if self.bytes > self.most:
            reason = f"over {self.most} bytes of requests are arriving at once, which is the most"
            raise QueueFull(reason, ARRIVING_RETRY_SECONDS)


async def read(request: Request, most: int) -> bytes:
    """The body, unpacked if it says it is gzip or zstd. Raises BodyTooLarge, BadRequest, QueueFull."""
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > most:
        raise BodyTooLarge(f"the body has {declared} bytes, the most is {most}")
    body = await _receive(request, most)
    return _unpack(body, request.headers.get("content-encoding", "identity").lower(), most)


async def _receive(request: Request, most: int) -> bytes:
    arriving: Arriving = request.app.state.arriving
    body, counted = bytearray(), 0
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > most:
                raise BodyTooLarge(f"the body has over {most} bytes, which is the most")
            counted += len(chunk)
            arriving.add(len(chunk))
        return bytes(body)
    finally:
        arriving.bytes -= counted


def _unpack(body: bytes, encoding: str, most: int) -> bytes:
    if encoding == "identity":
        return body
    if encoding not in ("gzip", "zstd"):
        raise BadRequest(f"content-encoding {encoding!r} is not supported; use gzip, zstd or none")
    try:
        unpacked = _gunzip(body, most) if encoding == "gzip" else _unzstd(body, most)
    except (zlib.error, zstandard.ZstdError, EOFError) as error:
        raise BadRequest(f"the body is not valid {encoding}: {error}") from None
    if len(unpacked) > most:
        raise BodyTooLarge(f"the body unpacks to over {most} bytes, which is the most")
    return unpacked


def _gunzip(body: bytes, most: int) -> bytes:
    """Of all members: a gzip file may have several. A piece at a time, since what follows a member is copied."""
    unpacked, at, members = bytearray(), 0, 0
    while at < len(body):
        members += 1
        if members > MOST_MEMBERS:
            raise EOFError(f"it has over {MOST_MEMBERS} members")
        unpacker = zlib.decompressobj(wbits=31)
        while not unpacker.eof:
            if at == len(body):
                raise EOFError("it ends too early")
            piece = body[at : at + PIECE]
            at += len(piece)
            unpacked += unpacker.decompress(piece, most + 1 - len(unpacked))
            if len(unpacked) > most:
                return bytes(unpacked)
        at -= len(unpacker.unused_data)
    return bytes(unpacked)


def _unzstd(body: bytes, most: int) -> bytes:
    """Of all frames: a zstd file may have several."""
    unpacker = zstandard.ZstdDecompressor(max_window_size=1 << 27)
    with unpacker.stream_reader(body, read_across_frames=True) as reader:
        return reader.read(most + 1)
