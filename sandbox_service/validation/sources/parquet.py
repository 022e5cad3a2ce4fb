"""Parquet files, a few rows at a time. In memory are a batch and, of each column, the page that is being read.

A page is unpacked as a whole, so memory is bounded by the largest page and not by the file or its row groups. How large
that is is decided by who writes: pyarrow means pages of 1 MiB, but looks at their size after every 1024 values only.
Measured with one row group of 3,500 rows of 85 kB (300 MB): 250 MB at the most with such pages (of 87 MB), 96 MB with
pages of 16 rows, of which 65 MB are pyarrow itself. With the whole of a column's row group buffered, as without
`buffer_size`, or with the file mapped, it is 510 to 530 MB.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sandbox_service.errors import ConfigurationError
from sandbox_service.validation.sources import libraries
from sandbox_service.validation.sources.rows import Found

BATCH_ROWS = 16  # rows of programming problems are large: a megabyte of tests is nothing special
BUFFER_BYTES = 1 << 20  # of a column at a time: without it a whole row group of the column is read first


def rows(path: Path, name: str) -> Iterator[Found]:
    """Every row. Raises ConfigurationError for a file that is damaged, or if the library is not installed."""
    parquet = libraries.need("pyarrow.parquet", f"{path}: parquet", "ParquetFile")
    number = 0
    try:
        with parquet.ParquetFile(path, pre_buffer=False, buffer_size=BUFFER_BYTES) as file:
            for batch in file.iter_batches(batch_size=BATCH_ROWS, use_threads=False):
                for row in batch.to_pylist():
                    number += 1
                    yield Found(path.name, str(number), f"{name}:{number}", row)
    except (OSError, ValueError) as trouble:  # ArrowInvalid is a ValueError
        raise ConfigurationError(f"{path}: no parquet, or damaged after row {number}: {trouble}") from None
