"""Describes in words which fields of a request or a file are wrong.

Pydantic finds the errors. Its messages use its own terms ("discriminator", "after validation") and its paths contain
the alternatives that it tried. Here each wrong field is named as in JSON (`tests[2].output`), once, with what it should
be. Values are not shown, because they may be large or secret.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

MOST_DESCRIBED = 1000  # errors; pydantic formats all of them before it returns the first
MOST_SHOWN = 8
WHOLE = "body"

# alternatives of a union, which pydantic puts into the path: of tests, of checkers, plain types
ALTERNATIVES = frozenset(
    {"stdin", "call", "assert", "interactive", "str", "list[str]", "list[any]", "int", "float", "bool", "dict", "list"}
)
OF_CHECKERS = frozenset({"compare", "program", "suite"})

WORDS = {
    "assertion_error": "is wrong: {error}",
    "bool_parsing": "should be true or false",
    "bool_type": "should be true or false",
    "dict_type": "should be an object",
    "enum": "should be {expected}",
    "extra_forbidden": "is not known",
    "finite_number": "should be a finite number",
    "float_parsing": "should be a number",
    "float_type": "should be a number",
    "int_from_float": "should be an integer",
    "int_parsing": "should be an integer",
    "int_type": "should be an integer",
    "json_invalid": "is not JSON: {error}",
    "list_type": "should be a list",
    "literal_error": "should be {expected}",
    "missing": "is missing",
    "model_attributes_type": "should be an object",
    "model_type": "should be an object",
    "string_type": "should be a string",
    "too_long": "should have at most {max_length} entries",
    "too_short": "should have {min_length} or more entries",
    "tuple_type": "should be a list",
    "union_tag_invalid": "has an unknown `type`; use stdin, call, assert or interactive",  # only tests have one
    "union_tag_not_found": "needs a `type`: stdin, call, assert or interactive",
    "value_error": "is wrong: {error}",
}
"""What is wrong with a field, by pydantic's type of the error; the braces are filled from the error's context."""

Path = tuple[int | str, ...]

KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (type(None), "null"),
    (bool, "a boolean"),
    ((int, float), "a number"),
    (str, "a text"),
    ((list, tuple), "a list"),
    (Mapping, "an object"),
)


def kind_of(value: object) -> str:
    """Return JSON's word for a value, with its article; for other values the name of the class."""
    return next((name for kind, name in KINDS if isinstance(value, kind)), type(value).__name__)


def describe(error: ValidationError, within: Iterable[str] = (), whole: str = WHOLE) -> str:
    """Return validation errors as one line, field by field.

    Args:
        error: the validation errors.
        within: the path that leads to the validated value.
        whole: the name of the validated value itself.
    """
    start = tuple(within)
    if error.error_count() > MOST_DESCRIBED:
        return f"{_shown(start, whole)}: {error.error_count()} fields are wrong"
    return in_words(error.errors(include_url=False, include_input=False), start, whole)


def in_words(errors: Iterable[Mapping[str, Any]], start: Path = (), whole: str = WHOLE) -> str:
    """Return errors as one line, field by field.

    Args:
        errors: as pydantic lists them.
        start: the path that leads to the validated value.
        whole: the name of the validated value itself.
    """
    problems = _by_field(errors, start, whole)
    shown = [f"{name} {' or '.join(words)}" for name, words in list(problems.items())[:MOST_SHOWN]]
    more = len(problems) - len(shown)
    return "; ".join(shown) + (f"; and {more} more" if more > 0 else "")


def wrong_fields(error: ValidationError) -> dict[str, str]:
    """Return the words about each wrong field, by its name."""
    found = _by_field(error.errors(include_url=False, include_input=False), (), WHOLE)
    return {name: " or ".join(words) for name, words in found.items()}


def _by_field(errors: Iterable[Mapping[str, Any]], start: Path, whole: str) -> dict[str, list[str]]:
    """Return the words about each field; a field for which no alternative fits has one entry."""
    found: dict[str, list[str]] = {}
    for each in errors:
        name, words = _shown((*start, *_without_alternatives(each["loc"])), whole), _words(each)
        said = found.setdefault(name, [])
        if words not in said:
            said.append(words.removeprefix("should be ") if said and words.startswith("should be ") else words)
    return found


def _without_alternatives(path: Path) -> Path:
    """Return the path without the names of alternatives."""
    return tuple(step for place, step in enumerate(path) if not _is_alternative(path, place))


def _is_alternative(path: Path, place: int) -> bool:
    """Return whether a step names an alternative: it follows a place in a list or a checker, or it ends the path."""
    step, before = path[place], path[place - 1] if place else None
    if before == "checker":
        return step in OF_CHECKERS
    return step in ALTERNATIVES and (isinstance(before, int) or (place > 0 and place == len(path) - 1))


def _shown(path: Path, whole: str) -> str:
    """Return a path as in JSON: `tests[2].output`."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".") or whole


def _words(error: Mapping[str, Any]) -> str:
    """Return the fault of a field, to stand behind its name."""
    if error["type"] in WORDS:
        return WORDS[error["type"]].format_map(error.get("ctx", {}))
    _, found, rule = error["msg"].partition(" should ")
    return f"should {rule}" if found else f"is wrong: {error['msg']}"
