"""Log lines: one JSON object each, with the fields that `extra` may have."""

from __future__ import annotations

import ast
import io
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sandbox_service.errors import logs


@contextmanager
def logging_to(monkeypatch: pytest.MonkeyPatch, level: str, slot: int | None = None) -> Iterator[io.StringIO]:
    """Log to a text as a process of the service does; pytest's own handlers are back afterwards."""
    root, written = logging.getLogger(), io.StringIO()
    handlers, before = root.handlers[:], root.level
    root.handlers.clear()
    monkeypatch.setattr("sys.stderr", written)
    try:
        logs.to_stderr(level, slot)
        yield written
    finally:
        root.handlers[:] = handlers
        root.setLevel(before)


def test_a_slot_names_itself_and_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    with logging_to(monkeypatch, "info", slot=3) as written:
        logging.getLogger("slots").error("jail_unusable", extra={"reason": "no\nfirejail", "secret": "x"})
        logging.getLogger("slots").debug("not logged")
    line = json.loads(written.getvalue())  # a second line would be an error
    assert (line["event"], line["slot"], line["reason"], line["level"]) == ("jail_unusable", 3, "no\nfirejail", "error")
    assert "secret" not in line


def test_an_exception_stays_in_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with logging_to(monkeypatch, "warning") as written:
        try:
            raise ValueError("wrong")
        except ValueError:
            logging.getLogger("api").exception("grader_error")
    line = json.loads(written.getvalue())
    assert "slot" not in line
    assert line["exception"].endswith("ValueError: wrong")


def test_no_field_that_the_service_logs_is_left_out() -> None:
    root = Path(logs.__file__).parents[1]
    calls = (node for path in root.rglob("*.py") for node in ast.walk(ast.parse(path.read_text())))
    extras = [
        word.value for node in calls if isinstance(node, ast.Call) for word in node.keywords if word.arg == "extra"
    ]
    names = {ast.literal_eval(key) for each in extras if isinstance(each, ast.Dict) for key in each.keys if key}
    assert len(extras) > 10
    assert names <= set(logs.FIELDS)
