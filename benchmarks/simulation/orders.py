"""Reads requests of the parent from standard input: lines of JSON, each answered with one."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

REPLY_LIMIT = 1 << 28  # bytes of one line
Figures = dict[str, Any]


class Orders:
    """Requests that name a method and its arguments."""

    def __init__(self) -> None:
        self._reader = asyncio.StreamReader(limit=REPLY_LIMIT)

    async def first(self) -> Figures:
        """Return the first request."""
        protocol = asyncio.StreamReaderProtocol(self._reader)
        await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
        return await self._next()

    async def obey(self, servant: object) -> None:
        """Answer requests until the parent is gone."""
        while order := await self._next():
            self.reply(await getattr(servant, order.pop("do"))(**order))

    async def _next(self) -> Figures:
        line = await self._reader.readline()
        return json.loads(line) if line else {}

    @staticmethod
    def reply(values: Figures) -> None:
        """Send an answer."""
        sys.stdout.write(json.dumps(values) + "\n")
        sys.stdout.flush()
