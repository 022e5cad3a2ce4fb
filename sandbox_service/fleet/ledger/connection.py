"""Redis connections that pack commands in C, as redis-py's blocking ones do: each submission adds a dozen arguments."""

from __future__ import annotations

from typing import Any

from hiredis import pack_command
from redis.asyncio import Connection, SSLConnection, UnixDomainSocketConnection
from redis.exceptions import DataError


class _Packed:
    def pack_command(self, *args: Any) -> list[bytes]:
        """Return a command in Redis' protocol. Raises DataError."""
        name, *rest = args
        try:
            return [pack_command((*name.split(), *rest))]  # CONFIG GET is two words
        except TypeError as error:
            raise DataError(str(error)) from None


class PlainConnection(_Packed, Connection):
    """Over TCP."""


class SecureConnection(_Packed, SSLConnection):
    """Over TLS."""


class LocalConnection(_Packed, UnixDomainSocketConnection):
    """Over a Unix socket."""


def connection_class(url: str) -> type[Connection | UnixDomainSocketConnection]:
    """Return the class of connections for a URL."""
    kinds = {"rediss": SecureConnection, "unix": LocalConnection}
    return kinds.get(url.partition("://")[0], PlainConnection)
