"""Writes the JSON lines of a validation; files get their names when they are complete."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sandbox_service.formats.problem import Problem
from sandbox_service.schema import TestCase


class Output:
    """Files of lines in a folder, under temporary names until the block ends; removed if it fails."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.paths = [folder / name for name in names]
        self._unfinished = [path.with_name(f".{path.name}.part") for path in self.paths]

    def __enter__(self) -> Self:
        opened = [path.open("w", encoding="utf-8", errors="backslashreplace") for path in self._unfinished]
        self._files = {path.name: file for path, file in zip(self.paths, opened, strict=True)}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in self._files.values():
            file.close()
        for unfinished, path in zip(self._unfinished, self.paths, strict=True):
            if kind is None:
                unfinished.replace(path)
            else:
                unfinished.unlink()

    def put(self, name: str, line: dict[str, Any]) -> None:
        """Append a line to the file with this name."""
        self._files[name].write(json.dumps(line, ensure_ascii=False) + "\n")


def plain(problem: Problem) -> dict[str, Any]:
    """Return a problem as JSON data without its empty fields. A null answer and the type of each test are kept."""
    data = problem.model_dump(mode="json")
    for name in ("checker", "interactor", "limits", "provenance"):
        data[name] = {field: value for field, value in (data[name] or {}).items() if value not in (None, "")}
    data["tests"] = [_plain_test(each) for each in problem.tests or ()]
    return {name: value for name, value in data.items() if value not in (None, "", [], {})}


def _plain_test(test: TestCase) -> dict[str, Any]:
    data = test.model_dump(mode="json")
    defaults = {name: field.get_default(call_default_factory=True) for name, field in type(test).model_fields.items()}
    return {
        name: value for name, value in data.items() if name in ("type", "output", "input") or value != defaults[name]
    }
