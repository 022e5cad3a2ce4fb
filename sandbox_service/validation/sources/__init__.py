"""Reads published data sets, row by row, as problems.

A *container* yields rows (a file, a folder, the hub), a *reader* makes a problem of a row. Each has a module; to add a
format, write its module and list it in _FORMATS. Rows are streamed, so a data set may be larger than memory. Nothing in
a data set is executed or unpickled.

A row that cannot become a problem yields `Malformed` with the reason, and reading continues. A file that cannot be read
to its end is an error. Readers do not judge the quality of a problem.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sandbox_service.errors import ConfigurationError
from sandbox_service.formats.problem import Problem, Provenance
from sandbox_service.validation.sources import (
    areal,
    cms,
    codecontests,
    codecontestsplus,
    codeelo,
    codeforces,
    containers,
    deepcoder,
    dmoj,
    humaneval,
    humanevalx,
    kattis,
    kodcode,
    labelled,
    leetcode,
    lightcp,
    livecodebench,
    mathematics,
    mbpp,
    multiple,
    ours,
    polygon,
    synthetic,
    taco,
    verl,
)
from sandbox_service.validation.sources.reader import Reader
from sandbox_service.validation.sources.rows import Found, Malformed, Row, excerpt

__all__ = ["READERS", "Malformed", "Reader", "detect", "read"]

_FORMATS = (
    ours, labelled, verl, deepcoder, livecodebench, leetcode, taco, codecontests, kodcode, synthetic, humaneval, mbpp,
    codeelo, areal, mathematics, kattis, codeforces, codecontestsplus, multiple, humanevalx, polygon, dmoj,
    cms, lightcp,
)  # fmt: skip

READERS: Mapping[str, Reader] = {each.READER.name: each.READER for each in _FORMATS}


def read(
    path_or_hub_name: str,
    reader: str = "",
    *,
    split: str = "",
    revision: str = "",
    options: Mapping[str, Any] | None = None,
) -> Iterator[Problem | Malformed]:
    """Yield the problems of a data set, in order.

    Args:
        path_or_hub_name: A file, a folder, or a data set on the hub (`owner/name`).
        reader: A name in READERS; if empty, the fields of the first row decide.
        split: Split on the hub.
        revision: Full commit hash on the hub.
        options: `config` and `files` on the hub; `licence` for rows that name none.

    Returns:
        An iterator; it opens the data set when its first problem is asked for.

    Raises:
        ConfigurationError: The data set cannot be read, or no reader fits.
    """
    if reader and reader not in READERS:
        raise ConfigurationError(f"{path_or_hub_name}: no reader {reader!r}; there are: {', '.join(READERS)}")
    known = dict(options or {})
    rows = containers.rows(path_or_hub_name, split=split, revision=revision, options=known)
    return _problems(rows, READERS.get(reader), Provenance(revision=revision), str(known.get("licence") or ""))


def detect(row: Row) -> Reader:
    """Return the reader for the fields of a row.

    Raises:
        ConfigurationError: No reader fits, or more than one.
    """
    mine = [each for each in READERS.values() if each.is_mine(row)]
    if len(mine) == 1:
        return mine[0]
    shown = ", ".join(map(str, list(row)[:20]))
    if not mine:
        raise ConfigurationError(f"no reader knows rows with the fields {shown}; name one of: {', '.join(READERS)}")
    raise ConfigurationError(
        f"rows with the fields {shown} may be any of {', '.join(each.name for each in mine)}: name it"
    )


def _problems(
    rows: Iterator[Found | Malformed], reader: Reader | None, origin: Provenance, licence: str
) -> Iterator[Problem | Malformed]:
    for found in rows:
        if isinstance(found, Malformed):
            yield found
            continue
        reader = reader or _detected(found)
        yield _problem(reader, found, origin, licence)


def _detected(found: Found) -> Reader:
    try:
        return detect(found.row)
    except ConfigurationError as trouble:
        raise ConfigurationError(f"{found.place}: {trouble}") from None


def _problem(reader: Reader, found: Found, origin: Provenance, licence: str) -> Problem | Malformed:
    try:
        problem = reader(found.row)
    except ValueError as trouble:
        return Malformed(found.place, str(trouble), excerpt(found.row))
    return problem.model_copy(
        update={
            "provenance": _provenance(problem.provenance, origin, found, reader),
            "source": problem.source or found.dataset.partition(".")[0],
            "licence": problem.licence or licence,
        }
    )


def _provenance(own: Provenance | None, origin: Provenance, found: Found, reader: Reader) -> Provenance:
    """The provenance of a problem; its own has precedence, since it may have been read and written before."""
    if own is not None and own.dataset:
        return own
    known = {"dataset": found.dataset, "revision": origin.revision, "row": found.number, "reader": reader.name}
    return (own or origin).model_copy(update=known)
