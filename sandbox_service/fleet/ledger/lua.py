"""Loads and calls the Lua functions of the ledger. Each call is one atomic change of the ledger.

They are one library of Redis: the prelude, its other parts, and a function for each file in `scripts/` whose first line
begins with `#!lua` and may have the flags for Redis. All names end with a digest of the whole, so that versions share a
Redis. A Redis that does not have the library is sent it. One whose memory is full refuses the library: until it has
room, a function is sent as a script, so that what frees memory works. See docs/decisions/0120.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from redis.asyncio import Redis
from redis.exceptions import OutOfMemoryError, ResponseError

Argument = str | bytes | int | float
PARTS = ("prelude", "steps", "claims")
_FOLDER, _SCRIPT, _FLAGS = "scripts", "#!lua", "flags="
_UNKNOWN = "Function not found"


class Library(NamedTuple):
    """The functions of the ledger, as they are sent to Redis."""

    text: str
    names: dict[str, str]
    """The names of the functions in Redis, by those of their files."""
    scripts: dict[str, str]
    """The functions as scripts, by the names of their files."""


class Functions:
    """Calls the functions of one ledger."""

    def __init__(self, redis: Redis, name: str) -> None:
        self._redis = redis
        self._name = name
        self._library = library()

    async def run(self, function: str, arguments: Sequence[Argument] = ()) -> Any:
        """Call the function of this file and return its result. Raises redis.exceptions.RedisError."""
        try:
            return await self._call(function, arguments)
        except ResponseError as error:
            if not str(error).startswith(_UNKNOWN):
                raise
        try:
            await self._redis.function_load(self._library.text, replace=True)
        except OutOfMemoryError:
            return await self._redis.eval(self._library.scripts[function], 0, self._name, *arguments)
        return await self._call(function, arguments)

    def _call(self, function: str, arguments: Sequence[Argument]) -> Awaitable[Any]:
        return self._redis.fcall(self._library.names[function], 0, self._name, *arguments)


@cache
def library() -> Library:
    """Return the library, made of the files in `scripts/`."""
    folder = files(__package__) / _FOLDER
    found = sorted(folder.iterdir(), key=str)
    texts = {file.name.removesuffix(".lua"): file.read_text(encoding="utf-8") for file in found}
    scripts = {name: text for name, text in texts.items() if text.startswith(_SCRIPT)}
    mark = hashlib.sha256("".join(texts.values()).encode()).hexdigest()[:16]
    names = {name: f"proctor_{name}_{mark}" for name in scripts}
    functions = [_function(names[name], text) for name, text in scripts.items()]
    parts = "\n".join(texts[part] for part in PARTS)
    text = "\n".join([f"#!lua name=proctor_{mark}", parts, *functions])
    return Library(text, names, {name: _script(parts, text) for name, text in scripts.items()})


def _script(parts: str, script: str) -> str:
    """Return a script that does what the function of the library does."""
    first_line, body = script.split("\n", 1)
    return f"{first_line}\n{parts}\nlocal function run(ARGV)\nbegin(ARGV[1])\n{body}end\nreturn run(ARGV)\n"


def _function(name: str, script: str) -> str:
    """Return a script as a function of the library."""
    first_line, body = script.split("\n", 1)
    flags = first_line.partition(_FLAGS)[2]
    quoted = ", ".join(f"'{flag}'" for flag in flags.split(",") if flag)
    head = f"redis.register_function{{function_name = '{name}', flags = {{{quoted}}}, callback = function(_, ARGV)"
    return f"{head}\nbegin(ARGV[1])\n{body}end}}\n"
