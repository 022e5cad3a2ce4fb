"""Loads and runs the Lua scripts. Each is one atomic change of the ledger.

A script is its file in `scripts/` with the prelude after its first line, which has the flags for Redis. It is called by
its digest, and sent again if Redis does not have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from redis.asyncio import Redis

Argument = str | bytes | int | float
_FOLDER = "scripts"


class Scripts:
    """Runs the scripts of one ledger."""

    def __init__(self, redis: Redis, name: str) -> None:
        self._name = name
        folder = files(__package__) / _FOLDER
        prelude = (folder / "prelude.lua").read_text(encoding="utf-8")
        self._scripts = {
            file.name.removesuffix(".lua"): redis.register_script(
                _with_prelude(file.read_text(encoding="utf-8"), prelude)
            )
            for file in folder.iterdir()
            if file.name.endswith(".lua") and file.name != "prelude.lua"
        }

    async def run(self, script: str, arguments: Sequence[Argument] = ()) -> Any:
        """Return what the script returns. Raises redis.exceptions.RedisError."""
        return await self._scripts[script](args=[self._name, *arguments])


def _with_prelude(script: str, prelude: str) -> str:
    first_line, rest = script.split("\n", 1)
    return f"{first_line}\n{prelude}\n{rest}"
