"""Reads and decompresses request bodies, both within the same size limit.

The bytes of all bodies that are still arriving share one limit, so clients that stall cannot fill the memory.

The event loop reads small bodies only, because parsing a body blocks all other requests. A larger body raises
`LargeBodyError`, and the application relays the request to a process for large requests (see `large`), which reads
bodies of any permitted size.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import zstandard
from fastapi import Request
from starlette.requests import ClientDisconnect

from sandbox_service.api import json_bounds
from sandbox_service.errors import BadRequestError, BodyTooLargeError, QueueFullError

MOST_MEMBERS = 1024  # of a gzip file; parallel and block compressors write one for each 64 KiB or more
PIECE = 256 << 10
SMALL_BYTES = 128 << 10  # before and after decompression: parsing takes a millisecond
SMALL_PARTS = 2048  # commas and brackets: queueing as many submissions takes 10 ms, invalid values less
ARRIVING_RETRY_SECONDS = 2.0


@dataclass
class ArrivingBytes:
    """Counts the bytes of bodies that are not complete yet.

    Attributes:
        most: The limit in bytes.
        bytes: The current count.
    """

    most: int
    bytes: int = 0

    def add(self, count: int) -> None:
        """Add to the count. Raise QueueFullError if it exceeds the limit."""
        self.bytes += count
        if self.bytes > self.most:
            reason = f"over {self.most} bytes of requests are arriving at once, which is the limit; retry later"
            raise QueueFullError(reason, ARRIVING_RETRY_SECONDS)


class LargeBodyError(Exception):
    """The request is too large for the event loop; a process for large requests answers it instead.

    It may be raised until the first job is submitted. `request.state.arrived` holds the part of the body that has
    arrived, and `request.state.is_whole` says whether this is all of it.
    """


async def read(request: Request, most: int) -> bytes:
    """Return the body of a request, decompressed if it is gzip or zstd.

    Args:
        request: The request, of which nothing was read before.
        most: The limit in bytes, before and after decompression.

    Raises:
        BodyTooLargeError: The body exceeds the limit.
        BadRequestError: The content encoding is unknown, or the compressed data is invalid.
        QueueFullError: Too many bytes are arriving at once.
        LargeBodyError: The body is too large for the event loop.
    """
    is_bounded = reads_small_only(request)
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > most:
        raise BodyTooLargeError(f"the body has {declared} bytes, the most is {most}")
    body = await _receive(request, most, is_bounded=is_bounded)
    encoding = request.headers.get("content-encoding", "identity").lower()
    if not is_bounded:
        unpacked = _unpack(body, encoding, most)
        json_bounds.check_values(unpacked, most)
        return unpacked
    try:
        unpacked = _unpack(body, encoding, SMALL_BYTES)
    except BodyTooLargeError:
        raise LargeBodyError from None
    if json_bounds.parts(unpacked) > SMALL_PARTS:
        raise LargeBodyError
    return unpacked


def max_unpacked_bytes(request: Request, most: int) -> int:
    """Return the limit in bytes for a compressed part of a body.

    The limit is `most` in a process for large requests. In the service it is lower: raise `LargeBodyError` for a part
    that exceeds it while `reads_small_only` is true.
    """
    return SMALL_BYTES if reads_small_only(request) else most


def reads_small_only(request: Request) -> bool:
    """Return True in the service, False in a process for large requests."""
    return bool(getattr(request.app.state, "reads_small_only", False))


async def _receive(request: Request, most: int, *, is_bounded: bool) -> bytes:
    arriving: ArrivingBytes = request.app.state.arriving
    body, counted = bytearray(), 0
    request.state.arrived, request.state.is_whole = body, False
    try:
        while not request.state.is_whole:
            message = await request.receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            chunk = message.get("body", b"")
            request.state.is_whole = not message.get("more_body", False)
            body += chunk
            if len(body) > most:
                raise BodyTooLargeError(f"the body has over {most} bytes, which is the limit")
            if is_bounded and len(body) > SMALL_BYTES:
                raise LargeBodyError
            counted += len(chunk)
            arriving.add(len(chunk))
        return bytes(body)
    finally:
        arriving.bytes -= counted


def _unpack(body: bytes, encoding: str, most: int) -> bytes:
    if encoding == "identity":
        return body
    if encoding not in ("gzip", "zstd"):
        raise BadRequestError(f"content-encoding {encoding!r} is not supported; use gzip, zstd or none")
    try:
        unpacked = _gunzip(body, most) if encoding == "gzip" else _unzstd(body, most)
    except (zlib.error, zstandard.ZstdError, EOFError) as error:
        raise BadRequestError(f"the body is not valid {encoding}: {error}") from None
    if len(unpacked) > most:
        raise BodyTooLargeError(f"the body unpacks to over {most} bytes, which is the limit")
    return unpacked


def _gunzip(body: bytes, most: int) -> bytes:
    """Decompress all members of a gzip file piece by piece: zlib copies whatever follows a member."""
    unpacked, at, members = bytearray(), 0, 0
    while at < len(body):
        members += 1
        if members > MOST_MEMBERS:
            raise EOFError(f"over {MOST_MEMBERS} members")
        unpacker = zlib.decompressobj(wbits=31)
        while not unpacker.eof:
            if at == len(body):
                raise EOFError("the data is truncated")
            piece = body[at : at + PIECE]
            at += len(piece)
            unpacked += unpacker.decompress(piece, most + 1 - len(unpacked))
            if len(unpacked) > most:
                return bytes(unpacked)
        at -= len(unpacker.unused_data)
    return bytes(unpacked)


def _unzstd(body: bytes, most: int) -> bytes:
    """Decompress all frames of a zstd file."""
    unpacker = zstandard.ZstdDecompressor(max_window_size=1 << 27)
    with unpacker.stream_reader(body, read_across_frames=True) as reader:
        return reader.read(most + 1)
