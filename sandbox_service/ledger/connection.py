"""Connections that pack commands in C, as redis-py's blocking ones do: a submission is a dozen arguments."""

from __future__ import annotations

from typing import Any

from redis.asyncio import Connection, SSLConnection, UnixDomainSocketConnection
from redis.connection import HiredisRespSerializer

_PACKER = HiredisRespSerializer()


class _Packed:
    def pack_command(self, *args: Any) -> list[bytes]:
        """A command in Redis' protocol."""
        packed: list[bytes] = _PACKER.pack(*args)
        return packed


class PlainConnection(_Packed, Connection):
    """Over TCP."""


class SecureConnection(_Packed, SSLConnection):
    """Over TLS."""


class LocalConnection(_Packed, UnixDomainSocketConnection):
    """By a socket of this machine."""


def connection_class(url: str) -> type[Connection | UnixDomainSocketConnection]:
    """The kind of connection that a URL asks for."""
    kinds = {"rediss": SecureConnection, "unix": LocalConnection}
    return kinds.get(url.partition("://")[0], PlainConnection)
