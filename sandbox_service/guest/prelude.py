"""Runs the prelude: trusted code that both boxes of an assert test run first."""

from __future__ import annotations

import types
from typing import Any

import leetcode
from shared_classes import SharedClasses

LEETCODE = "@leetcode"
FILENAME = "prelude.py"


def run_prelude(prelude: types.CodeType | str | None, namespace: dict[str, Any]) -> SharedClasses:
    """Run the prelude.

    Args:
        prelude: code, its source, the name of the built-in one (`@leetcode`), or None.
        namespace: the globals to run it in.

    Returns:
        The classes that both boxes share.
    """
    if prelude == LEETCODE:
        namespace.update(leetcode.namespace())
        return SharedClasses({kind.__name__: kind for kind in leetcode.SHARED})
    if prelude is not None:
        code = compile(prelude, FILENAME, "exec", dont_inherit=True) if isinstance(prelude, str) else prelude
        exec(code, namespace)
    return SharedClasses(namespace if prelude is not None else {})
