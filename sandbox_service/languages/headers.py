"""Precompiled C++ headers: `bits/stdc++.h`, compiled once on a machine for each standard and compiler.

The header is the compiler's own, so the compiler runs outside a box, as the service's user. A compile box reads the
result through a descriptor, to which a link in its /tmp points: no folder of the machine is shown to it.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import secrets
import subprocess
from collections.abc import Sequence
from contextlib import suppress

from sandbox_service.languages.machine_cache import MachineCache

log = logging.getLogger(__name__)

HEADER = "bits/stdc++.h"
LINK = f".header/{HEADER}.gch"
COMPILE_SECONDS = 300.0
READABLE = 0o644
_LEFT_OUT = re.compile(r"^(-I|-o|-static|-s$|-Wl,|-lm|out$|start\.o|\{)")


def opened(cache: MachineCache, command: Sequence[str], identity: str) -> int | None:
    """Return a descriptor of the header compiled with a command's flags; None if it cannot be made.

    Args:
        cache: where it is kept.
        command: the command that will use it.
        identity: that of the compiler.
    """
    flags = [word for word in command[1:] if not _LEFT_OUT.match(word)]
    key = hashlib.sha256("\0".join([identity, *flags]).encode()).hexdigest()
    try:
        path = cache.headers / f"{key}.gch"
    except OSError:
        return None
    with suppress(FileNotFoundError):
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    with cache.locked(key):
        if not path.exists() and not _compile([command[0], *flags], str(path)):
            return None
    return os.open(path, os.O_RDONLY | os.O_CLOEXEC)


def _compile(command: list[str], path: str) -> bool:
    waiting = f"{path}.{secrets.token_hex(4)}"
    source = f"#include <{HEADER}>\n".encode()
    try:
        where = subprocess.run(
            [*command, "-x", "c++", "-E", "-"], input=source, capture_output=True, check=True, timeout=COMPILE_SECONDS
        )
        found = re.search(rf'^# 1 "(\S+{re.escape(HEADER)})"', where.stdout.decode("utf-8", "replace"), re.MULTILINE)
        if found is None:
            return False
        made = [*command, "-x", "c++-header", found[1], "-o", waiting]
        subprocess.run(made, capture_output=True, check=True, timeout=COMPILE_SECONDS, cwd="/")
        os.chmod(waiting, READABLE)  # noqa: PTH101  boxes have another user
        os.rename(waiting, path)  # noqa: PTH104
    except (OSError, subprocess.SubprocessError) as error:
        log.warning("header_not_compiled", extra={"reason": str(error)})
        with suppress(OSError):
            os.unlink(waiting)  # noqa: PTH108
        return False
    return True
