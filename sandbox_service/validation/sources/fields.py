"""Reads and checks fields of rows; a ValueError has the reason with which a row is refused."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import date
from typing import Any

from sandbox_service.errors.fields import kind_of
from sandbox_service.validation.sources.rows import Row

HASH_DIGITS = 16


def text(row: Row, *names: str) -> str:
    """Return the first of these fields that is not empty.

    Raises:
        ValueError: If there is none.
    """
    if found := optional(row, *names):
        return found
    raise ValueError(f"field {' or '.join(names)} is missing or empty")


def optional(row: Row, *names: str) -> str:
    """Return the first of these fields that is not empty, or "". Raises ValueError for a value that is not text."""
    for name in names:
        value = row.get(name)
        if value is None or value == "":
            continue
        if not isinstance(value, str):
            raise ValueError(f"field {name} should be text, but is {kind_of(value)}")
        if value.strip():
            return value
    return ""


def name(row: Row, field: str) -> str:
    """Return the name or number in a field. Raises ValueError if it has neither: rows would share one id."""
    value = row[field]
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise ValueError(f"field {field} should be a name or a number, but is {kind_of(value)}")
    return str(value)


def parsed(row: Row, name: str) -> Any:
    """Return the value of the field `name`, parsed if it is JSON text.

    Raises:
        ValueError: If it cannot be parsed.
    """
    value = row.get(name)
    if not isinstance(value, str):
        return value
    if not value.strip():
        return None
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as trouble:
        raise ValueError(f"field {name} is not JSON: {trouble}") from None


def mapping(row: Row, name: str) -> dict[str, Any]:
    """Return the object of the field `name`, as `parsed` does; {} for an empty field."""
    found = parsed(row, name)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise ValueError(f"field {name} should be an object, but is {kind_of(found)}")
    return found


def listing(row: Row, name: str) -> list[Any]:
    """Return the list of the field `name`, as `parsed` does; [] for an empty field."""
    found = parsed(row, name)
    if found is None:
        return []
    if not isinstance(found, list):
        raise ValueError(f"field {name} should be a list, but is {kind_of(found)}")
    return found


def texts(value: object) -> list[str]:
    """Return the texts of a value: a list, a list as JSON or Python text, or a single text. Tags come in all three
    forms.
    """
    if isinstance(value, str) and value.strip().startswith("["):
        return re.findall(r"[\"']([^\"']+)[\"']", value)
    if isinstance(value, str):
        return [value] if value.strip() else []
    return [str(each) for each in value if each] if isinstance(value, list) else []


def meta(**known: Any) -> dict[str, Any] | None:
    """Return the values that are known as JSON data, or None. `date` is cut to the day."""
    kept = {name: _plain(value) for name, value in known.items() if value is not None and value not in ("", [], {})}
    if "date" in kept:
        kept["date"] = str(kept["date"])[:10]
    json.dumps(kept, allow_nan=False, ensure_ascii=False).encode()  # refuses a value that JSON cannot carry
    return kept or None


def hashed(prefix: str, *parts: object) -> str:
    """Return an id for a row that has none: the prefix and a hash of the content, so that equal rows have equal ids."""
    encoded = json.dumps(parts, default=str, sort_keys=True).encode()
    return f"{prefix}/{hashlib.sha256(encoded).hexdigest()[:HASH_DIGITS]}"


def _plain(value: Any) -> Any:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value if isinstance(value, (str, int, float, bool)) or value is None else str(value)
