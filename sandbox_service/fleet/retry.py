"""Retries calls to a Redis that is away, starting, full or read-only, for up to `PATIENCE_SECONDS`."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import MasterDownError, OutOfMemoryError, ReadOnlyError, RedisError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from sandbox_service.errors import UnavailableError

T = TypeVar("T")

RETRY_SECONDS = 0.25
PATIENCE_SECONDS = 15.0
# at the start of the message, or behind the text that the client puts before an error of a command in a pipeline
TRANSIENT = re.compile(r"(^|caused error: \W*)(MISCONF|LOADING|READONLY|BUSY|MASTERDOWN|NOREPLICAS|OOM)")
TRANSIENT_KINDS = (OutOfMemoryError, ReadOnlyError, MasterDownError)  # the client removes the first word of these


async def with_retries(action: Callable[[], Awaitable[T]], is_closing: Callable[[], bool]) -> T:
    """Return the result of an action, which is repeated while Redis has a transient error.

    Args:
        action: must have the same effect when it is done twice, since a reply can be lost.
        is_closing: no retry once this is true.

    Raises:
        UnavailableError: Redis had transient errors for `PATIENCE_SECONDS`, or the queue closes.
        RedisError: Redis had an error that lasts.
        OSError: the same, from the connection.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return await action()
        except (RedisError, OSError) as error:
            if not is_transient(error):
                raise
            if is_closing() or time.monotonic() > deadline:
                raise UnavailableError(f"Redis: {error}") from None
            await asyncio.sleep(RETRY_SECONDS)


def is_transient(error: Exception) -> bool:
    """Return whether Redis may do without this error soon: it is away, starting, full or read-only."""
    if isinstance(error, (RedisConnectionError, RedisTimeoutError, OSError, *TRANSIENT_KINDS)):
        return True
    return isinstance(error, ResponseError) and TRANSIENT.search(str(error)) is not None
