"""Decides which side supplies each name that a test program reads and does not define: the submission or a library.

The decision depends on the test's text, the entry point and the prelude, and never on what the submission defines.
Otherwise a submission could replace a library class that the test uses, or choose the reason for which it fails.

* The submission supplies what the test imports `from solution`, the root of the entry point, and the only name of a
  test without an entry point.
* The library supplies any other name that the standard library exports (by a module's `__all__`), if every use in the
  test fits the library's object: `Queue().enqueue(1)` cannot mean `queue.Queue`. Without an entry point, a name that an
  assertion calls on literals alone (`assert gcd(12, 8) == 4`) is under test, so the submission supplies it.
* With an entry point, the submission supplies a remaining name only if it is used or written as a class, and only by a
  class: a helper function of the submission's could return any result. Other names are unresolved.
* Without an entry point the submission supplies all remaining names.
"""

from __future__ import annotations

import builtins
import sys
import types
from typing import Any

from identifiers import is_class_name
from library_names import ALIASES, library_meaning
from name_table import TestNames


class NameResolution:
    """The supplier of each name that the test reads.

    `submission`: names from the submission, whatever they are. `submission_classes`: names from the submission if it
    defines them as classes. `library`: library objects by name. `unresolved`: names without a supplier. `candidate`:
    the argument of `check(candidate)` if there is no entry point.
    """

    __slots__ = ("candidate", "library", "submission", "submission_classes", "unresolved")

    def __init__(self) -> None:
        self.submission: set[str] = set()
        self.submission_classes: set[str] = set()
        self.library: dict[str, Any] = {}
        self.unresolved: set[str] = set()
        self.candidate: str | None = None


def resolve(names: TestNames, supplied: dict[str, Any], entry_root: str | None) -> NameResolution:
    """Return the supplier of each name.

    Args:
        names: the names that the test reads.
        supplied: the prelude's globals.
        entry_root: first name of the entry point, or None.
    """
    result = NameResolution()
    result.submission.update(names.imported)
    unbound = {name for name in names.read if name not in supplied and not hasattr(builtins, name)}
    if entry_root is not None:
        if entry_root in names.read:
            result.submission.add(entry_root)
        _with_entry(result, unbound - result.submission, names)
    elif len(unbound) == 1 and not result.submission:
        _alone(result, next(iter(unbound)), names)
    elif unbound:
        _without_entry(result, unbound, names)
    else:
        shadow = _only_builtin_called(names)
        result.submission.update([shadow] if shadow and not result.submission else ())
    if len(result.submission) == 1:
        (result.candidate,) = result.submission
    return result


def _alone(result: NameResolution, name: str, names: TestNames) -> None:
    """Resolve the only name: the candidate, unless it is a module."""
    if name in sys.stdlib_module_names or name in ALIASES:
        found = library_meaning(name, names.uses) if name in names.uses.only_attributes else None
        if isinstance(found, types.ModuleType):
            result.library[name] = found
            return
    result.submission.add(name)


def _with_entry(result: NameResolution, rest: set[str], names: TestNames) -> None:
    for name in sorted(rest):
        found = library_meaning(name, names.uses)
        if found is not None:
            result.library[name] = found
        elif is_class_name(name) or name in names.uses.used_as_classes:
            result.submission_classes.add(name)
        else:
            result.unresolved.add(name)


def _without_entry(result: NameResolution, unbound: set[str], names: TestNames) -> None:
    uses = names.uses
    for name in sorted(unbound - result.submission):
        found = library_meaning(name, uses)
        if found is not None and (name not in uses.tried or isinstance(found, types.ModuleType)):
            result.library[name] = found
        elif name in uses.only_attributes and not is_class_name(name):
            result.unresolved.add(name)
        else:
            result.submission.add(name)
    functions = {name for name, found in result.library.items() if not isinstance(found, types.ModuleType)}
    if not result.submission and functions:  # some name must be the one under test
        result.submission = functions
        for name in functions:
            del result.library[name]


def _only_builtin_called(names: TestNames) -> str | None:
    """Return the one builtin that a test calls, if it calls no other name.

    A submission may define a function of that name (MBPP/126: `sum`). If the test calls several builtins, a submission
    could choose which of them to replace, so the entry point must name one.
    """
    called = set(names.uses.calls)
    return next(iter(called)) if len(called) == 1 and called <= names.read else None
