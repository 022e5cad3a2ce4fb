"""Request bodies: read with a bound, unpacked with the same bound, and never held twice."""

from __future__ import annotations

import zlib

import zstandard
from fastapi import Request

from sandbox_service.errors import BadRequest, BodyTooLarge

CHUNK = 1 << 20


async def read(request: Request, most: int) -> bytes:
    """The body, unpacked if it says it is gzip or zstd. Raises BodyTooLarge, BadRequest."""
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > most:
        raise BodyTooLarge(f"the body has {declared} bytes, the most is {most}")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise BodyTooLarge(f"the body has over {most} bytes, which is the most")
    return _unpack(bytes(body), request.headers.get("content-encoding", "identity").lower(), most)


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
    unpacker = zlib.decompressobj(wbits=31)
    unpacked = unpacker.decompress(body, most + 1)
    if len(unpacked) <= most and not unpacker.eof:
        raise EOFError("it ends too early")
    return unpacked


def _unzstd(body: bytes, most: int) -> bytes:
    with zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(body) as reader:
        return reader.read(most + 1)
