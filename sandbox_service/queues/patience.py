"""Waiting for a Redis that is away, starting, full or unable to write: it may be otherwise in a moment."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import MasterDownError, OutOfMemoryError, ReadOnlyError, RedisError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from sandbox_service.errors import Unavailable

T = TypeVar("T")

RETRY_SECONDS = 0.25
PATIENCE_SECONDS = 15.0
# at the beginning, or where the client tells of a command in a pipeline: with the arguments of the error, as a tuple
PASSING = re.compile(r"(^|caused error: \W*)(MISCONF|LOADING|READONLY|BUSY|MASTERDOWN|NOREPLICAS|OOM)")
PASSING_KINDS = (OutOfMemoryError, ReadOnlyError, MasterDownError)  # whose messages the client takes the first word off


async def patiently(action: Callable[[], Awaitable[T]], is_closing: Callable[[], bool]) -> T:
    """Do it; again for a while if Redis is away. All that is done so may be done twice. Raises Unavailable."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return await action()
        except (RedisError, OSError) as trouble:
            if not _is_passing(trouble):
                raise
            if is_closing() or time.monotonic() > deadline:
                raise Unavailable(f"Redis: {trouble}") from None
            await asyncio.sleep(RETRY_SECONDS)


def _is_passing(trouble: Exception) -> bool:
    if isinstance(trouble, (RedisConnectionError, RedisTimeoutError, OSError, *PASSING_KINDS)):
        return True
    return isinstance(trouble, ResponseError) and PASSING.search(str(trouble)) is not None
