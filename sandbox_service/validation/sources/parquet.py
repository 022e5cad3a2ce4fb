"""Reads parquet files a few rows at a time; memory holds one batch and one page of each column.

A page is unpacked as a whole, so the largest page bounds the memory, not the file or its row groups. The writer decides
the page size: pyarrow aims at 1 MiB, but checks only every 1024 values. Measured with one row group of 3,500 rows of 85
kB (300 MB): at most 250 MB with such pages (of 87 MB), and 96 MB with pages of 16 rows, of which pyarrow itself takes
65 MB. With a whole row group of a column in memory (without `buffer_size`, or with the file mapped): 510 to 530 MB.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sandbox_service.errors import ConfigurationError
from sandbox_service.validation.sources import optional_libraries
from sandbox_service.validation.sources.rows import Found

BATCH_ROWS = 16  # rows of programming problems are large: a megabyte of tests is common
BUFFER_BYTES = 1 << 20  # of a column at a time: without it a whole row group of the column is read first


def rows(path: Path, name: str) -> Iterator[Found]:
    """Yield every row of a file, by the name that messages give to it.

    Raises:
        ConfigurationError: The file is damaged, or the library is not installed.
    """
    parquet = optional_libraries.need("pyarrow.parquet", f"{path}: parquet", "ParquetFile")
    number = 0
    try:
        with parquet.ParquetFile(path, pre_buffer=False, buffer_size=BUFFER_BYTES) as file:
            for batch in file.iter_batches(batch_size=BATCH_ROWS, use_threads=False):
                for row in batch.to_pylist():
                    number += 1
                    yield Found(path.name, str(number), f"{name}:{number}", row)
    except (OSError, ValueError) as trouble:  # ArrowInvalid is a ValueError
        raise ConfigurationError(f"{path}: not a parquet file, or damaged after row {number}: {trouble}") from None
