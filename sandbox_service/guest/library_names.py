"""Finds the standard library object that a test program means by a name."""

from __future__ import annotations

import importlib
import os
import re
import sys
import types
from collections.abc import Iterator
from typing import Any

from identifiers import is_class_name
from name_uses import NameUses

ALIASES = {"np": "numpy", "pd": "pandas", "sp": "scipy", "nx": "networkx", "plt": "matplotlib.pyplot"}
"""TestCommon aliases of third-party modules."""

FIRST = (
    "collections", "math", "itertools", "functools", "typing", "heapq", "bisect", "datetime", "decimal", "fractions",
    "statistics", "random", "string", "re", "copy", "json", "time", "enum", "dataclasses", "abc", "array", "io",
    "contextlib", "pathlib", "cmath", "sys", "types", "collections.abc", "os.path", "operator", "os",
)  # fmt: skip
"""Modules searched first for a name that several export; the others follow in alphabetical order."""
LAST = ("unittest.mock", "concurrent.futures", "urllib.parse", "pytest")
_OFF = frozenset(("antigravity", "this", "idlelib", "lib2to3", "tkinter", "turtle", "turtledemo", "test"))
_EXPORTS = re.compile(rb"__all__\s*(?:\+?=|\.extend\(|\.append\()\s*[\[(]?([^\])]*)")


def library_meaning(name: str, uses: NameUses) -> Any:
    """Return the library object for a name: a module, or an export of one, that fits the test's use of it.

    Args:
        name: the name.
        uses: how the test uses names.

    Returns:
        The object, or None.
    """
    for found in _meanings(name, uses):
        if found is not None and uses.fits(name, found):
            return found
    return None


def _meanings(name: str, uses: NameUses) -> Iterator[Any]:
    if name in ALIASES or (name in uses.only_attributes and not is_class_name(name)):
        yield _imported(ALIASES.get(name, name))
    if name in sys.stdlib_module_names and name not in _OFF and not name.startswith("_"):
        yield _imported(name)
    for module in FIRST:
        yield _exported(_imported(module), name)
    for module in (*sorted(sys.stdlib_module_names - _OFF - {*FIRST}), *LAST):
        if not module.startswith("_") and _says_that_it_exports(module, name):
            yield _exported(_imported(module), name)


def _imported(module: str) -> types.ModuleType | None:
    try:
        return importlib.import_module(module)
    except (ImportError, SyntaxError, OSError, AttributeError):
        return None


def _exported(module: types.ModuleType | None, name: str) -> Any:
    exports = getattr(module, "__all__", None)
    value = getattr(module, name, None)
    if exports is not None:
        return value if name in exports else None
    return None if name.startswith("_") or isinstance(value, types.ModuleType) else value


def _says_that_it_exports(module: str, name: str) -> bool:
    """Search the text of the module's `__all__` for the name; importing all modules would take half a second."""
    text = _text_of(module)
    word = name.encode("utf-8", "replace")
    if word not in text:
        return False
    exports = _EXPORTS.findall(text)
    if not exports:
        return re.search(rb"^(?:class|def|async def) " + word + rb"\b", text, re.MULTILINE) is not None
    return any(b'"%b"' % word in block or b"'%b'" % word in block for block in exports)


def _text_of(module: str) -> bytes:
    """Return the source of a library module or of pytest; empty if there is none."""
    folders = sys.path if module == "pytest" else [os.path.dirname(os.__file__)]
    for folder in folders:
        path = os.path.join(folder, *module.split("."))
        for file in (f"{path}.py", f"{path}/__init__.py"):
            try:
                with open(file, "rb") as source:
                    return source.read()
            except OSError:
                continue
    return b""
