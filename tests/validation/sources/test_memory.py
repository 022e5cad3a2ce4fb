"""Memory does not hold a whole file, in any format and compression."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from collections import deque
from pathlib import Path
from typing import IO

import pytest

from sandbox_service.formats.problem import Problem
from sandbox_service.validation import sources
from tests.validation.sources.published import TACO

ROWS, TEST_BYTES = 300, 100_000
MOST_BYTES = 8 << 20  # a row, a few times over, and a few buffers: not the file's 30 MB


def write(file: IO[bytes], kind: str) -> None:
    test = {"inputs": ["2 " * (TEST_BYTES // 2)], "outputs": ["4"]}
    line = json.dumps(TACO | {"input_output": json.dumps(test)}).encode()
    file.write(b"[" if kind == ".json" else b"")
    for number in range(ROWS):
        file.write((b"," if kind == ".json" and number else b"") + line + b"\n")
    file.write(b"]" if kind == ".json" else b"")


@pytest.mark.parametrize("name", ["taco.jsonl", "taco.json", "taco.jsonl.gz"])
def test_memory_is_bounded(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with gzip.open(path, "wb", compresslevel=1) if name.endswith(".gz") else path.open("wb") as file:
        write(file, path.suffix)  # type: ignore[arg-type]
    tracemalloc.start()
    try:
        (last,) = deque(sources.read(str(path)), maxlen=1)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert isinstance(last, Problem)
    assert last.provenance is not None
    assert last.provenance.row == str(ROWS)
    assert peak < MOST_BYTES
