"""Fields of rows: taken, checked and named, in the words that a refused row is refused with."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import date
from typing import Any

from sandbox_service.validation.sources.rows import Row

HASH_DIGITS = 16


def text(row: Row, *names: str) -> str:
    """The first of these fields that says anything. Raises ValueError if none does."""
    if found := optional(row, *names):
        return found
    raise ValueError(f"field {' or '.join(names)} is missing or empty")


def optional(row: Row, *names: str) -> str:
    """The first of these fields that says anything, else nothing. Raises ValueError for what is no text."""
    for name in names:
        value = row.get(name)
        if value is None or value == "":
            continue
        if not isinstance(value, str):
            raise ValueError(f"field {name} should be text, and is a {type(value).__name__}")
        if value.strip():
            return value
    return ""


def parsed(row: Row, name: str) -> Any:
    """What a field holds, be it JSON text or already parsed. Raises ValueError."""
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
    """The same for an object; nothing is an empty one."""
    found = parsed(row, name)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise ValueError(f"field {name} should be an object, and is a {type(found).__name__}")
    return found


def listing(row: Row, name: str) -> list[Any]:
    """The same for a list; nothing is an empty one."""
    found = parsed(row, name)
    if found is None:
        return []
    if not isinstance(found, list):
        raise ValueError(f"field {name} should be a list, and is a {type(found).__name__}")
    return found


def texts(value: object) -> list[str]:
    """Texts of a list, of a list in JSON or in Python's notation, or of a single text: tags are written in all ways."""
    if isinstance(value, str) and value.strip().startswith("["):
        return re.findall(r"[\"']([^\"']+)[\"']", value)
    if isinstance(value, str):
        return [value] if value.strip() else []
    return [str(each) for each in value if each] if isinstance(value, list) else []


def meta(**known: Any) -> dict[str, Any] | None:
    """What is known of these, as JSON can say it. `date` is cut to the day."""
    kept = {name: _plain(value) for name, value in known.items() if value is not None and value not in ("", [], {})}
    if "date" in kept:
        kept["date"] = str(kept["date"])[:10]
    json.dumps(kept, allow_nan=False, ensure_ascii=False).encode()  # what cannot be written is refused here
    return kept or None


def hashed(prefix: str, *parts: object) -> str:
    """A name made of what is in a row, for those that have none: the same rows have the same."""
    told = json.dumps(parts, default=str, sort_keys=True).encode()
    return f"{prefix}/{hashlib.sha256(told).hexdigest()[:HASH_DIGITS]}"


def _plain(value: Any) -> Any:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value if isinstance(value, (str, int, float, bool)) or value is None else str(value)
