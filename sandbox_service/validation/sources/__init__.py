"""Data sets in the forms that they are published in, row by row, as problems of ours.

A *container* says where rows are (a file, a folder, the hub), a *reader* what they mean. There is one module for each;
to add a format, write its module and name it in _FORMATS. Rows come one at a time, so a data set may be larger than
the memory. Nothing that a data set says is executed or unpickled.

A row that cannot be a problem becomes `Malformed`, with the reason, and the next one is read. A file that cannot be
read to its end is an error. Whether a problem is any good is not asked here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sandbox_service.errors import ConfigurationError
from sandbox_service.problem import Problem, Provenance
from sandbox_service.validation.sources import (
    areal,
    codecontests,
    codeelo,
    containers,
    deepcoder,
    humaneval,
    kattis,
    kodcode,
    labelled,
    leetcode,
    livecodebench,
    mathematics,
    mbpp,
    ours,
    synthetic,
    taco,
    verl,
)
from sandbox_service.validation.sources.reader import Reader
from sandbox_service.validation.sources.rows import Found, Malformed, Row, excerpt

__all__ = ["READERS", "Malformed", "Reader", "detect", "read"]

_FORMATS = (
    ours, labelled, verl, deepcoder, livecodebench, leetcode, taco, codecontests, kodcode, synthetic, humaneval, mbpp,
    codeelo, areal, mathematics, kattis,
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
    """The problems of a file, a folder, or a data set on the hub (`owner/name`), in their order.

    `reader`: a name in READERS; without one the first row decides. `split` and `revision` (a commit's whole hash): of
    the hub. `options`: `config` and `files` of the hub; `licence`, where rows say none. Raises ConfigurationError.
    """
    if reader and reader not in READERS:
        raise ConfigurationError(f"{path_or_hub_name}: no reader {reader!r}; there are: {', '.join(READERS)}")
    known = dict(options or {})
    rows = containers.rows(path_or_hub_name, split=split, revision=revision, options=known)
    return _problems(rows, READERS.get(reader), Provenance(revision=revision), str(known.get("licence") or ""))


def detect(row: Row) -> Reader:
    """The reader whose fields a row has. Raises ConfigurationError if there is none, or more than one."""
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
    """A problem that says where it is from keeps that: it may have been read and written before."""
    if own is not None and own.dataset:
        return own
    known = {"dataset": found.dataset, "revision": origin.revision, "row": found.number, "reader": reader.name}
    return (own or origin).model_copy(update=known)
