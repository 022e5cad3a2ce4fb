"""Unpacks problem packages that are zip files, as Polygon and DOMjudge export them; Kattis calls them `.kpp` too."""

from __future__ import annotations

import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from sandbox_service.errors import ConfigurationError
from sandbox_service.validation.sources.rows import MOST_ROW_BYTES

SUFFIXES = (".zip", ".kpp")
LEFT_OVER = "__MACOSX"
BROKEN = OSError, zipfile.BadZipFile, zlib.error, RuntimeError  # the last: a password, an unknown way of packing
MODE_BITS = 16  # below those of a file's mode


def is_archive(path: Path) -> bool:
    """Return whether the path is a zip file."""
    return path.suffix.lower() in SUFFIXES and path.is_file() and zipfile.is_zipfile(path)


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """Yield a folder with the files of a zip file, without its only folder if all files are in one.

    The folder has the names of the zip file and of its folder, and is removed afterwards. No name leads out of it.

    Args:
        path: the zip file.

    Raises:
        ConfigurationError: it cannot be read, is too large, or has a link, which would be unpacked as a file.
    """
    with TemporaryDirectory(prefix="proctor-package-") as temporary:
        folder = Path(temporary, path.absolute().parent.name, path.stem)
        try:
            _unpack(path, folder)
        except BROKEN as trouble:
            raise ConfigurationError(f"{path}: cannot be unpacked: {trouble}") from None
        inside = list(folder.iterdir())
        if len(inside) == 1 and inside[0].is_dir():
            inside[0].rename(unwrapped := folder.with_name(path.name))
            folder.rmdir()
            unwrapped.rename(folder)
        yield folder


def _unpack(path: Path, folder: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        size = sum(each.file_size for each in archive.infolist())
        if size > MOST_ROW_BYTES:
            raise ConfigurationError(f"{path}: its files have {size} bytes, and {MOST_ROW_BYTES} are the most")
        if links := [each.filename for each in archive.infolist() if stat.S_ISLNK(each.external_attr >> MODE_BITS)]:
            raise ConfigurationError(f"{path}: {links[0]} is a link; unpack the file, and name the folder")
        folder.mkdir(parents=True)
        archive.extractall(folder, [name for name in archive.namelist() if name.partition("/")[0] != LEFT_OVER])
