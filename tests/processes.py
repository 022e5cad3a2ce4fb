"""Looks at processes that may end while they are looked at: one that has ended has no name, command or children."""

from __future__ import annotations

from contextlib import suppress

import psutil


def name_of(process: psutil.Process) -> str:
    """Return the process's name, empty if it has ended."""
    with suppress(psutil.NoSuchProcess):
        return process.name()
    return ""


def command_of(process: psutil.Process) -> list[str]:
    """Return the process's command line, empty if it has ended."""
    with suppress(psutil.NoSuchProcess):
        return process.cmdline()
    return []


def children_of(process: psutil.Process, *, recursive: bool = False) -> list[psutil.Process]:
    """Return the process's children, none if it has ended.

    Args:
        process: the parent.
        recursive: return all descendants.
    """
    with suppress(psutil.NoSuchProcess):
        return process.children(recursive=recursive)
    return []


def is_firejail(process: psutil.Process) -> bool:
    """Return whether this is a firejail that has not ended."""
    return name_of(process) == "firejail"


def is_slot(process: psutil.Process) -> bool:
    """Return whether this is a slot process that has not ended."""
    return "sandbox_service.slots.main" in command_of(process)
