"""Reads TOML files that a user names."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from sandbox_service.errors import ConfigurationError

MOST_BYTES = 16 << 20  # /dev/zero has no end


def read(path: Path) -> dict[str, Any]:
    """Return the contents of a TOML file.

    Raises:
        ConfigurationError: The file cannot be read, is too large, or is not TOML. The message names it.
    """
    try:
        with path.open("rb") as file:
            found = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise ConfigurationError(f"{path}: {error.strerror}") from None
    if len(found) > MOST_BYTES:
        raise ConfigurationError(f"{path}: more than {MOST_BYTES >> 20} MiB")
    try:
        return tomllib.loads(found.decode("utf-8-sig"))  # some editors begin a file with a mark
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: not TOML: {error}") from None
