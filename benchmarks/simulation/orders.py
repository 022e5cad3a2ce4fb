"""What a process of the fleet is asked for, as it reads that: lines of JSON, each answered with one."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

REPLY_LIMIT = 1 << 28  # bytes of one line from a process of ours
Figures = dict[str, Any]


class Orders:
    """What the parent asks for: lines of JSON that name a method and its arguments."""

    def __init__(self) -> None:
        self._reader = asyncio.StreamReader(limit=REPLY_LIMIT)

    async def first(self) -> Figures:
        """Wait for the first of them."""
        protocol = asyncio.StreamReaderProtocol(self._reader)
        await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
        return await self._next()

    async def obey(self, servant: object) -> None:
        """Do what is asked, until there is nobody left to ask."""
        while order := await self._next():
            self.reply(await getattr(servant, order.pop("do"))(**order))

    async def _next(self) -> Figures:
        line = await self._reader.readline()
        return json.loads(line) if line else {}

    @staticmethod
    def reply(values: Figures) -> None:
        """Answer."""
        sys.stdout.write(json.dumps(values) + "\n")
        sys.stdout.flush()
