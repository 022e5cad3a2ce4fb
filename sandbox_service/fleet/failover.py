"""Connections to the current Redis master, as found by Redis Sentinel.

A URL `redis+sentinel://[user:password@]host:port[,host:port…]/NAME[/db]` names the sentinels and the master's name
there; `rediss+sentinel` is the same over TLS. Each new connection asks the sentinels for the master and checks its
role. A connection whose Redis has become a replica is closed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

import redis
from redis.asyncio.retry import Retry as AsyncRetry
from redis.asyncio.sentinel import Sentinel as AsyncSentinel
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ReadOnlyError
from redis.retry import Retry
from redis.sentinel import Sentinel

SCHEMES = ("redis", "rediss", "unix")
SUFFIX = "+sentinel"
PORT = 26379
REDIS_PORT = 6379
CONNECT_SECONDS, ANSWER_SECONDS = 1.0, 2.0


@dataclass(frozen=True)
class Watched:
    """A master, and the sentinels that watch it."""

    sentinels: tuple[tuple[str, int], ...]
    master: str
    password: str | None
    is_encrypted: bool

    @property
    def options(self) -> dict[str, Any]:
        """Return the arguments of connections to the sentinels."""
        return {
            "socket_connect_timeout": CONNECT_SECONDS,
            "socket_timeout": ANSWER_SECONDS,
            "password": self.password,
            "ssl": self.is_encrypted,
        }


def split(url: str) -> tuple[str, Watched | None]:
    """Split a URL into one for redis-py and the watched master; None for a URL without sentinels. Raises ValueError."""
    parts = urlsplit(url)
    if not parts.scheme.endswith(SUFFIX):
        _check(parts)
        return url, None
    scheme = parts.scheme.removesuffix(SUFFIX)
    if scheme not in ("redis", "rediss"):
        raise ValueError(f"{parts.scheme}:// is no scheme; use redis{SUFFIX}:// or rediss{SUFFIX}://")
    user, at, places = parts.netloc.rpartition("@")
    name, _, database = parts.path.strip("/").partition("/")
    if not name:
        raise ValueError("after the sentinels there should be the name of the master that they watch: /NAME")
    password = parse_qs(parts.query).get("sentinel_password", [None])[0]
    watched = Watched(tuple(map(_place, places.split(","))), unquote(name), password, is_encrypted=scheme == "rediss")
    return f"{scheme}://{user}{at}master.invalid:1/{database or 0}", watched


def _check(parts: SplitResult) -> None:
    """Raise ValueError unless redis-py can connect to this URL."""
    if parts.scheme not in SCHEMES:
        raise ValueError(f"it begins with none of {', '.join(f'{each}://' for each in SCHEMES)}, redis{SUFFIX}://")
    if parts.scheme == "unix":
        if not parts.path:
            raise ValueError("after unix:// there should be the path of a socket")
    elif not parts.hostname:
        raise ValueError(f"it has no host; use {parts.scheme}://[:password@]host:port/db")
    elif not parts.path.strip("/").isdecimal() and parts.path.strip("/"):  # redis-py would take database 0
        raise ValueError(f"the database {parts.path.strip('/')[:40]!r} should be a number, such as 0")
    _ = parts.port  # raises ValueError if it is no port


def address(url: str) -> str:
    """Return the address in a URL, without its password. Raises ValueError."""
    plain, watched = split(url)
    if watched is not None:
        sentinels = ", ".join(f"{host}:{port}" for host, port in watched.sentinels)
        return f"{watched.master}, watched by {sentinels}"
    parts = urlsplit(plain)
    return parts.path if parts.scheme == "unix" else f"{parts.hostname}:{parts.port or REDIS_PORT}"


def _place(text: str) -> tuple[str, int]:
    found = urlsplit(f"//{text}")
    if not found.hostname:
        raise ValueError(f"{text[:80]!r} is no address of a sentinel; use host:port")
    return found.hostname, found.port or PORT


def async_sentinel(watched: Watched) -> AsyncSentinel:
    """Return a client of the sentinels for an event loop. The caller closes it."""
    options = watched.options | {"retry": AsyncRetry(NoBackoff(), 0)}
    return AsyncSentinel(list(watched.sentinels), sentinel_kwargs=options)  # type: ignore[no-untyped-call]


def following_async(kind: type[Any], sentinel: AsyncSentinel, master: str) -> type[Any]:
    """Return a class of connections like `kind` that connect to the master.

    Args:
        kind: The class of connections.
        sentinel: Asks the sentinels for the master.
        master: The name that the sentinels give the master.
    """

    class Following(kind):  # type: ignore[misc]
        async def _connect(self) -> None:
            self.host, self.port = await sentinel.discover_master(master)
            await super()._connect()

        async def on_connect_check_health(self, check_health: bool = True) -> None:
            await super().on_connect_check_health(check_health=check_health)
            await self.send_command("ROLE")
            _check_role(await self.read_response())

        async def read_response(self, *arguments: Any, **options: Any) -> Any:
            try:
                return await super().read_response(*arguments, **options)
            except ReadOnlyError:
                await self.disconnect()
                raise RedisConnectionError(DEMOTED) from None

    return Following


def connection_pool(url: str, **options: Any) -> redis.ConnectionPool:
    """Return blocking connections to the Redis of a URL, or to the master that it names. Raises ValueError."""
    plain, watched = split(url)
    pool = redis.ConnectionPool.from_url(plain, **options)
    if watched is not None:
        pool.connection_class = _following(pool.connection_class, watched)
    return pool


def _following(kind: Any, watched: Watched) -> Any:
    options = watched.options | {"retry": Retry(NoBackoff(), 0)}
    sentinel = Sentinel(list(watched.sentinels), sentinel_kwargs=options)  # type: ignore[no-untyped-call]

    class Following(kind):  # type: ignore[misc]
        def _connect(self) -> Any:
            self.host, self.port = sentinel.discover_master(watched.master)  # type: ignore[no-untyped-call]
            return super()._connect()

        def on_connect_check_health(self, check_health: bool = True) -> None:
            super().on_connect_check_health(check_health=check_health)
            self.send_command("ROLE")
            _check_role(self.read_response())

        def read_response(self, *arguments: Any, **options: Any) -> Any:
            try:
                return super().read_response(*arguments, **options)
            except ReadOnlyError:
                self.disconnect()
                raise RedisConnectionError(DEMOTED) from None

    return Following


DEMOTED = "this Redis is a replica now; the sentinels know the master"


def _check_role(role: Any) -> None:
    if role[0] not in (b"master", "master"):
        raise RedisConnectionError(DEMOTED)
