"""A parquet file is read page by page, even if it is one row group."""

from __future__ import annotations

import base64
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox_service.validation.sources import parquet

pyarrow: Any = pytest.importorskip("pyarrow")
files: Any = pytest.importorskip("pyarrow.parquet")

ROWS, CELL_BYTES, PAGE_ROWS = 400, 75_000, 16


@pytest.fixture
def pool() -> Iterator[Any]:
    """Counts what pyarrow allocates during the test."""
    before = pyarrow.default_memory_pool()
    counting = pyarrow.proxy_memory_pool(before)
    pyarrow.set_memory_pool(counting)
    try:
        yield counting
    finally:
        pyarrow.set_memory_pool(before)


def test_memory_is_bounded_by_a_page(tmp_path: Path, pool: Any) -> None:
    noise = random.Random(1)
    cells = [base64.b64encode(noise.randbytes(CELL_BYTES * 3 // 4)).decode() for _ in range(ROWS)]
    table = pyarrow.table({"number": range(ROWS), "tests": cells})
    path = tmp_path / "one.parquet"
    files.write_table(table, path, row_group_size=ROWS, write_batch_size=PAGE_ROWS)
    before = pool.max_memory()
    assert files.ParquetFile(path).num_row_groups == 1
    del table
    reading = pyarrow.proxy_memory_pool(pool)
    pyarrow.set_memory_pool(reading)
    assert [row.row["tests"] for row in parquet.rows(path, "x")] == cells
    assert reading.max_memory() < 10 * PAGE_ROWS * CELL_BYTES < ROWS * CELL_BYTES / 2 < before
