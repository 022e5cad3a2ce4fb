"""Opens containers of rows: files of several kinds, compressed or not, folders, problem packages, the hub."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from sandbox_service.errors import ConfigurationError
from sandbox_service.validation.sources import (
    archives,
    cms,
    dmoj,
    hub,
    jsonlines,
    jsonrecords,
    lightcp,
    packages,
    parquet,
    polygon,
    streams,
)
from sandbox_service.validation.sources.rows import Found, Malformed

OPTIONS = ("config", "files", "licence")
KINDS = ".jsonl, .ndjson, .json (each also with .gz or .zst), .parquet, .zip (a problem package)"

Rows = Iterator[Found | Malformed]

_PACKAGES: tuple[tuple[Callable[[Path], bool], Callable[[list[Path]], Rows]], ...] = (
    (packages.is_package, packages.rows),
    (polygon.is_package, polygon.rows),
    (dmoj.is_package, dmoj.rows),
    (cms.is_package, cms.rows),
    (lightcp.is_package, lightcp.rows),
)
_TEXTS: Mapping[str, Callable[[IO[bytes], str], Rows]] = {
    ".jsonl": jsonlines.rows,
    ".ndjson": jsonlines.rows,
    ".json": jsonrecords.rows,
}


def rows(name: str, *, split: str, revision: str, options: Mapping[str, Any]) -> Rows:
    """Return the rows of a file, a folder, or a data set on the hub.

    Args:
        name: A path or a name on the hub.
        split: Split on the hub.
        revision: Full commit hash on the hub.
        options: `config` and `files` on the hub.

    Raises:
        ConfigurationError: It cannot be read; raised before the first row where possible.
    """
    _check_options(name, options)
    path = Path(name).expanduser()
    if path.exists():
        if split or options.get("config") or options.get("files"):
            raise ConfigurationError(f"{name}: split, config and files are for the hub: name the file, or its folder")
        return _folder(path) if path.is_dir() else _file(path)
    if not _may_be_on_the_hub(name):
        raise ConfigurationError(f"{name}: no such file or folder, and not a name on the hub (owner/name)")
    where = {key: str(options[key]) for key in ("config", "files") if options.get(key)}
    return hub.rows(name.removeprefix("hub:"), split=split, revision=revision, **where)


def _check_options(name: str, options: Mapping[str, Any]) -> None:
    for option in options:
        if option not in OPTIONS:
            raise ConfigurationError(f"{name}: unknown option {option!r}; there are: {', '.join(OPTIONS)}")


def _may_be_on_the_hub(name: str) -> bool:
    owner, slash, rest = name.removeprefix("hub:").partition("/")
    is_file = _kind(Path(name)) in (*_TEXTS, ".parquet")
    return bool(slash and owner and rest and "/" not in rest and owner[0] not in ".~") and not is_file


def _file(path: Path) -> Rows:
    kind = _kind(path)
    if lightcp.is_package(path):
        return lightcp.rows([path])
    if archives.is_archive(path):
        return _unpacked(path)
    if kind == ".parquet":
        return parquet.rows(path, str(path))
    if kind in _TEXTS:
        return _texts(path, _TEXTS[kind])
    raise ConfigurationError(f"{path}: unknown kind of file; known are {KINDS}")


def _unpacked(path: Path) -> Rows:
    with archives.unpacked(path) as folder:
        for each in _folder(folder):
            yield replace(each, place=str(path))


def _kind(path: Path) -> str:
    return Path(path.stem if path.suffix.lower() in streams.PACKINGS else path.name).suffix.lower()


def _texts(path: Path, rows_of: Callable[[IO[bytes], str], Rows]) -> Rows:
    try:
        with streams.open_unpacked(path) as stream:
            for each in rows_of(stream, str(path)):
                yield each if isinstance(each, Malformed) else Found(path.name, each.number, each.place, each.row)
    except streams.BROKEN as trouble:
        raise ConfigurationError(f"{path}: cannot be read to its end: {trouble}") from None


def _folder(path: Path) -> Rows:
    """A problem package, several packages of one kind, or files of rows in the order of their names."""
    for is_package, rows_of in _PACKAGES:
        inside = [path] if is_package(path) else [each for each in path.iterdir() if is_package(each)]
        if inside:
            return rows_of(sorted(each.absolute() for each in inside))
    files = sorted(each for each in path.rglob("*") if each.is_file() and _kind(each) in (*_TEXTS, ".parquet"))
    files = files or sorted(filter(archives.is_archive, path.iterdir()))
    if not files:
        sheets = f"{packages.SHEET}, {polygon.SHEET}, {dmoj.SHEET}, {cms.SHEET}, {lightcp.SHEET}"
        raise ConfigurationError(f"{path}: no problem package in it ({sheets}), and no file of {KINDS}")
    return (each for file in files for each in _file(file))
