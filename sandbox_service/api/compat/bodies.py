"""The base of the request bodies of other services: unknown fields are ignored, and misspelt ones are refused.

The original services ignore every unknown field. A client that writes `expected_out` or sends `input` to a route that
reads `stdin` would get the answer to another request: a program without input fails, and one without an expected output
passes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from itertools import islice
from typing import Any, Self, get_args

from pydantic import BaseModel, ConfigDict, model_validator

SIMILAR = 0.85  # of difflib's ratio: one letter more, fewer or another in six
MOST_LETTERS = 40  # of a name that is compared
MOST_NAMES = 64
ALIKE = (
    frozenset({"input", "std_in", "std_input", "stdin", "stdin_data", "stdin_input"}),
    frozenset({"expected", "expected_output", "expected_stdout", "std_output", "stdout"}),
)
"""Names of several services for the same thing."""


class ForeignBody(BaseModel):
    """A request body of another service."""

    model_config = ConfigDict(extra="allow")

    @model_validator(mode="before")
    @classmethod
    def _has_no_truth_for_a_number(cls, given: Any) -> Any:
        for name, words in false_numbers(cls, given).items():
            raise ValueError(f"{name} {words}")
        return given

    @model_validator(mode="after")
    def _has_no_misspelt_field(self) -> Self:
        for given, meant in misspelt(self.model_extra or (), type(self).model_fields, self.model_fields_set).items():
            raise ValueError(f"{given} is not known; use {meant}")
        return self


def false_numbers(model: type[BaseModel], given: Any) -> dict[str, str]:
    """Return what is wrong with each field that has `true` for a number: it would be 1, and a limit of 1.

    Args:
        model: The model of the body.
        given: The body.
    """
    fields = model.model_fields
    return {
        name: f"should be a number, but is {str(value).lower()}"
        for name, value in (given.items() if isinstance(given, Mapping) else ())
        if isinstance(value, bool) and name in fields and _is_number(fields[name].annotation)
    }


def _is_number(annotation: Any) -> bool:
    """Return whether a type is a number and not a truth value; of a union, whether a member is, and none is bool."""
    members = set(get_args(annotation)) or {annotation}
    return bool(members & {int, float}) and bool not in members


def misspelt(unknown: Iterable[str], known: Iterable[str], given: Iterable[str]) -> dict[str, str]:
    """Return the unknown names that stand for a field which was not given, each with that field.

    Args:
        unknown: Names in the request that no field has.
        known: The names of all fields.
        given: The names of the fields in the request.
    """
    missing = sorted(set(known) - set(given))
    found = {}
    for name in islice(unknown, MOST_NAMES):
        if len(name) <= MOST_LETTERS and (meant := _meant(name.lower().replace("-", "_"), missing)):
            found[name] = meant
    return found


def _meant(name: str, missing: list[str]) -> str | None:
    for each in missing:
        if any({name, each} <= names for names in ALIKE):
            return each
    bare = {each.replace("_", ""): each for each in missing}
    similar = get_close_matches(name.replace("_", ""), bare, n=1, cutoff=SIMILAR)
    return bare[similar[0]] if similar else None
