"""Says which of the submission's names a test's text uses, and how: the connection asks, and the text alone decides."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from error_codec import LIBRARIES
from handle_state import HandleState
from identifiers import is_class_name

if TYPE_CHECKING:
    from name_resolution import NameResolution
    from name_table import TestNames


class TextUses:
    """The uses of the submission's names in one test's text; none until `set_names`."""

    def __init__(self) -> None:
        self.has_classes = False
        self.shows_classes = False
        self._names: TestNames | None = None

    def set_names(self, names: TestNames, resolution: NameResolution) -> None:
        """Remember the names of the test that the submission supplies as classes.

        Args:
            names: the names that the test reads.
            resolution: the supplier of each name.
        """
        self._names = names
        self.has_classes = any(map(is_class_name, (*resolution.submission, *resolution.submission_classes)))
        self.shows_classes = "__class__" in names.test

    def names_used_as_classes(self) -> set[str]:
        """Return the names that the test's text uses as classes."""
        uses = self._names.uses if self._names is not None else None
        return uses.used_as_classes if uses is not None else set()

    def changes_attributes(self) -> bool:
        """Return True if the test's text changes the value of an attribute in place."""
        return self._names is not None and self._names.uses.changes_attributes

    def reads(self, name: str, attribute: str) -> bool:
        """Return True if the test's text reads an attribute of the candidate's name, or of `check`'s parameter.

        Args:
            name: the name that the test reads the object by.
            attribute: the attribute.
        """
        uses = self._names.uses if self._names is not None and name else None
        return uses is not None and any(attribute in uses.attributes.get(each, ()) for each in (name, "candidate"))

    def is_no_error(self, state: HandleState) -> bool:
        """Return True for a class of the submission's that the test's text does not mean as an exception.

        Args:
            state: state of the object's handle.
        """
        meant_as_error = self._names is not None and state.bound in self._names.uses.errors
        named = state.sort == "class" and state.bound != ""
        return named and not meant_as_error and not state.bound.endswith(_ERROR_NAMES)

    def import_library(self, module: str) -> None:
        """Import the module of an exception's base class now, if the test's text names its library.

        Args:
            module: full name of the module.
        """
        package = module.partition(".")[0]
        if package in LIBRARIES and self._names is not None and package.lstrip("_") in self._names.test:
            with contextlib.suppress(ImportError):
                __import__(module)


_ERROR_NAMES = ("Error", "Exception", "Warning")
