"""Reads fields of a data set's row, any of which may be JSON text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from pydantic_core import from_json

from sandbox_service.errors.fields import kind_of

Row: TypeAlias = Mapping[str, Any]


def unpacked(value: Any) -> Any:
    """Return the value of JSON text; other text and other values unchanged."""
    if not isinstance(value, str):
        return value
    try:
        return from_json(value)
    except ValueError:
        return value


def part(row: Row, name: str) -> Row:
    """Return a field that is an object or JSON text of one; empty if the field is missing.

    Args:
        row: The row.
        name: The field.

    Raises:
        ValueError: The field is something else.
    """
    found = unpacked(row.get(name))
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        raise ValueError(f"{name} should be an object, but is {kind_of(found)}")
    return found


def text(row: Row, name: str) -> str:
    """Return a field that is text; empty if it is missing.

    Args:
        row: The row.
        name: The field.

    Raises:
        ValueError: The field is no text.
    """
    found = row.get(name)
    if found is not None and not isinstance(found, str):
        raise ValueError(f"{name} should be text, but is {kind_of(found)}")
    return found or ""


def texts(row: Row, name: str) -> list[str]:
    """Return a field that is a list of texts, or JSON text of one; empty if it is missing.

    Args:
        row: The row.
        name: The field.

    Raises:
        ValueError: The field is no list of texts.
    """
    found = unpacked(row.get(name))
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise ValueError(f"{name} should be a list of texts")
    return found
