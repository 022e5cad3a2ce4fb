"""Reads Kattis problem packages, folders with a `problem.yaml`, as rows; `kattis` makes a problem of a row.

Accepts the older format and that of 2023-07, which name folders and fields differently, and DOMjudge's, in which
`domjudge-problem.ini` may stand for the sheet.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sandbox_service.validation.sources import kattis_submissions, optional_libraries
from sandbox_service.validation.sources.kattis_judges import HEADERS
from sandbox_service.validation.sources.package_parts import rows_of
from sandbox_service.validation.sources.rows import MOST_ROW_BYTES, Found, Malformed, Row

SHEET = "problem.yaml"
DOMJUDGE = "domjudge-problem.ini"
STATEMENTS = ("statement", "problem_statement")
INPUT_VALIDATORS = ("input_validators", "input_format_validators")
VALIDATORS = ("output_validator", "output_validators", "interactors")
BESIDE = ("graders", "include", "static_validator")
NEEDED = ("data", *VALIDATORS, *BESIDE, "submissions", *STATEMENTS)
COMPILED_BYTES = 1024  # a compiled file has a zero among these


def is_package(folder: Path) -> bool:
    """Return whether the folder is a package."""
    return (folder / SHEET).is_file() or (folder / DOMJUDGE).is_file()


def rows(folders: list[Path]) -> Iterator[Found | Malformed]:
    """Yield a row for each package."""
    yaml = optional_libraries.need("yaml", "a problem package", "safe_load")
    return rows_of(folders, "a problem package", lambda folder: _row(folder, yaml), (yaml.YAMLError,))


def _row(folder: Path, yaml: Any) -> Row:
    leaving = _links_that_leave(folder)
    if needed := [each for each in leaving if len(each.parts) == 1 or each.parts[0] in NEEDED]:
        raise ValueError(f"{needed[0]} is a link to a place outside of the package")
    _check_size(folder)
    domjudge = _domjudge(folder / DOMJUDGE)
    return {
        "package": folder.name,
        "sheet": _sheet(folder / SHEET, yaml) if (folder / SHEET).is_file() else {},
        "domjudge": domjudge,
        "statement": _statement(folder),
        "tests": _tests(folder / "data", yaml),
        "time_limit": _time_limit(folder / ".timelimit", domjudge),
        "beside": sorted(name for name in BESIDE if _has_files(folder / name)),
        "submissions": _submissions(folder / "submissions"),
        "expectations": kattis_submissions.expectations_of(folder / "submissions"),
        "validators": [name for name in VALIDATORS if _has_files(folder / name)],
        "judges": [found for name in VALIDATORS for found in _judges(folder / name)],
        "input_validators": [
            found
            for name in INPUT_VALIDATORS
            if not any(each.parts[0] == name for each in leaving)
            for found in _judges(folder / name)
        ],
        "groups": _groups(folder / "data", yaml),
    }


def check_files(folder: Path) -> None:
    """Raise ValueError for links that leave the folder, and sizes that fill the memory: packages are untrusted."""
    if leaving := _links_that_leave(folder):
        raise ValueError(f"{leaving[0]} is a link to a place outside of the package")
    _check_size(folder)


def _links_that_leave(folder: Path) -> list[Path]:
    """Return the paths in the folder, relative to it, that lead out of it."""
    inside = folder.resolve()
    found = (each for each in sorted(folder.rglob("*")) if not each.resolve().is_relative_to(inside))
    return [each.relative_to(folder) for each in found]


def _check_size(folder: Path) -> None:
    size = sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())
    if size > MOST_ROW_BYTES:
        raise ValueError(f"the files have {size} bytes, and {MOST_ROW_BYTES} are the most")


def _sheet(path: Path, yaml: Any) -> dict[str, Any]:
    found = yaml.safe_load(path.read_bytes())
    if not isinstance(found, dict):
        raise ValueError(f"{path.name} is not a mapping of names to values")
    return found


def _statement(folder: Path) -> str:
    """The English statement, else any."""
    found = sorted(path for part in STATEMENTS for kind in ("md", "tex") for path in (folder / part).glob(f"*.{kind}"))
    english = [path for path in found if path.name in ("problem.en.md", "problem.en.tex", "problem.md", "problem.tex")]
    return source_of((english or found)[0]) if found else ""


def _domjudge(path: Path) -> dict[str, str]:
    """The settings of `domjudge-problem.ini`, by name."""
    lines = text_of(path).removeprefix("\ufeff").splitlines() if path.is_file() else []
    parts = [line.partition("=") for line in lines]
    return {name.strip(): value.strip().strip("'\"") for name, sign, value in parts if sign}


def _time_limit(own: Path, domjudge: dict[str, str]) -> str:
    """The time limit in the files in which Kattis and DOMjudge have it; empty if there is none."""
    return text_of(own).strip() if own.is_file() else domjudge.get("timelimit", "")


def _tests(folder: Path, yaml: Any) -> list[Row]:
    """Samples before secret tests. An input without an answer has the answer null."""
    found = [path for part in ("sample", "secret") for path in sorted((folder / part).rglob("*.in"))]
    return [_test(path, folder, yaml) for path in found]


def _test(path: Path, folder: Path, yaml: Any) -> Row:
    answer, settings = path.with_suffix(".ans"), path.with_suffix(".yaml")
    beside = [path.with_suffix(suffix) for suffix in (".files", ".args")]
    return {
        "name": str(path.relative_to(folder).with_suffix("")),
        "input": text_of(path),
        "output": text_of(answer) if answer.is_file() else None,
        "settings": _sheet(settings, yaml) if settings.is_file() and settings.read_bytes().strip() else {},
        "beside": [each.name for each in beside if each.exists()],
    }


def _groups(folder: Path, yaml: Any) -> Row:
    """The settings of each folder of tests, by its path below `data`."""
    found = {}
    for kind in ("testdata", "test_group"):
        for path in sorted(folder.rglob(f"{kind}.yaml")):
            if path.read_bytes().strip():
                found[str(path.parent.relative_to(folder))] = _sheet(path, yaml)
    return found


def _judges(folder: Path) -> list[Row]:
    """The validators in a folder: each a file, or a folder with files; or all files together, as in newer packages."""
    if not _has_files(folder):
        return []
    if folder.name == "output_validator":
        return [{"name": folder.name, "files": _sources(folder)}]
    places = sorted(each for each in folder.iterdir() if not is_left_over(each))
    headers = [each for place in places if place.is_file() and _is_header(place) for each in _sources(place)]
    return [
        {"name": each.name, "files": [*_sources(each), *(headers if each.is_file() else ())]}
        for each in places
        if not _is_header(each)
    ]


def _submissions(folder: Path) -> list[Row]:
    return [
        {"verdict": place.parent.name, "name": place.name, "files": _sources(place)}
        for place in sorted(folder.glob("*/*"))
        if not is_left_over(place)
    ]


def _sources(place: Path) -> list[Row]:
    return [{"name": each.name, "code": source_of(each)} for each in source_files(place)]


def source_files(place: Path) -> list[Path]:
    """Return the files of a program: a file, or those in its folder but what tools and compilers have left there.

    Args:
        place: the file or the folder.
    """
    if place.is_file():
        return [place]
    found = sorted(each for each in place.rglob("*") if each.is_file())
    return [each for each in found if not any(map(is_left_over, (each, *each.relative_to(place).parents)))]


def is_left_over(path: Path) -> bool:
    """Return whether a file or a folder is no part of a program: hidden, a cache of Python, or compiled."""
    if path.name.startswith(".") or path.name == "__pycache__":
        return True
    return path.is_file() and b"\0" in path.read_bytes()[:COMPILED_BYTES]


def _is_header(path: Path) -> bool:
    return path.suffix.removeprefix(".") in HEADERS


def _has_files(folder: Path) -> bool:
    return folder.is_dir() and any(each.is_file() for each in folder.rglob("*"))


def source_of(path: Path) -> str:
    """Return the text of a program or a statement. If it is not UTF-8, each byte is a character of Latin-1.

    Such bytes are in comments and words for people, in an encoding that nothing names.

    Args:
        path: its file.
    """
    content = path.read_bytes()
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode("latin-1")


def text_of(path: Path) -> str:
    """Return the text of a file. Raises ValueError naming the file if it is not text."""
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError as trouble:
        raise ValueError(f"{path.name} is not UTF-8: {trouble.reason} at byte {trouble.start}") from None
