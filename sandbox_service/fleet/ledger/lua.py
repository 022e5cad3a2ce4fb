"""Loads and runs the Lua scripts. Each is one atomic change of the ledger.

A script is a file in `scripts/` whose first line begins with `#!lua` and has the flags for Redis. After that line the
prelude is inserted, and the parts that a second line `-- with NAME …` lists. A script is called by its digest, and sent
again if Redis does not have it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from redis.asyncio import Redis

Argument = str | bytes | int | float
_FOLDER, _SCRIPT, _WITH = "scripts", "#!lua", "-- with "


class Scripts:
    """Runs the scripts of one ledger."""

    def __init__(self, redis: Redis, name: str) -> None:
        self._name = name
        self._scripts = {script: redis.register_script(text) for script, text in texts().items()}

    async def run(self, script: str, arguments: Sequence[Argument] = ()) -> Any:
        """Return what the script returns. Raises redis.exceptions.RedisError."""
        return await self._scripts[script](args=[self._name, *arguments])


def texts() -> dict[str, str]:
    """Return the scripts as they are sent to Redis, by name."""
    folder = files(__package__) / _FOLDER
    found = {file.name.removesuffix(".lua"): file.read_text(encoding="utf-8") for file in folder.iterdir()}
    return {name: _whole(text, found) for name, text in found.items() if text.startswith(_SCRIPT)}


def _whole(script: str, found: Mapping[str, str]) -> str:
    """Return a script with the prelude and its parts, which are `found` by name."""
    first_line, rest = script.split("\n", 1)
    second_line = rest.partition("\n")[0]
    parts = second_line.removeprefix(_WITH).split() if second_line.startswith(_WITH) else []
    return "\n".join([first_line, *(found[part] for part in ("prelude", *parts)), rest])
